"""Sentence vectors from ingestion to the search: filled on demand, then kept complete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.errors import ConfigError, NamespaceNotFound, ProviderError
from ragpg.ingest.sentences import SentenceReport, fill_sentences
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
