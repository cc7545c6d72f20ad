"""What files and texts may hold, and what one bad one costs the others."""

from __future__ import annotations

import math
import os
import uuid
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.errors import BadEmbedding, DimensionMismatch, RagpgError
from ragpg.testing import HashEmbedder

from .doubles import CountingEmbedder, OddEmbedder, contents

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg

    Database = psycopg.Connection[Any]

NUL_FILE = Path(__file__).parents[1] / "cases" / "files" / "load" / "nul_inside.txt"


@pytest.mark.case("LO-01")
def test_nul_characters_are_removed_and_mentioned_lo_01(
    rag: ragpg.Client, db: Database, tmp_path: Path
) -> None:
    text = "before\u0000after \u0000\u0000 \u0001\b control"
    report = rag.ingest(texts=[("a", "one"), ("nul", text), ("z", "two")])
    assert report.ok
    assert contents(db)["nul"] == ["beforeafter   control"]
    [file] = [one for one in report.files if one.source == "nul"]
    assert "3 NUL characters removed" in file.notes
    (tmp_path / "nul_inside.txt").write_bytes(NUL_FILE.read_bytes())
    [file] = rag.ingest(tmp_path).files
    assert file.status == "stored"
    assert any("NUL" in note for note in file.notes)


@pytest.mark.case("LO-02")
def test_nul_characters_in_metadata_and_title_are_removed_lo_02(
    rag: ragpg.Client, db: Database
) -> None:
    report = rag.ingest(
        texts=[
            {
                "source": "report\u0000.txt",
                "title": "Report\u0000",
                "text": "Scanned text.",
                "metadata": {
                    "producer": "Acme Scanner 7\u0000",
                    "nested": {"k\u0000ey": ["a\u0000"]},
                },
            }
        ]
    )
    assert report.ok
    [hit] = rag.search("scanned", filter={"producer": "Acme Scanner 7"}).hits
    assert hit.metadata == {"producer": "Acme Scanner 7", "nested": {"key": ["a"]}}
    assert (hit.source, hit.title) == ("report.txt", "Report")


@pytest.mark.case("LO-06")
def test_one_unreadable_file_does_not_stop_the_folder_lo_06(
    database: str, db: Database, tmp_path: Path
) -> None:
    folder = tmp_path / "docs"
    (folder / "sub").mkdir(parents=True)
    for name in ("a.md", "b.md", "d.md", "z.md", "sub/inside.md"):
        (folder / name).write_text(f"Readable text of {name}.")
    settings = ragpg.Settings(max_file_size=1000)
    with ragpg.connect(database, settings=settings) as rag:
        rag.ingest(folder)
        (folder / "c.md").symlink_to(folder / "missing.md")
        (folder / "e.md").write_text("x" * 2000)
        # A reader without rights; root reads everything, so it gets a folder in the file's place.
        (folder / "b.md").unlink()
        (folder / "b.md").symlink_to(folder / "nowhere")
        seen: list[str] = []
        report = rag.ingest(folder, prune=True, on_file=lambda file: seen.append(file.source))
        by_source = {file.source: file for file in report.files}
        assert not report.ok
        assert by_source["a.md"].status == by_source["z.md"].status == "unchanged"
        for name in ("b.md", "c.md", "e.md"):
            assert by_source[name].status == "failed"
            assert by_source[name].reason
        assert set(seen) == set(by_source)
        assert contents(db)["b.md"] == ["Readable text of b.md."]


@pytest.mark.case("LO-06")
def test_a_file_removed_while_reading_is_reported_lo_06(
    database: str, db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "adz":
        (tmp_path / f"{name}.md").write_text(f"Text of {name}.")
    from ragpg.ingest import prepare

    found = prepare.find_files

    def find(*arguments: Any, **options: Any) -> Any:
        result = found(*arguments, **options)
        os.remove(tmp_path / "d.md")
        return result

    monkeypatch.setattr("ragpg.ingest.pipeline.find_files", find)
    with ragpg.connect(database) as rag:
        report = rag.ingest(tmp_path)
    assert {file.source: file.status for file in report.files} == {
        "a.md": "stored",
        "d.md": "failed",
        "z.md": "stored",
    }


@pytest.mark.case("OP-03")
def test_links_out_of_the_folder_are_not_ingested_op_03(
    rag: ragpg.Client, db: Database, tmp_path: Path
) -> None:
    docs, outside = tmp_path / "docs", tmp_path / "outside"
    docs.mkdir()
    outside.mkdir()
    (docs / "a.md").write_text("Readable.")
    (outside / "secret.md").write_text("The secret.")
    (docs / "link.md").symlink_to(outside / "secret.md")
    (docs / "dir").symlink_to(outside)
    (docs / "ok.md").symlink_to(docs / "a.md")
    for paths in (docs, [docs], f"{docs}/**/*.md", f"{docs}/*.md"):
        report = rag.ingest(paths)
        assert not [text for chunks in contents(db).values() for text in chunks if "secret" in text]
        skipped = [file.source for file in report.files if file.status == "skipped"]
        assert any(source.endswith("link.md") for source in skipped), paths
    report = rag.ingest(docs, follow_links=True, namespace="followed")
    assert ["The secret."] in contents(db, "followed").values()
    assert not [source for source in contents(db, "followed") if ".." in source]


@pytest.mark.case("FI-08")
def test_metadata_that_json_cannot_hold_is_refused_by_name_fi_08(
    database: str, db: Database, tmp_path: Path
) -> None:
    moment = datetime(2024, 2, 29, 12, tzinfo=UTC)
    key = uuid.UUID(int=7)
    good: dict[str, tuple[Any, Any]] = {
        "moment": (moment, "2024-02-29T12:00:00+00:00"),
        "day": (date(2024, 2, 29), "2024-02-29"),
        "price": (Decimal("1.10"), "1.10"),
        "key": (key, str(key)),
        "set": ({2, 1}, [1, 2]),
        "big": (2**70, 2**70),
        "nested": ({"a": {1: "x"}}, {"a": {"1": "x"}}),
    }
    bad = {"nan": float("nan"), "inf": float("inf"), "bytes": b"abc"}
    embedder = CountingEmbedder()
    with ragpg.connect(database, embedder=embedder) as rag:
        report = rag.ingest(texts=[
            {"source": name, "text": f"Text of {name}.", "metadata": {name: value}}
            for name, value in [*((n, v) for n, (v, _) in good.items()), *bad.items()]
        ])  # fmt: skip
        status = {file.source: file.status for file in report.files}
        assert status == dict.fromkeys(good, "stored") | dict.fromkeys(bad, "failed")
        for file in report.files:
            if file.source in bad:
                assert repr(file.source) in str(file.reason)
                # Refused before anybody paid for it.
                assert not [text for text in embedder.texts if file.source in text]
            else:
                [hit] = rag.search("text", filter={file.source: {"exists": True}}).hits
                assert hit.metadata == {file.source: good[file.source][1]}
        (tmp_path / "nan.md").write_text("---\nscore: .nan\n---\nText.")
        (tmp_path / "when.md").write_text("---\nwhen: 2024-02-30\n---\nText.")
        (tmp_path / "fine.md").write_text("Fine.")
        report = rag.ingest(tmp_path)
        assert {file.source: file.status for file in report.files} == {
            "fine.md": "stored",
            "nan.md": "failed",
            "when.md": "stored",
        }
        [refused] = [file for file in report.files if file.status == "failed"]
        assert "'score'" in str(refused.reason)
        # No such day: it stays the text that it is.
        [hit] = rag.search("text", filter={"when": "2024-02-30"}).hits
        assert hit.source == "when.md"


@pytest.mark.case("KW-11")
def test_a_passage_beyond_the_index_is_stored_and_found_kw_11(
    rag: ragpg.Client, db: Database
) -> None:
    letters = "abcdefghij"
    words = [
        "w" + "".join(letters[number // 10**place % 10] for place in range(6))
        for number in range(60_000)
    ]
    report = rag.ingest(
        texts=[("long", " ".join(words)), ("short", "Another text.")],
        chunker=ragpg.HeadingChunker(size=600_000, overlap=0),
    )
    assert report.ok, report.files
    assert [hit.source for hit in rag.search(words[3], arms=["keyword"]).hits] == ["long"]
    assert "long" in [hit.source for hit in rag.search("anything", arms=["vector"]).hits]
    assert contents(db)["short"] == ["Another text."]


@pytest.mark.case("EM-03")
@pytest.mark.parametrize("lengths", [[6], [16], [8, 6]])
def test_vectors_of_another_length_are_reported_before_writing_em_03(
    database: str, db: Database, lengths: list[int]
) -> None:
    texts = [("a", "one text"), ("b", "two texts")]
    with ragpg.connect(database, embedder=HashEmbedder(8)) as rag:
        rag.ingest(texts=texts, namespace="there")
    before = db.execute(
        "select count(*), sum(vector_dims(embedding::vector)) from ragpg.embedding_1"
    )
    assert before.fetchone() == (2, 16)
    odd = OddEmbedder(8, lengths)
    with ragpg.connect(database, embedder=odd) as rag:
        with pytest.raises(BadEmbedding) as caught:
            rag.ingest(texts=[("c", "three texts"), ("d", "four texts")], namespace="there")
        assert "8" in str(caught.value)
        assert str(lengths[-1]) in str(caught.value)
        assert caught.value.hint
    with ragpg.connect(database, embedder=HashEmbedder(16)) as rag:
        with pytest.raises(RagpgError) as mismatch:
            rag.ingest(texts=texts, namespace="there")
        assert isinstance(mismatch.value, DimensionMismatch)
        assert "8" in mismatch.value.message
        assert "16" in mismatch.value.message
        assert "another namespace" in str(mismatch.value.hint)
        # A search with it says so, and goes on with the other arms.
        result = rag.search("one text", namespace="there")
        assert result.hits[0].source == "a"
        assert "hash-8" in str(result.report["vector"].error)
        assert any(check.status != "ok" for check in rag.doctor() if "embed" in check.name)
    assert contents(db, "there") == {"a": ["one text"], "b": ["two texts"]}
    after = db.execute(
        "select count(*), sum(vector_dims(embedding::vector)) from ragpg.embedding_1"
    )
    assert after.fetchone() == (2, 16)


class SpoiltEmbedder(HashEmbedder):
    """Gives a vector of its own for every text that holds "bad", and counts as told."""

    def __init__(self, vector: Sequence[float], *, extra: int = 0) -> None:
        super().__init__(8)
        self.vector = list(vector)
        self.extra = extra

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        found = super().embed_documents(texts)
        found = [
            self.vector if "bad" in text else one for text, one in zip(texts, found, strict=True)
        ]
        if self.extra < 0:
            return found[: self.extra]
        return found + [found[0]] * self.extra


@pytest.mark.case("EM-04")
@pytest.mark.parametrize("value", [math.nan, math.inf, None, "NaN"])
def test_a_vector_that_is_no_vector_costs_its_chunk_only_em_04(
    database: str, db: Database, value: Any
) -> None:
    vector: list[Any] = [1.0] * 7 + [value]
    with ragpg.connect(database, embedder=SpoiltEmbedder(vector)) as rag:
        report = rag.ingest(texts=[("one", "ok one"), ("bad.md", "bad"), ("two", "ok two")])
        notes = {file.source: file.notes for file in report.files}
        assert notes["one"] == notes["two"] == ()
        # Without a vector it is found by its words; the report says that, and why.
        [note] = notes["bad.md"]
        assert note.startswith("1 chunk has no vector: ")
        assert [hit.source for hit in rag.search("bad", arms=["keyword"]).hits] == ["bad.md"]
        found = rag.search("ok one", arms=["vector"]).hits
        assert [hit.source for hit in found] == ["one", "two"]
        assert all(math.isfinite(hit.score) for hit in found)
    for table in ("embedding_1", "embedding_cache"):
        stored = db.execute(f"select embedding::text from ragpg.{table}").fetchall()
        assert len(stored) == 2
        assert "nan" not in str(stored).lower()


@pytest.mark.case("VE-05")
@pytest.mark.parametrize("vector", [[0.0] * 8, [0.0] * 7 + [-0.0], [1e-30] * 8])
def test_an_all_zero_vector_is_flagged_by_ingest_ve_05(
    database: str, db: Database, vector: list[float]
) -> None:
    # 1e-30 is zero in the half precision of the table.
    with ragpg.connect(database, embedder=SpoiltEmbedder(vector)) as rag:
        report = rag.ingest(texts=[("a", "good text"), ("z", "bad text")])
        assert [file.status for file in report.files] == ["stored", "stored"]
        assert report.files[0].notes == ()
        assert "zero" in " ".join(report.files[1].notes)
        for arms in (["vector"], None):
            result = rag.search("good text", arms=arms)
            assert result.hits[0].source == "a"
            assert all(math.isfinite(hit.score) for hit in result.hits)
        assert [hit.source for hit in rag.search("bad", arms=["keyword"]).hits] == ["z"]
    assert db.execute("select count(*) from ragpg.embedding_1").fetchone() == (1,)


@pytest.mark.case("EM-01")
@pytest.mark.parametrize("extra", [-1, -4, 1])
def test_a_wrong_count_of_vectors_stores_nothing_em_01(
    database: str, db: Database, extra: int
) -> None:
    texts = [(name, f"To the {name}.") for name in ("north", "east", "south", "west")]
    with (
        ragpg.connect(database, embedder=SpoiltEmbedder([1.0] * 8, extra=extra)) as rag,
        pytest.raises(BadEmbedding, match="vectors for 4 texts"),
    ):
        rag.ingest(texts=texts)
    assert db.execute("select count(*) from ragpg.chunk").fetchone() == (0,)
    assert db.execute("select count(*) from ragpg.embedding_cache").fetchone() == (0,)
    assert db.execute("select count(*) from ragpg.embedding_claim").fetchone() == (0,)


@pytest.mark.case("VE-04")
@pytest.mark.parametrize("dimensions", [2000, 2001, 3072, 4001])
def test_many_dimensions_from_ingest_to_doctor_ve_04(database: str, dimensions: int) -> None:
    embedder = HashEmbedder(dimensions)
    with ragpg.connect(database, embedder=embedder) as rag:
        assert rag.ingest(texts=[("a", "one text"), ("b", "two words")]).ok
        result = rag.search("one text", arms=["vector"])
        assert [hit.source for hit in result.hits] == ["a", "b"]
        assert not result.report["vector"].error
        checks = [check for check in rag.doctor() if check.name == "embedding space 1"]
        assert [check.status for check in checks] == ["ok"]
        assert f"{dimensions} dimensions" in checks[0].detail


def test_documents_of_a_namespace_without_vectors_get_them(database: str, db: Database) -> None:
    texts = [("a", "one text"), ("b", "two texts")]
    with ragpg.connect(database) as rag:
        assert rag.ingest(texts=texts).ok
        assert rag.namespaces()[0].model is None
    with ragpg.connect(database, embedder=HashEmbedder(8)) as rag:
        report = rag.ingest(texts=texts)
        assert [(file.status, file.embedded) for file in report.files] == [("stored", 1)] * 2
        assert rag.search("one text", arms=["vector"]).hits[0].source == "a"
    # Without an embedder what has vectors is left alone.
    with ragpg.connect(database) as rag:
        assert rag.ingest(texts=texts).count("unchanged") == 2
        assert rag.ingest(texts=[("c", "three texts")]).ok
    with ragpg.connect(database, embedder=HashEmbedder(8)) as rag:
        report = rag.ingest(texts=[*texts, ("c", "three texts")])
        assert [file.status for file in report.files] == ["unchanged", "unchanged", "stored"]


def test_a_file_that_holds_no_text_is_skipped_and_not_failed(
    rag: ragpg.Client, db: Database, tmp_path: Path
) -> None:
    (tmp_path / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (tmp_path / "noise.txt").write_bytes(bytes(range(256)) * 4)
    (tmp_path / "spoilt.docx").write_bytes(b"PK\x03\x04" + bytes(50))
    (tmp_path / "was-text.md").write_text("There was a text here.")
    rag.ingest(tmp_path / "was-text.md", root=tmp_path)
    (tmp_path / "was-text.md").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    found = {file.source: file for file in rag.ingest(tmp_path).files}
    # What is stored of a file must not vanish without a word, and a broken document is a failure.
    assert {source: file.status for source, file in found.items()} == {
        "logo.png": "skipped",
        "noise.txt": "skipped",
        "spoilt.docx": "failed",
        "was-text.md": "failed",
    }
    assert found["logo.png"].reason == "logo.png: binary (PNG image)"
    assert db.execute("select source from ragpg.document where error is null").fetchall() == []
    assert rag.search("text", arms=["keyword"]).hits[0].source == "was-text.md"
