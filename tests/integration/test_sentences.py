"""Sentence vectors from ingestion to the search: filled on demand, then kept complete."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo

import ragpg
from ragpg.errors import ConfigError, NamespaceNotFound, ProviderError
from ragpg.ingest.sentences import SentenceReport, fill_sentences
from ragpg.rerankers.late import LateInteractionReranker
from ragpg.testing import HashEmbedder

from .doubles import CountingEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg

    Database = psycopg.Connection[Any]

LAKE = (
    "The crater lake is deep and cold all year round. Trout were brought there in the last century."
)
TEXTS = [
    ("a.md", f"The office opens at nine in the morning. {LAKE}"),
    (
        "b.md",
        "Refunds are paid within fourteen days of return. Keep the receipt of the purchase until then.",
    ),
]


def fill(rag: ragpg.Client, **options: Any) -> SentenceReport:
    report: SentenceReport = rag.run(fill_sentences("default", rag.embedder, **options))
    return report


def stored(db: Database) -> list[tuple[str, int, str]]:
    """Source, number and text of every sentence that has a vector."""
    return db.execute("""
        select document.source, sentences.ordinal,
               substr(chunk.content, sentences.start_char + 1, sentences.end_char - sentences.start_char)
          from ragpg.sentence_1 as sentences
          join ragpg.chunk on (chunk.namespace_id, chunk.id) = (sentences.namespace_id, chunk_id)
          join ragpg.document on (document.namespace_id, document.id) = (chunk.namespace_id, document_id)
         order by 1, 2""").fetchall()


def test_filled_once_they_are_kept_complete(database: str, db: Database) -> None:
    embedder = CountingEmbedder()
    with ragpg.connect(database, embedder=embedder) as rag:
        rag.ingest(texts=TEXTS)
        assert db.execute("select to_regclass('ragpg.sentence_1')").fetchone() == (None,)
        seen: list[SentenceReport] = []
        report = fill(rag, on_step=seen.append)
        assert (report.chunks, report.sentences, report.refused, report.complete) == (2, 5, 0, True)
        assert seen == [report]
        assert [row[2] for row in stored(db)][:2] == [
            "The office opens at nine in the morning.",
            "The crater lake is deep and cold all year round.",
        ]
        before = len(embedder.texts)
        assert fill(rag).chunks == 0
        assert len(embedder.texts) == before

        # A new document and a changed one: nobody asks, and only the new chunks are split.
        changed = ("b.md", "Refunds are paid within thirty days of the return.")
        rag.ingest(texts=[TEXTS[0], changed, ("c.md", "Parcels leave on the day of the order.")])
        assert [(row[0], row[1]) for row in stored(db)] == [
            ("a.md", 0), ("a.md", 1), ("a.md", 2), ("b.md", 0), ("c.md", 0),
        ]  # fmt: skip
        assert len(embedder.texts) == before + 4

        result = rag.search("when does the office open", arms={"sentence": {}})
        assert result.report["sentence"].rows == 3
        assert result.report["sentence"].mode == "maxsim"
        assert result.hits[0].arms["sentence"].rank == 1
        rag.delete(["a.md", "b.md", "c.md"])
        assert stored(db) == []


class AwayFor(CountingEmbedder):
    """Fails for every request with a certain text in it."""

    sentence = ""

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        if self.sentence in texts:
            raise ProviderError("the service is away", scope="service")
        return super().embed_documents(texts)


def test_a_failing_service_costs_only_the_sentences(database: str, db: Database) -> None:
    embedder = AwayFor()
    with ragpg.connect(database, embedder=embedder) as rag:
        rag.ingest(texts=TEXTS[:1])
        fill(rag)
        before = stored(db)
        embedder.sentence = "Keep the receipt of the purchase until then."
        report = rag.ingest(texts=TEXTS)
        assert report.ok
        assert report.notes == ["sentence vectors are incomplete: the service is away"]
        assert stored(db) == before
        assert {hit.source for hit in rag.search("receipt").hits} == {"a.md", "b.md"}
        with pytest.raises(ProviderError):
            fill(rag)
        embedder.sentence = ""
        assert fill(rag).chunks == 1


def test_time_ends_a_fill_and_the_next_goes_on(database: str, db: Database) -> None:
    texts = [(f"{n}.md", f"Note {n} is about the lake and all of its trout.") for n in range(130)]
    with ragpg.connect(database, embedder=HashEmbedder(32)) as rag:
        rag.ingest(texts=texts)
        first = fill(rag, seconds=0)
        assert (first.chunks, first.complete) == (64, False)
        second = fill(rag)
        assert (second.chunks, second.complete) == (66, True)
        assert len(stored(db)) == 130


def test_what_cannot_be_filled_is_named(database: str) -> None:
    with ragpg.connect(database, embedder=HashEmbedder(32)) as rag:
        with pytest.raises(NamespaceNotFound):
            fill(rag)
        rag.ingest(texts=TEXTS)
        with pytest.raises(ConfigError, match="embedded with"):
            rag.run(fill_sentences("default", HashEmbedder(16)))
        with pytest.raises(ConfigError, match="need an embedder"):
            rag.run(fill_sentences("default", None))
    with ragpg.connect(database) as rag:
        rag.ingest(texts=TEXTS, namespace="plain")
        with pytest.raises(ConfigError, match="has no vectors"):
            rag.run(fill_sentences("plain", HashEmbedder(32)))


LATE = ragpg.Profile(rerankers=("late",), candidates=10)


def test_late_interaction_embeds_a_sentence_once(database: str, db: Database) -> None:
    embedder = CountingEmbedder()
    with ragpg.connect(database, embedder=embedder) as rag:
        rag.ingest(texts=TEXTS)
        ingested = len(embedder.texts)
        first = rag.search("when does the office open", profile=LATE)
        assert len(embedder.texts) == ingested + 5
        assert len(stored(db)) == 5
        again = rag.search("when does the office open", profile=LATE)
        assert len(embedder.texts) == ingested + 5
        assert [hit.source for hit in first.hits] == [hit.source for hit in again.hits]
        assert [hit.score for hit in first.hits] == pytest.approx(
            [hit.score for hit in again.hits], abs=1e-3
        )
        assert {hit.score_kind for hit in again.hits} == {"late"}
        # What searches have stored by the way does not make ingestion pay for all the rest.
        rag.ingest(texts=[("c.md", "Parcels leave on the day of the order.")])
        assert len(stored(db)) == 5
        assert fill(rag).chunks == 1


def test_late_interaction_of_a_reader_stores_nothing_and_works(database: str, db: Database) -> None:
    embedder = CountingEmbedder()
    with ragpg.connect(database, embedder=embedder) as rag:
        rag.ingest(texts=TEXTS)
    ingested = len(embedder.texts)
    read_only = make_conninfo(database, options="-c default_transaction_read_only=on")
    with ragpg.connect(read_only, embedder=embedder) as rag:
        found = rag.search("when does the office open", profile=LATE)
    assert found.report["rerank"].error is None
    assert {hit.score_kind for hit in found.hits} == {"late"}
    assert len(embedder.texts) == ingested + 5
    assert db.execute("select to_regclass('ragpg.sentence_1')").fetchone() == (None,)


async def test_late_interaction_has_no_more_time_than_it_is_given(database: str) -> None:
    texts = [(f"{n}.md", f"Note {n} is about the lake and all of its trout.") for n in range(30)]
    embedder = CountingEmbedder()
    async with ragpg.aconnect(database, embedder=embedder) as rag:
        await rag.ingest(texts=texts)
        ingested = len(embedder.texts)
        late = LateInteractionReranker(embedder, timeout=1e-9)
        found = await rag.search("trout", rerank=late, candidates=30)
        assert len(embedder.texts) == ingested
        assert found.report["rerank"].error is None
        await rag.search("trout", rerank=LateInteractionReranker(embedder), candidates=30)
        assert len(embedder.texts) == ingested + 30


class Asleep(CountingEmbedder):
    """Answers late once it is told to sleep, unless it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.sleeps = False
        self.leave = threading.Event()

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        if self.sleeps:
            self.leave.wait(5)
        return super().embed_documents(texts)


def test_late_interaction_does_not_wait_for_a_model_that_hangs(database: str) -> None:
    embedder = Asleep()
    late = LateInteractionReranker(embedder, timeout=0.1)

    async def awaited() -> float:
        async with ragpg.aconnect(database, embedder=embedder) as rag:
            return (await rag.search("when does the office open", rerank=late)).report["rerank"].ms

    with ragpg.connect(database, embedder=embedder) as rag:
        rag.ingest(texts=TEXTS)
        embedder.sleeps = True
        found = rag.search("when does the office open", rerank=late)
    assert found.report["rerank"].ms < 4000
    assert {hit.score_kind for hit in found.hits} == {"late"}
    loop = asyncio.new_event_loop()
    try:
        assert loop.run_until_complete(awaited()) < 4000
    finally:
        embedder.leave.set()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
