"""Rerankers in turn: each bounded, none able to hurt, thresholds on their own scale only."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from ragpg.errors import ConfigError, ProviderError
from ragpg.perform import aperform_rerank, perform_rerank
from ragpg.query.rerank import HeuristicReranker
from ragpg.rerankers.chain import RerankChain, Reranked, RerankStage, rerank_hits, stages_of
from ragpg.rerankers.passages import passage, reordered
from ragpg.steps import arun, run

from .hits import hits_of, reranked, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ragpg.rerankers.chain import AnyReranker
    from ragpg.types import Hit


@dataclass
class Scripted:
    """Scores by text; a text without one is lost."""

    scores: dict[str, float]
    name: str = "scripted"
    seen: int = 0

    def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        self.seen = len(hits)
        known = [hit for hit in hits if hit.content in self.scores]
        known.sort(key=lambda hit: -self.scores[hit.content])
        return [replace(hit, score=self.scores[hit.content]) for hit in known]


@dataclass
class Failing:
    error: Exception
    name: str = "failing"

    def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        raise self.error


class Asleep:
    name = "asleep"

    def __init__(self) -> None:
        self.woken = threading.Event()

    def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        self.woken.wait(60)
        return list(hits)


def both_ways(rerankers: AnyReranker | Sequence[AnyReranker], hits: list[Hit]) -> Reranked:
    """The outcome, the same from both drivers but for the time it took."""
    done: Reranked = run(rerank_hits(rerankers, "q", hits), perform_rerank)
    awaited: Reranked = asyncio.run(arun(rerank_hits(rerankers, "q", hits), aperform_rerank))
    assert awaited.hits == done.hits
    assert awaited.notes == done.notes
    assert [replace(one, ms=0) for one in awaited.report.values()] == [
        replace(one, ms=0) for one in done.report.values()
    ]
    return done


def test_stages_run_in_turn_on_what_the_one_before_gave() -> None:
    first = Scripted({"a": 1, "b": 2, "c": 3}, "first")
    second = Scripted({"c": 0.1, "b": 0.2}, "second")
    done = both_ways([first, RerankStage(second, candidates=2)], hits_of("a", "b", "c"))
    assert texts_of(done.hits) == ["b", "c", "a"]
    assert second.seen == 2
    assert [hit.score_kind for hit in done.hits] == ["second", "second", "first"]
    assert list(done.report) == ["rerank:first", "rerank:second"]
    assert [one.rows for one in done.report.values()] == [3, 2]


def test_a_failing_stage_leaves_the_order_and_the_next_goes_on() -> None:
    last = Scripted({"b": 2, "a": 1, "c": 0}, "last")
    done = both_ways(RerankChain(Failing(ProviderError("away")), last), hits_of("a", "b", "c"))
    assert texts_of(done.hits) == ["b", "a", "c"]
    assert done.report["rerank:failing"].error == "ProviderError: away"
    assert done.report["rerank:last"].error is None


def test_a_slow_stage_is_given_up() -> None:
    hits = hits_of("a", "b")
    # Who waited for it would have no error to tell of.
    asleep = Asleep()
    done = both_ways(RerankStage(asleep, timeout=0.05), hits)
    asleep.woken.set()
    assert done.hits == hits
    assert "TimeoutError" in (done.report["rerank"].error or "")


def test_bounds_that_the_reranker_names_are_kept() -> None:
    reranker = Scripted({"a": 1, "b": 2, "c": 3})
    reranker.candidates = 2  # type: ignore[attr-defined]
    assert texts_of(both_ways(reranker, hits_of("a", "b", "c")).hits) == ["b", "a", "c"]
    assert texts_of(
        both_ways(RerankStage(reranker, candidates=9), hits_of("a", "b", "c")).hits
    ) == [
        "c",
        "b",
        "a",
    ]


def test_a_threshold_drops_what_its_own_stage_scored_lower_or_not_at_all() -> None:
    stage = RerankStage(Scripted({"a": 0.2, "b": 0.9}), candidates=3, min_score=0.5)
    done = both_ways(stage, hits_of("a", "b", "c", "d"))
    assert texts_of(done.hits) == ["b"]
    assert done.notes == ["3 hits are below min_score 0.5 of scripted, or not scored"]


@pytest.mark.parametrize("other", [Failing(ValueError("no")), Scripted({}, "silent")])
def test_a_threshold_is_never_applied_to_other_scores(other: Failing | Scripted) -> None:
    # Scores of the first stage are far below the threshold of the second one.
    first = Scripted({"a": 0.01, "b": 0.02}, "first")
    done = both_ways([first, RerankStage(other, min_score=0.5)], hits_of("a", "b"))
    assert texts_of(done.hits) == ["b", "a"]
    assert {hit.score_kind for hit in done.hits} == {"first"}
    assert "was not applied" in done.notes[0]


def test_all_below_the_threshold_is_an_empty_list() -> None:
    done = both_ways(RerankStage(Scripted({"a": 0.1}), min_score=0.5), hits_of("a"))
    assert done.hits == []
    assert done.report["rerank"].rows == 0


def test_invented_and_repeated_hits_are_taken_out() -> None:
    class Muddled:
        name = "muddled"

        def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
            return [hits[1], hits[1], replace(hits[0], content="made up")]

    done = both_ways(Muddled(), hits_of("a", "b"))
    assert texts_of(done.hits) == ["b", "a"]
    assert done.report["rerank"].error == (
        "2 unknown or repeated hits were taken out; 1 lost hits were put back at the end"
    )


def test_a_chain_is_a_reranker_itself() -> None:
    chain = RerankChain(HeuristicReranker(), RerankChain(Scripted({"a": 1, "b": 2})))
    assert chain.name == "heuristic > scripted"
    hits = hits_of("a", "b")
    assert texts_of(chain.rerank("q", hits)) == ["b", "a"]
    assert asyncio.run(chain.arerank("q", hits)) == chain.rerank("q", hits)
    after, report = reranked(chain, "q", hits)
    assert texts_of(after) == ["b", "a"]
    assert report.error is None
    assert {hit.score_kind for hit in after} == {"scripted"}
    assert len(stages_of([chain, chain])) == 4


def test_the_sync_way_runs_off_the_event_loop() -> None:
    threads: list[threading.Thread] = []

    class Blocking:
        name = "blocking"

        def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
            threads.append(threading.current_thread())
            return list(hits)

    asyncio.run(arun(rerank_hits(Blocking(), "q", hits_of("a")), aperform_rerank))
    assert threads[0] is not threading.main_thread()


def test_an_interrupt_passes() -> None:
    class Interrupted:
        name = "interrupted"

        def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(rerank_hits(Interrupted(), "q", hits_of("a")), perform_rerank)


def test_nothing_to_rerank_is_said() -> None:
    done = run(rerank_hits(Scripted({}), "  ", hits_of("a")), perform_rerank)
    assert done.report["rerank"].skipped == "nothing to rerank"
    assert run(rerank_hits(Scripted({}), "q", []), perform_rerank).hits == []
    assert run(rerank_hits([], "q", hits_of("a")), perform_rerank).report == {}


@pytest.mark.parametrize(
    "make",
    [
        lambda: RerankStage(Asleep(), candidates=0),
        lambda: RerankStage(Asleep(), timeout=0),
        lambda: RerankChain(object()),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_reranker_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(ConfigError):
        make()


def test_order_by_scores_keeps_ties_and_puts_unscored_hits_behind() -> None:
    hits = hits_of("a", "b", "c", "d", "e")
    after = reordered(hits, [0.5, None, 0.5, float("nan"), 0.9], "s")
    assert texts_of(after) == ["e", "a", "c", "b", "d"]
    assert [hit.score_kind for hit in after] == ["s", "s", "s", "fused", "fused"]
    assert texts_of(reordered(hits, [], "s")) == ["a", "b", "c", "d", "e"]


def test_a_passage_has_its_headings_and_is_cut_at_a_blank() -> None:
    [hit] = hits_of("one two three")
    assert passage(hit) == "one two three"
    assert passage(replace(hit, breadcrumb="Guide > Install"), 25) == "Guide > Install\none two"
    assert passage(hit, 2) == "on"
