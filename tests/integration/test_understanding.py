"""Probes, second attempts and confidence in a search, as a profile turns them on."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import ragpg
from ragpg.errors import ProviderError
from ragpg.query.legible import UNREADABLE
from ragpg.testing import HashEmbedder, ScriptedGenerator

if TYPE_CHECKING:
    from ragpg import Client

PLAIN = ragpg.Profile(carryover=False, facets=False)
TEXTS = [
    ("refunds.md", "Refunds take 14 days. Money comes back to the card."),
    ("gifts.md", "Gift cards expire after two years."),
    ("shipping.md", "Parcels leave the warehouse at noon."),
    ("pool.md", "The connection pool opens ten connections."),
]


@pytest.fixture
def filled(rag: Client) -> Client:
    rag.ingest(texts=TEXTS)
    return rag


def test_clauses_of_a_question_are_probes_beside_it(filled: Client) -> None:
    query = "how refunds reach the card and when gift cards expire"
    report = filled.search(query, profile=ragpg.Profile(facets=True)).report
    assert {"keyword", "keyword:facet-1", "keyword:facet-2", "vector:facet-1"} <= set(report)
    assert not any(":" in name for name in filled.search(query, profile=PLAIN).report)


def test_history_resolves_a_vague_follow_up(filled: Client) -> None:
    query, history = "and how long?", ["How do refunds reach the card?"]
    found = filled.search(query, history=history, arms=["keyword"])
    assert "keyword:carryover" in found.report
    assert found.hits[0].source == "refunds.md"
    assert filled.search(query, arms=["keyword"]).hits == []


def test_a_weak_search_is_tried_again_without_the_talk(filled: Client) -> None:
    query = "hi there, could you please be so kind and tell me something about parcels"
    profile = ragpg.Profile(corrective=1.0)
    found = filled.search(query, profile=profile)
    assert "keyword:corrective" in found.report
    assert found.report["corrective"].mode is not None
    assert found.hits[0].source == "shipping.md"
    sure = filled.search("parcels", profile=profile)
    assert sure.report["corrective"].skipped
    assert "corrective" not in filled.search(query).report


def test_a_second_attempt_looks_further_down(database: str) -> None:
    with ragpg.connect(database) as rag:
        rag.ingest(texts=[{"source": f"{n}.md", "text": f"Parcel {n} waits."} for n in range(120)])
        query = "could you please tell me something about my parcel"
        profile = ragpg.Profile(rerankers=("heuristic",), candidates=60)
        once = rag.search(query, profile=profile)
        twice = rag.search(query, profile=replace(profile, corrective=1.0))
    assert once.report["keyword"].rows == 60
    assert twice.report["keyword"].rows == 120
    assert twice.report["corrective"].rows == 60
    assert len(twice.hits) == 10


class Illiterate(HashEmbedder):
    """Makes little of any query."""

    share = 0.1

    def reads(self, text: str) -> float:
        return self.share


def test_a_query_that_the_model_cannot_read_is_left_to_the_words(database: str) -> None:
    embedder = Illiterate(32)
    with ragpg.connect(database, embedder=embedder) as rag:
        rag.ingest(texts=TEXTS)
        found = rag.search("refunds")
        assert found.hits[0].source == "refunds.md"
        assert set(found.hits[0].arms) == {"keyword"}
        assert found.report["embed"].skipped == "legibility of the query: 0.10"
        assert UNREADABLE in found.notes
        # Without words there is nothing better than what the model says.
        assert "vector" in rag.search("refunds", arms=["vector"]).hits[0].arms

        def words() -> float:
            fusion = rag.search("how do refunds reach the card").fusion
            assert fusion is not None
            return fusion.weights["keyword"]

        embedder.share = 1.0
        fully = words()
        embedder.share = 0.7
        assert words() > fully


def test_confidence_tells_a_fitting_query_from_a_strange_one(filled: Client) -> None:
    # The cosines of feature hashing are not those that the signal was calibrated on.
    fits = filled.search("how long do refunds take", arms=["keyword"]).confidence
    strange = filled.search("zebra quagga refunds okapi", arms=["keyword"]).confidence
    assert fits is not None
    assert strange is not None
    assert fits > strange
    assert filled.search("", filter={"year": {"exists": False}}).confidence is None


def test_a_chat_model_adds_phrasings_and_a_passage(database: str) -> None:
    model = ScriptedGenerator(
        ["1. money back\n2. reimbursement", "Refunds are paid back to the card within days."]
    )
    with ragpg.connect(database, embedder=HashEmbedder(32), generator=model) as rag:
        rag.ingest(texts=TEXTS)
        found = rag.search("refund time", profile=ragpg.Profile(variants=2, hyde=True))
    assert {"keyword:variant-1", "vector:variant-2", "vector:hyde"} <= set(found.report)
    assert (found.report["variants"].rows, found.report["hyde"].rows) == (2, 1)
    assert found.notes == []


@pytest.mark.parametrize(
    "answer", [ProviderError("away"), "I'm sorry, I can't help with that.", "", ValueError("odd")]
)
def test_a_model_that_fails_leaves_the_plain_query_and_says_so(
    database: str, answer: str | Exception
) -> None:
    model = ScriptedGenerator([answer])
    profile = ragpg.Profile(variants=2, hyde=True)
    with ragpg.connect(database, embedder=HashEmbedder(32), generator=model) as rag:
        rag.ingest(texts=TEXTS)
        found = rag.search("refunds card", profile=profile)
        plain = rag.search("refunds card", profile=ragpg.Profile())
    assert [hit.chunk_id for hit in found.hits] == [hit.chunk_id for hit in plain.hits]
    assert found.report["variants"].error
    assert found.report["hyde"].error
    assert any(note.startswith("variants failed") for note in found.notes)


def test_without_a_model_the_stages_are_skipped(filled: Client) -> None:
    found = filled.search("refunds", profile=ragpg.Profile(variants=2, hyde=True))
    assert found.report["variants"].skipped == "no chat model"
    assert found.hits


def test_async_searches_the_same(filled: Client, database: str) -> None:
    query = "how refunds reach the card and when gift cards expire"

    async def run() -> list[int | None]:
        async with ragpg.aconnect(database, embedder=HashEmbedder(32)) as rag:
            return [hit.chunk_id for hit in (await rag.search(query)).hits]

    assert asyncio.run(run()) == [hit.chunk_id for hit in filled.search(query).hits]
