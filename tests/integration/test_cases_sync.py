"""Incremental ingest: what is stored equals what is there, whatever happens in between."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.errors import ConfigError

from .doubles import CountingEmbedder, contents, in_threads, sources

if TYPE_CHECKING:
    from pathlib import Path

    import psycopg

    Database = psycopg.Connection[Any]


@pytest.mark.case("SY-01")
def test_a_file_that_shrank_loses_its_old_chunks_sy_01(
    database: str, db: Database, tmp_path: Path
) -> None:
    def section(number: int, word: str) -> str:
        return f"## Section {number}\n\n{word} rule {number}: the code is {word}-{number:02}.\n\n"

    embedder = CountingEmbedder()
    path = tmp_path / "rules.md"
    with ragpg.connect(database, embedder=embedder) as rag:
        path.write_text("".join(section(number, "OLD") for number in range(1, 11)))
        assert rag.ingest(tmp_path).chunks == 10
        # Section 1 stays as it is; the others are new or gone.
        path.write_text(section(1, "OLD") + section(2, "NEW") + section(3, "NEW"))
        asked = len(embedder.texts)
        [file] = rag.ingest(tmp_path).files
        assert (file.status, file.chunks, file.new_chunks, file.embedded) == ("stored", 3, 2, 2)
        assert len(embedder.texts) == asked + 2
        assert len(contents(db)["rules.md"]) == 3
        for arms in (["keyword"], ["vector"], None):
            result = rag.search("OLD-09", arms=arms, k=50)
            assert not [hit for hit in result.hits if "OLD-09" in hit.content]
            assert len(result.hits) <= 3
    kept = db.execute("select count(*) from ragpg.chunk_keyword").fetchone()
    assert kept == (3,)
    # Not in the statistics of words either; the cache of vectors holds no text.
    words = db.execute("select lexeme from ragpg.lexeme_statistics").fetchall()
    assert not [word for (word,) in words if "09" in word]
    assert db.execute("select count(*) from ragpg.keyword_log").fetchone() == (0,)


def test_pruning_follows_a_folder_that_moved(database: str, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    for name in ("one", "two"):
        (first / f"{name}.md").write_text(f"The {name} text.")
    with ragpg.connect(database) as rag:
        rag.ingest(first)
        first.rename(second)
        assert rag.ingest(second).count("unchanged") == 2
        (second / "two.md").unlink()
        report = rag.ingest(second, prune=True)
        assert report.count("removed") == 1
        assert not report.notes
        assert sources(rag.search("text")) == ["one.md"]
        # Gone and moved at once: that cannot be told from a file of another folder.
        (second / "three.md").write_text("The three text.")
        rag.ingest(second)
        (second / "three.md").unlink()
        second.rename(first)
        report = rag.ingest(first, prune=True)
        assert not report.count("removed")
        assert "three.md" in report.notes[0]


def test_a_file_whose_name_is_something_else_now_is_gone(database: str, tmp_path: Path) -> None:
    for name in ("folder", "pipe", "link", "text"):
        (tmp_path / f"{name}.md").write_text(f"The {name} text.")
    with ragpg.connect(database) as rag:
        rag.ingest(tmp_path)
        for name in ("folder", "pipe", "link"):
            (tmp_path / f"{name}.md").unlink()
        (tmp_path / "folder.md").mkdir()
        (tmp_path / "folder.md" / "inside.md").write_text("The text inside.")
        os.mkfifo(tmp_path / "pipe.md")
        (tmp_path / "link.md").symlink_to("missing")
        report = rag.ingest(tmp_path, prune=True)
        removed = [file.source for file in report.files if file.status == "removed"]
        # What a link leads to may only be away.
        assert removed == ["folder.md", "pipe.md"]
        assert sorted(sources(rag.search("text"))) == ["folder.md/inside.md", "link.md", "text.md"]


def test_another_file_of_the_same_name_is_reported(database: str, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        (folder / "readme.md").write_text(f"About the {folder.name} project.")
    with ragpg.connect(database) as rag:
        assert not rag.ingest(first).files[0].notes
        [file] = rag.ingest(second).files
        assert file.status == "stored"
        assert str(first / "readme.md") in file.notes[0]
        assert not rag.ingest(second).files[0].notes


def test_a_language_that_is_not_used_is_said(database: str) -> None:
    with ragpg.connect(database) as rag:
        rag.create_namespace("notes", language="german")
        texts = [("one", "Die Rechnungen sind bezahlt.")]
        assert not rag.ingest(texts=texts, namespace="notes").notes
        assert not rag.ingest(texts=texts, namespace="notes", language="german").notes
        [note] = rag.ingest(texts=texts, namespace="notes", language="french").notes
        assert "german already" in note


def test_arguments_of_a_wrong_type_are_named(database: str) -> None:
    with ragpg.connect(database) as rag:
        for wrong, name in (
            ({"query": None}, "query"),
            ({"query": "x", "k": "5"}, "k must"),
            ({"query": "x", "k": 2.5}, "k must"),
        ):
            with pytest.raises(ConfigError, match=name):
                rag.search(**wrong)
        with pytest.raises(ConfigError, match="metadata of 'a'"):
            rag.ingest(texts=[{"source": "a", "text": "b", "metadata": [1]}])


@pytest.mark.case("SY-02")
def test_a_file_that_became_empty_loses_its_chunks_sy_02(
    database: str, db: Database, tmp_path: Path
) -> None:
    embedder = CountingEmbedder()
    path = tmp_path / "a.md"
    path.write_text("Some text.")
    with ragpg.connect(database, embedder=embedder) as rag:
        rag.ingest(tmp_path)
        path.write_text("")
        requests = embedder.requests
        [file] = rag.ingest(tmp_path).files
        assert (file.status, file.chunks) == ("empty", 0)
        assert embedder.requests == requests
        assert contents(db) == {"a.md": []}
        assert not rag.search("text").hits
        assert [file.status for file in rag.ingest(tmp_path).files] == ["unchanged"]


@pytest.mark.case("SY-03")
def test_renamed_moved_and_deleted_files_leave_nothing_sy_03(
    database: str, db: Database, tmp_path: Path
) -> None:
    guide, ops, other = tmp_path / "docs/guide", tmp_path / "docs/ops", tmp_path / "other"
    for folder in (guide, ops, other):
        folder.mkdir(parents=True)
    (guide / "faq.md").write_text("# Questions\n\nQuestions that are asked often.")
    (guide / "limits.md").write_text("Uploads are limited to 10 MB.")
    (other / "elsewhere.md").write_text("Another folder.")
    embedder = CountingEmbedder()
    with ragpg.connect(database, embedder=embedder) as rag:
        rag.ingest(tmp_path / "docs")
        rag.ingest(other)
        rag.ingest(texts=[("note", "A text that no file holds.")])
        (guide / "faq.md").rename(guide / "help.md")
        (guide / "limits.md").rename(ops / "limits.md")
        asked = len(embedder.texts)
        report = rag.ingest(tmp_path / "docs", prune=True)
        assert report.count("removed") == 2
        # Without a heading, help.md would have had its name as one, and so be another text.
        assert len(embedder.texts) == asked
        stored = {"elsewhere.md", "note"}
        assert set(contents(db)) == stored | {"guide/help.md", "ops/limits.md"}

        (guide / "help.md").unlink()
        assert rag.ingest(tmp_path / "docs", prune=True).count("removed") == 1
        assert set(contents(db)) == stored | {"ops/limits.md"}


@pytest.mark.case("SY-03")
def test_an_empty_folder_is_not_pruned_sy_03(
    rag: ragpg.Client, db: Database, tmp_path: Path
) -> None:
    for name in "abc":
        (tmp_path / f"{name}.md").write_text(f"Text of {name}.")
    rag.ingest(tmp_path)
    for name in "abc":
        (tmp_path / f"{name}.md").unlink()
    with pytest.raises(ConfigError, match="refusing to prune"):
        rag.ingest(tmp_path, prune=True)
    tmp_path.rename(tmp_path.with_name("moved-away"))
    with pytest.raises(ConfigError, match="refusing to prune"):
        rag.ingest(tmp_path, prune=True)
    report = rag.ingest(tmp_path, prune=False)
    assert not report.ok
    assert len([source for source, chunks in contents(db).items() if chunks]) == 3


@pytest.mark.case("SY-03")
@pytest.mark.parametrize("state", ["empty", "missing", "unreadable"])
def test_one_of_two_folders_that_is_not_mounted_is_not_pruned_sy_03(
    rag: ragpg.Client, db: Database, tmp_path: Path, state: str
) -> None:
    for name in ("here/a.md", "disk/b.md", "disk/c.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"Text of {name}.")
    folders = [tmp_path / "here", tmp_path / "disk"]
    rag.ingest(folders)
    before = contents(db)
    assert len(before) == 3
    for path in (tmp_path / "disk").iterdir():
        path.unlink()
    if state == "missing":
        (tmp_path / "disk").rmdir()
    if state == "unreadable":
        # A link to nowhere cannot be read by anybody, not even by root.
        (tmp_path / "disk").rmdir()
        (tmp_path / "disk").symlink_to(tmp_path / "nowhere")
    with contextlib.suppress(ConfigError):
        assert not rag.ingest(folders, prune=True).count("removed")
    kept = {source: chunks for source, chunks in contents(db).items() if chunks}
    assert kept == before
    # One file of many is enough to believe that the others are gone.
    if state == "empty":
        (tmp_path / "disk/c.md").write_text("Text of disk/c.md.")
        assert rag.ingest(folders, prune=True).count("removed") == 1


@pytest.mark.case("SY-04")
def test_a_failed_embedding_keeps_what_was_searchable_sy_04(
    database: str, db: Database, tmp_path: Path
) -> None:
    path = tmp_path / "five.md"
    old = [f"## Part {number}\n\nOld text of part {number}.\n\n" for number in range(5)]
    path.write_text("".join(old))
    embedder = CountingEmbedder()
    with ragpg.connect(database, embedder=embedder) as rag:
        rag.ingest(tmp_path)
        embedder.down = True
        path.write_text("".join(old).replace("Old", "New"))
        report = rag.ingest(tmp_path)
        assert not report.ok
        assert "500" in str(report.files[0].reason)
        assert all("Old text" in chunk for chunk in contents(db)["five.md"])
        assert len(rag.search("old text of part", k=10).hits) == 5
        assert rag.namespaces()[0].failed == 1
        # It is tried again, also when the file is as it was before.
        embedder.down = False
        path.write_text("".join(old))
        assert [file.status for file in rag.ingest(tmp_path).files] == ["stored"]
        assert rag.namespaces()[0].failed == 0

        path.write_text("".join(old).replace("Old", "New"))
        seen: list[set[str]] = []
        done: list[bool] = []

        def read() -> None:
            while not done:
                rows = db.execute("select content from ragpg.chunk").fetchall()
                seen.append({row[0].split("\n\n")[1][:3] for row in rows} | {f"{len(rows)} rows"})

        def write() -> None:
            try:
                rag.ingest(tmp_path)
            finally:
                done.append(True)

        assert in_threads([read, write]) == []
        assert {frozenset(one) for one in seen} <= {
            frozenset({"Old", "5 rows"}),
            frozenset({"New", "5 rows"}),
        }
        assert all("New text" in chunk for chunk in contents(db)["five.md"])


@pytest.mark.case("SY-05")
def test_equal_names_in_two_folders_are_two_documents_sy_05(
    rag: ragpg.Client, db: Database, tmp_path: Path
) -> None:
    for name, port in (("a", 8001), ("b", 8002)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "README.md").write_text(f"Project {name.upper()} uses port {port}.")
    rag.ingest(tmp_path)
    assert set(contents(db)) == {"a/README.md", "b/README.md"}
    assert sources(rag.search("port 8001", arms=["keyword"]))[0] == "a/README.md"
    assert sources(rag.search("port 8002", arms=["keyword"]))[0] == "b/README.md"
    assert rag.delete(["a/README.md"]) == 1
    assert set(contents(db)) == {"b/README.md"}


@pytest.mark.case("SY-06")
def test_workers_on_one_file_store_it_once_sy_06(
    database: str, db: Database, tmp_path: Path
) -> None:
    embedder = CountingEmbedder(delay=0.05)
    path = tmp_path / "shared.md"
    clients = [ragpg.connect(database, embedder=embedder) for _ in range(10)]
    try:
        for turn in range(4):
            path.write_text("".join(f"## Part {n}\n\nTurn {turn}, part {n}.\n\n" for n in range(6)))
            embedder.texts.clear()
            statuses: list[str] = []

            def ingest(client: ragpg.Client, statuses: list[str] = statuses) -> None:
                statuses.extend(file.status for file in client.ingest(tmp_path).files)

            failures = in_threads([partial(ingest, one) for one in clients])
            assert failures == []
            assert set(statuses) <= {"stored", "unchanged"}
            assert contents(db)["shared.md"] == [
                f"## Part {n}\n\nTurn {turn}, part {n}." for n in range(6)
            ]
            assert len(contents(db)) == 1
            # Every text was paid for once.
            assert len(embedder.texts) == 6
    finally:
        for client in clients:
            client.close()


@pytest.mark.case("SY-07")
def test_a_killed_ingest_is_completed_by_the_next_sy_07(
    database: str, db: Database, tmp_path: Path
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(5):
        text = "".join(f"## Part {n}\n\nDocument {number}, part {n}.\n\n" for n in range(3))
        (folder / f"{number}.md").write_text(text)
    program = textwrap.dedent(f"""
        import sys, time
        import ragpg
        import ragpg.ingest.gather as gather
        from ragpg.testing import HashEmbedder

        gather.GROUP_DOCUMENTS = 1

        class Slow(HashEmbedder):
            def embed_documents(self, texts):
                if any("Document 3" in text for text in texts):
                    print("now", flush=True)
                    time.sleep(60)
                return super().embed_documents(texts)

        with ragpg.connect({database!r}, embedder=Slow(32)) as rag:
            rag.ingest({str(folder)!r})
    """)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == b"now"
        process.send_signal(signal.SIGKILL)
    before = contents(db)
    # The third was being embedded while the one before it was written, and so may be missing.
    assert set(before) - {"2.md"} == {"0.md", "1.md"}
    assert all(len(chunks) == 3 for chunks in before.values())

    embedder = CountingEmbedder()
    settings = ragpg.Settings(claim_ttl=0.5)
    db.execute("update ragpg.embedding_claim set expires_at = now() + interval '0.5 s'")
    with ragpg.connect(database, embedder=embedder, settings=settings) as rag:
        report = rag.ingest(folder)
        assert report.ok
        assert report.count("stored") + report.count("unchanged") == 5
        assert all(len(chunks) == 3 for chunks in contents(db).values())
        assert len(contents(db)) == 5
        # What was committed was not paid for again.
        assert not [text for text in embedder.texts if "Document 0" in text or "Document 2" in text]
        assert rag.ingest(folder).count("unchanged") == 5


@pytest.mark.case("SY-09")
def test_of_one_source_twice_in_a_batch_the_last_wins_sy_09(
    rag: ragpg.Client, db: Database
) -> None:
    twice = "The same paragraph.\n\n" + "Filler. " * 200 + "\n\nThe same paragraph."
    report = rag.ingest(
        texts=[("x", "first"), ("y", "other"), ("x", "second"), ("twice", twice)],
        chunker=ragpg.HeadingChunker(size=25, overlap=0),
    )
    assert report.ok
    assert contents(db)["x"] == ["second"]
    assert contents(db)["y"] == ["other"]
    [x] = [file for file in report.files if file.source == "x"]
    assert "last one counts" in " ".join(x.notes)
    rows = db.execute(
        "select start_char from ragpg.chunk where content = 'The same paragraph.' order by ordinal"
    ).fetchall()
    assert [row[0] for row in rows] == [0, len(twice) - len("The same paragraph.")]


def test_a_second_identical_ingest_writes_nothing(
    database: str, db: Database, tmp_path: Path
) -> None:
    for number in range(20):
        (tmp_path / f"{number}.md").write_text(f"# Title {number}\n\nText of document {number}.")
    (tmp_path / "broken.bin").write_bytes(b"\x7fELF\x02\x01\x01\x00\x00\x00" * 20)
    embedder = CountingEmbedder()
    with ragpg.connect(database, embedder=embedder) as rag:
        rag.ingest(tmp_path)
        before, asked = _writes(db), embedder.requests
        report = rag.ingest(tmp_path)
        assert report.count("unchanged") == 20
        assert embedder.requests == asked
        assert _writes(db) == before


def _writes(db: Database) -> list[Any]:
    """Which transaction wrote every row of ours, and where it is."""
    tables = db.execute(
        """select oid::regclass::text from pg_class
            where relnamespace = 'ragpg'::regnamespace and relkind = 'r' order by 1"""
    ).fetchall()
    return [
        db.execute(
            f"select '{table}', count(*), md5(string_agg(ctid || ' ' || xmin, ',' order by ctid)) "
            f"from {table}"
        ).fetchone()
        for [table] in tables
    ]


def test_a_plan_says_what_would_be_done_and_why(
    database: str, db: Database, tmp_path: Path
) -> None:
    for name in ("kept", "changed", "moved", "gone"):
        (tmp_path / f"{name}.md").write_text(f"# Head\n\nThe {name} text.")
    embedder = CountingEmbedder()
    with ragpg.connect(database, embedder=embedder) as rag:
        rag.ingest(tmp_path)
        (tmp_path / "changed.md").write_text("# Head\n\nAnother text.")
        (tmp_path / "deep").mkdir()
        (tmp_path / "moved.md").rename(tmp_path / "deep" / "elsewhere.md")
        (tmp_path / "gone.md").unlink()
        (tmp_path / "added.md").write_text("new")
        asked, before = len(embedder.texts), contents(db)
        plan = rag.ingest(tmp_path, prune=True, dry_run=True)
        assert [(file.source, file.status, file.reason) for file in plan.files] == [
            ("added.md", "stored", "new"),
            ("changed.md", "stored", "its content changed"),
            ("deep/elsewhere.md", "stored", "moved from moved.md"),
            ("gone.md", "removed", "its file is gone"),
            ("kept.md", "unchanged", None),
            ("moved.md", "removed", "moved to deep/elsewhere.md"),
        ]
        assert (contents(db), len(embedder.texts)) == (before, asked)
        report = rag.ingest(tmp_path, prune=True)
        done = {file.source: file for file in report.files}
        assert {name: file.status for name, file in done.items()} == {
            file.source: file.status for file in plan.files
        }
        # The headings are the same, and so are the vectors of what moved.
        assert (done["deep/elsewhere.md"].embedded, done["deep/elsewhere.md"].cached) == (0, 1)
        assert len(embedder.texts) == asked + 2
        # Other settings of the chunker concern every file.
        chunker = ragpg.HeadingChunker(500, 0)
        plan = rag.ingest(tmp_path, prune=True, dry_run=True, chunker=chunker)
        assert {file.reason for file in plan.files} == {
            "its chunker, loader, model, title or metadata changed"
        }


def test_what_moved_and_cannot_be_stored_stays_where_it_was(
    database: str, db: Database, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("The text of a.")
    (tmp_path / "b.md").write_text("The text of b.")
    embedder = CountingEmbedder()
    with ragpg.connect(database, embedder=embedder) as rag:
        rag.ingest(tmp_path)
        embedder.down = True
        # Its name is part of what is embedded where it has no heading.
        (tmp_path / "a.md").rename(tmp_path / "c.md")
        report = rag.ingest(tmp_path, prune=True)
        assert report.count("failed") == 1
        assert not report.count("removed")
        assert sources(rag.search("text a", arms=["keyword"], k=1)) == ["a.md"]
        embedder.down = False
        assert rag.ingest(tmp_path, prune=True).count("removed") == 1
        assert set(contents(db)) == {"b.md", "c.md"}
