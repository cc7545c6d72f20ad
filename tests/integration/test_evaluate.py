"""Judged sets and known items against a real database."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import ragpg
from ragpg.evaluate.datasets import JudgedDocument, JudgedSet
from ragpg.evaluate.judged import evaluate_set
from ragpg.evaluate.ladder import arm_rungs, ladder
from ragpg.evaluate.query_vectors import RememberingEmbedder
from ragpg.evaluate.synthesis import questions_from

from .doubles import CountingEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    import psycopg


class Counting(CountingEmbedder):
    """Records the queries too."""

    def __init__(self) -> None:
        super().__init__()
        self.queries: list[str] = []

    def embed_query(self, text: str) -> list[float]:
        self.queries.append(text)
        return super().embed_query(text)


ANIMALS = ("otter", "heron", "badger", "weasel", "lizard", "magpie")


def _text(animal: str) -> str:
    parts = [
        f"The {animal} sleeps through the morning and is seldom seen near the houses.",
        f"In the evening the {animal} drinks at the pond behind the mill.",
        f"Nobody has ever photographed the nest of the {animal} in this valley.",
    ]
    return "\n\n".join(f"{part} " * 6 for part in parts)


def _judged() -> JudgedSet:
    corpus = {name: JudgedDocument(name, "", _text(name)) for name in ANIMALS}
    queries = {name: f"where does the {name} drink" for name in ANIMALS}
    spans: dict[str, dict[str, Any]] = {}
    for name in ANIMALS:
        start = corpus[name].text.index("In the evening")
        end = corpus[name].text.index("Nobody has")
        spans[name] = {"doc": name, "spans": [[start, end]]}
    return JudgedSet("animals", corpus, queries, {name: {name: 1.0} for name in ANIMALS}, spans)


def test_spans_are_found_in_chunks_of_any_cut(database: str) -> None:
    embedder = RememberingEmbedder(CountingEmbedder())
    with ragpg.connect(database, embedder=embedder) as rag:
        for size in (300, 500, 2000):
            report = evaluate_set(rag, _judged(), arm_rungs(["keyword"]), chunk_size=size)
            assert report.mean("keyword", "recall@10") == 1.0
        shown = report.mean("keyword", "context")
        assert shown is not None
        assert shown > 0.9, "the context has the spans"
        assert not rag.namespaces(), "scratch namespaces are dropped"


def test_vectors_are_computed_once(
    database: str, db: psycopg.Connection[Any], tmp_path: Path
) -> None:
    judged = replace(_judged(), extras={})
    first, second = Counting(), Counting()
    rungs = ladder(["keyword", "vector", "fused", "default"])
    with ragpg.connect(database, embedder=RememberingEmbedder(first)) as rag:
        one = evaluate_set(rag, judged, rungs)
    assert first.requests > 0
    for text in judged.queries.values():
        assert first.queries.count(text) == 1, "once for all rungs"
    with ragpg.connect(database, embedder=RememberingEmbedder(second)) as rag:
        two = evaluate_set(rag, judged, rungs, results=tmp_path)
        assert len(list(tmp_path.glob("*.json"))) == len(rungs)
    assert second.requests == 0, "documents came from the cache"
    assert not set(second.queries) & set(judged.queries.values()), "and so did queries"
    for rung in rungs:
        assert one.runs[rung.name].values == two.runs[rung.name].values


def test_known_items_find_their_chunk_again(rag: ragpg.Client, db: psycopg.Connection[Any]) -> None:
    rag.ingest(texts=[(name, _text(name)) for name in ANIMALS], namespace="animals")
    questions = questions_from(rag, ["animals"], items=4, kinds=["keywords", "excerpt"])
    assert len({one.group for one in questions}) == 4
    before = db.execute("select count(*) from ragpg.embedding_cache").fetchone()
    for question in questions:
        hits = rag.search(question.text, namespace="animals", rerank=False).hits
        found = question.gold.ranking(hits)
        assert set(question.gold.gains) & set(found), question
    assert db.execute("select count(*) from ragpg.embedding_cache").fetchone() == before
