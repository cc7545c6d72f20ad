"""Late interaction as a re-ordering, from the arm's scores or by embedding."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from ragpg.errors import ConfigError, ProviderError
from ragpg.perform import perform_rerank
from ragpg.rerankers.chain import rerank_hits
from ragpg.rerankers.late import LateInteractionReranker
from ragpg.rerankers.named import named_reranker
from ragpg.steps import run
from ragpg.testing import FailingEmbedder, TableEmbedder
from ragpg.types import ArmHit

from .hits import hits_of, texts_of

FIRST = "The office opens at nine in the morning."
SECOND = "Trout live in the lake of the crater there."
TABLE = {"trout": [1.0, 0.0], SECOND: [1.0, 0.1], FIRST: [0.0, 1.0]}


class Async(TableEmbedder):
    async def aembed_query(self, text: str) -> list[float]:
        return self.embed_query(text)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.embed_documents(texts)


@pytest.mark.parametrize("kind", [TableEmbedder, Async])
def test_the_best_sentence_moves_a_hit(kind: type[TableEmbedder]) -> None:
    hits = hits_of(FIRST, "Nothing of that kind stands in this one here.", f"{FIRST} {SECOND}")
    reranker = LateInteractionReranker(kind(TABLE, default=[0.2, 1.0]))
    after = reranker.rerank("trout", hits)
    assert texts_of(after)[0] == f"{FIRST} {SECOND}"
    assert after[0].score == pytest.approx(40 / 42 + 0.1)
    assert {hit.score_kind for hit in after} == {"late"}
    assert asyncio.run(reranker.arerank("trout", hits)) == after


def test_scores_of_the_sentence_arm_cost_nothing() -> None:
    hits = hits_of("a", "b", "c")
    hits = [
        replace(hit, arms={"sentence": ArmHit(1, score)})
        for hit, score in zip(hits[:2], (0.1, 0.9), strict=True)
    ] + hits[2:]
    after = LateInteractionReranker(FailingEmbedder()).rerank("q", hits)
    assert texts_of(after) == ["b", "a", "c"]
    assert texts_of(LateInteractionReranker(weight=0).rerank("q", hits)) == ["a", "b", "c"]
    assert texts_of(asyncio.run(LateInteractionReranker().arerank("q", hits))) == ["b", "a", "c"]


def test_without_vectors_the_order_stays_and_the_report_says_why() -> None:
    hits = hits_of("a", "b")
    for embedder, said in ((None, "no stored sentence vectors"), (FailingEmbedder(), "away")):
        done = run(rerank_hits(LateInteractionReranker(embedder), "q", hits), perform_rerank)
        assert done.hits == hits
        assert said in (done.report["rerank"].error or "")
    with pytest.raises(ProviderError):
        LateInteractionReranker(FailingEmbedder()).rerank("q", hits)


def test_only_the_first_hits_are_looked_at() -> None:
    hits = hits_of(FIRST, f"{FIRST} {SECOND}", SECOND)
    reranker = LateInteractionReranker(TableEmbedder(TABLE), candidates=2)
    assert texts_of(reranker.rerank("trout", hits)) == [f"{FIRST} {SECOND}", FIRST, SECOND]


def test_the_runner_up_has_its_share() -> None:
    one, two = f"{SECOND} {FIRST}", f"{SECOND} {SECOND.replace('Trout', 'Trouts')}"
    table = TABLE | {SECOND.replace("Trout", "Trouts"): [1.0, 0.2]}
    hits = hits_of(one, two)
    plain = LateInteractionReranker(TableEmbedder(table)).rerank("trout", hits)
    assert texts_of(plain) == [one, two]
    shared = LateInteractionReranker(TableEmbedder(table), runner_up=0.5).rerank("trout", hits)
    assert texts_of(shared) == [two, one]
    with pytest.raises(ConfigError):
        LateInteractionReranker(runner_up=2)


def test_profiles_name_rerankers() -> None:
    chain = named_reranker(["heuristic", "late"])
    assert chain is not None
    assert chain.name == "heuristic > late"
    assert named_reranker([]) is None
    with pytest.raises(ConfigError, match="no reranker 'other'"):
        named_reranker(["other"])
