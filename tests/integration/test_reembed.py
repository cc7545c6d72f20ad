"""A namespace changes its model while it is searched and written."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import ragpg
from ragpg import reembed
from ragpg.cli.main import main
from ragpg.embedders import Embedders
from ragpg.errors import ConfigError, DimensionMismatch, ProviderError
from ragpg.reembed.compare import compare
from ragpg.reembed.filling import Pace
from ragpg.testing import HashEmbedder

from .doubles import CountingEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg

    Database = psycopg.Connection[Any]

TEXTS = [(f"{number}.md", f"Paragraph {number} speaks of subject {number * 7}.")
         for number in range(40)]  # fmt: skip


class Twin(HashEmbedder):
    """Vectors of the length of the conftest's embedder, of another model: all turned round."""

    @property
    def model(self) -> str:
        return "twin"

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return [-value for value in reversed(super().embed_query(text))]


def vectors(db: Database, space_id: int) -> int:
    row = db.execute(f"select count(*) from ragpg.embedding_{space_id}").fetchone()
    assert row is not None
    return int(row[0])


def test_built_beside_switched_rolled_back_and_dropped(
    database: str, db: Database, rag: ragpg.Client
) -> None:
    rag.ingest(texts=TEXTS)
    new = CountingEmbedder(16)
    seen: list[reembed.ReembedReport] = []
    report = reembed.build(rag, "default", new, on_step=seen.append)
    assert (report.stored, report.computed, report.missing, report.complete) == (40, 40, 0, True)
    assert seen[-1] == report
    # Searches know nothing of it yet.
    hit = rag.search("subject 77", arms=["vector"]).hits[0]
    assert "77" in hit.content
    with pytest.raises(ConfigError, match="already"):
        reembed.build(rag, "default", HashEmbedder(32))
    assert reembed.switch(rag, "default").space_id == report.space_id
    # The client of before is told, and finds by the other arms.
    found = rag.search("subject 77")
    assert found.hits
    assert "embedded with" in (found.report["vector"].error or "")
    with pytest.raises(DimensionMismatch):
        rag.ingest(texts=[("more.md", "more")])
    with ragpg.connect(database, embedder=new) as after:
        assert "77" in after.search("subject 77", arms=["vector"]).hits[0].content
        # What was stored with the former model is not stored anew.
        again = after.ingest(texts=TEXTS)
        assert again.count("unchanged") == 40
        assert reembed.switch(after, "default", back=True).dimensions == 32
    assert "77" in rag.search("subject 77", arms=["vector"]).hits[0].content
    reembed.switch(rag, "default", model=new.model, missing=0)
    [gone] = reembed.drop(rag, "default")
    assert gone.dimensions == 32
    assert db.execute("select to_regclass('ragpg.embedding_1')").fetchone() == (None,)
    assert db.execute("select count(*) from ragpg.embedding_cache where space_id = 1").fetchone() == (0,)  # fmt: skip
    [only] = reembed.spaces(rag, "default")
    assert (only.state, only.missing) == ("active", 0)


def test_ingests_write_into_both_spaces(database: str, db: Database, rag: ragpg.Client) -> None:
    rag.ingest(texts=TEXTS)
    new = CountingEmbedder(16)
    report = reembed.build(rag, "default", new)
    with ragpg.connect(database, embedder=Embedders(HashEmbedder(32), new)) as both:
        both.ingest(texts=[("new.md", "A new paragraph."), ("0.md", "Another text of zero.")])
        assert vectors(db, 1) == vectors(db, report.space_id) == 41
        reembed.switch(both, "default")
        # The way back stays open for what is written after the switch.
        both.ingest(texts=[("later.md", "A later paragraph.")])
        assert vectors(db, 1) == vectors(db, report.space_id) == 42
        both.delete("later.md")
        assert vectors(db, 1) == vectors(db, report.space_id) == 41


def test_one_model_alone_leaves_the_rest_to_the_build(
    database: str, db: Database, rag: ragpg.Client
) -> None:
    rag.ingest(texts=TEXTS)
    new = CountingEmbedder(16)
    report = reembed.build(rag, "default", new)
    noted = rag.ingest(texts=[("new.md", "A new paragraph."), ("0.md", "Another text of zero.")])
    assert any("kept beside" in note for note in noted.notes)
    # The old vector of a changed chunk is gone from both.
    assert (vectors(db, 1), vectors(db, report.space_id)) == (41, 39)
    with pytest.raises(ConfigError, match="2 chunks"):
        reembed.switch(rag, "default")
    again = reembed.build(rag, "default", new)
    assert (again.stored, again.computed) == (2, 2)
    reembed.switch(rag, "default")


def test_an_interrupted_build_goes_on_and_pays_for_nothing_twice(
    db: Database, rag: ragpg.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragpg.reembed.filling.PAGE", 8)
    rag.ingest(texts=TEXTS)
    new = CountingEmbedder(16)

    def stop(report: reembed.ReembedReport) -> None:
        if report.stored >= 16:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reembed.build(rag, "default", new, on_step=stop)
    assert vectors(db, 2) == 16
    new.down = True
    with pytest.raises(ProviderError):
        reembed.build(rag, "default", new, pace=Pace(patience=0))
    new.down = False
    report = reembed.build(rag, "default", new)
    assert (report.stored, report.complete) == (24, True)
    assert len(set(new.texts)) == 40
    assert db.execute("select count(*) from ragpg.embedding_claim").fetchone() == (0,)


def test_a_service_that_comes_back_is_waited_for(
    rag: ragpg.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragpg.reembed.filling.FIRST_PAUSE", 0.01)
    rag.ingest(texts=TEXTS)
    new = CountingEmbedder(16)
    new.down = True

    def repair(report: reembed.ReembedReport) -> None:
        new.down = False

    report = reembed.build(rag, "default", new, on_step=repair)
    assert (report.missing, report.complete) == (0, True)


def test_time_ends_a_build_early_and_a_rate_slows_it(
    rag: ragpg.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragpg.reembed.filling.PAGE", 8)
    rag.ingest(texts=TEXTS)
    late = reembed.build(rag, "default", HashEmbedder(16), pace=Pace(seconds=1e-9))
    assert (late.complete, late.stored) == (False, 0)
    slow = reembed.build(rag, "default", HashEmbedder(16), pace=Pace(per_second=200))
    assert slow.complete
    assert slow.seconds >= 40 / 200


def test_chunks_without_vectors_are_tried_again(
    database: str, db: Database, rag: ragpg.Client
) -> None:
    rag.ingest(texts=TEXTS[:3])
    with ragpg.connect(database) as without:
        without.ingest(texts=TEXTS[:5])
    assert vectors(db, 1) == 3
    report = reembed.fill_missing(rag, "default")
    assert (report.stored, report.missing) == (2, 0)
    with (
        ragpg.connect(database, embedder=HashEmbedder(8)) as other,
        pytest.raises(ConfigError, match="the embedder is"),
    ):
        reembed.fill_missing(other, "default")


def test_a_refused_text_is_named_and_keeps_nothing_from_ending(
    rag: ragpg.Client, db: Database
) -> None:
    class Picky(CountingEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
            if any("Paragraph 7 " in text for text in texts):
                raise ProviderError("I do not like this one", scope="input")
            return super().embed_documents(texts)

    rag.ingest(texts=TEXTS)
    report = reembed.build(rag, "default", Picky(16))
    assert (report.complete, report.missing, report.stored) == (True, 1, 39)
    assert list(report.refused.values()) == ["I do not like this one"]
    with pytest.raises(ConfigError, match="1 chunks"):
        reembed.switch(rag, "default")
    reembed.switch(rag, "default", missing=1)


def test_searches_go_on_through_a_switch_and_never_mix_spaces(
    database: str, rag: ragpg.Client
) -> None:
    """Both models have vectors of one length, so that a mixture would raise no error."""
    rag.ingest(texts=TEXTS)
    old, new = HashEmbedder(32), Twin(32)
    reembed.build(rag, "default", new)
    stop = threading.Event()
    scores: list[float] = []
    faults: list[object] = []

    def search() -> None:
        with ragpg.connect(database, embedder=Embedders(old, new), profile="seed") as client:
            while not stop.is_set():
                result = client.search("Paragraph 11 speaks of subject 77.", arms=["vector"])
                scores.append(result.hits[0].arms["vector"].score if result.hits else -1)
                if result.report["vector"].error or "77" not in result.hits[0].content:
                    faults.append(result)

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    for turn in range(6):
        before = len(scores)
        while len(scores) < before + 6 and any(thread.is_alive() for thread in threads):
            stop.wait(0.01)
        reembed.switch(rag, "default", back=turn > 0)
    stop.set()
    for thread in threads:
        thread.join()
    assert not faults
    # The text as it was asked for, with its title: in a space of the other model it is far away.
    assert min(scores) > 0.98
    assert len(scores) > 36


def test_both_spaces_on_the_bench_before_the_switch(database: str, db: Database) -> None:
    texts = [
        (f"{word}.md", f"The {word} lives where the {word}s have always lived. " * 3)
        for word in ("otter", "badger", "heron", "lynx", "marmot", "weasel", "falcon", "beaver")
    ]
    old, new = HashEmbedder(2), HashEmbedder(256)
    with ragpg.connect(database, embedder=old) as rag:
        rag.ingest(texts=texts)
        reembed.build(rag, "default", new)
        found = compare(rag, "default", old, new, items=8)
        with pytest.raises(ConfigError, match="no embedding space"):
            compare(rag, "default", old, HashEmbedder(8))
    figures = {(rung, metric): (before, after) for rung, metric, before, after, _ in found.rows()}
    before, after = figures["vector", "nDCG@10"]
    assert before is not None
    assert after is not None
    # Two numbers are few for so many words.
    assert after > before
    assert {rung for rung, _ in figures} == {"vector", "fused", "default"}
    # Nobody was moved.
    assert db.execute("select space_id from ragpg.namespace").fetchall() == [(1,)]


def test_the_command(database: str, rag: ragpg.Client) -> None:
    rag.ingest(texts=[(source, f"{text} " * 5) for source, text in TEXTS])

    def ragpg_(*arguments: str, code: int = 0) -> Any:
        # Whose embedder is of the environment names with --embedder only what is new.
        runner = CliRunner(env={"RAGPG_EMBEDDER": "hash:32"})
        result = runner.invoke(main, [*arguments, "--dsn", database, "--json"])
        assert result.exit_code == code, result.output
        return json.loads(result.stdout.splitlines()[-1]) if code == 0 else result.output

    built = ragpg_("reembed", "default", "--embedder", "hash:16", "--compare", "hash:32",
                   "--items", "3")  # fmt: skip
    assert (built["space"]["stored"], built["space"]["missing"]) == (40, 0)
    assert {row["rung"] for row in built["comparison"]} == {"vector", "fused", "default"}
    assert ragpg_("reembed", "default", "--switch")["searched"]["dimensions"] == 16
    listed = ragpg_("reembed", "default", "--status")["spaces"]
    assert [(one["dimensions"], one["state"]) for one in listed] == [(16, "active"), (32, "former")]
    assert ragpg_("reembed", "default", "--rollback")["searched"]["dimensions"] == 32
    assert ragpg_("reembed", "default", "--drop")["dropped"][0]["dimensions"] == 16
    assert (
        ragpg_("reembed", "default", "--missing", "--embedder", "hash:32")["space"]["stored"] == 0
    )
    ragpg_("reembed", "default", code=2)
    ragpg_("reembed", "nowhere", "--status", code=1)
    assert [one["state"] for one in ragpg_("index", "status")] == ["none"]
    assert ragpg_("index", "build", "1") == {"built": [1]}
    assert [one["state"] for one in ragpg_("index", "status")] == ["valid"]


def test_the_twins_for_the_async_client(database: str, rag: ragpg.Client) -> None:
    rag.ingest(texts=TEXTS)

    async def change() -> None:
        async with ragpg.aconnect(database, embedder=HashEmbedder(32)) as client:
            report = await reembed.abuild(client, "default", CountingEmbedder(16))
            assert (report.stored, report.complete) == (40, True)
            assert (await reembed.aswitch(client, "default")).dimensions == 16
            assert [one.state for one in await reembed.aspaces(client, "default")] == [
                "active", "former"]  # fmt: skip
            await reembed.aswitch(client, "default", back=True)
            assert (await reembed.afill_missing(client, "default")).missing == 0
            assert [one.dimensions for one in await reembed.adrop(client, "default")] == [16]

    asyncio.run(change())
