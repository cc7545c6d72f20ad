"""Priors in the order of a search, and who gets the credit of a showing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragpg.errors import ConfigError
from ragpg.feedback.attribution import showings
from ragpg.feedback.recorder import Batching, Recorder
from ragpg.query.prior import apply_prior
from ragpg.types import (
    Answer,
    ArmReport,
    Citation,
    Claim,
    Evidence,
    Grounding,
    Hit,
    SearchResult,
)


def hit(chunk: int, score: float = 1.0, *, prior: float | None = None, kind: str = "fused") -> Hit:
    return Hit(
        rank=chunk, score=score, namespace="default", source=f"{chunk}.md", content="text",
        chunk_id=chunk, prior=prior, score_kind=kind,
    )  # fmt: skip


def order(hits: list[Hit]) -> list[int | None]:
    return [one.chunk_id for one in hits]


def test_without_history_nothing_is_touched() -> None:
    report: dict[str, ArmReport] = {}
    hits = [hit(1, 3), hit(2, 2), hit(3, 2)]
    assert apply_prior(hits, report) == hits
    assert report == {}


def test_a_prior_moves_a_hit_past_those_that_are_near() -> None:
    report: dict[str, ArmReport] = {}
    hits = [hit(1, 1.0), hit(2, 0.95, prior=1.15), hit(3, 0.5, prior=1.15)]
    moved = apply_prior(hits, report)
    assert order(moved) == [2, 1, 3]
    assert moved[0].score == pytest.approx(0.95 * 1.15)
    assert (report["prior"].rows, report["prior"].mode) == (2, "2 places changed")


def test_it_is_never_stronger_than_its_bounds() -> None:
    [one, other] = apply_prior([hit(1, 1.0), hit(2, 0.8, prior=40)], {})
    assert one.chunk_id == 1
    assert other.score == pytest.approx(0.92)


def test_below_zero_a_good_prior_still_raises() -> None:
    moved = apply_prior([hit(1, -1.0), hit(2, -1.1, prior=1.15), hit(3, -4.0, prior=0.85)], {})
    assert order(moved) == [2, 1, 3]
    assert moved[0].score > -1.0
    assert moved[2].score == -4.0


def test_hits_stay_among_those_of_their_scale() -> None:
    hits = [hit(1, 0.2, kind="model"), hit(2, 9.0), hit(3, 8.9, prior=1.15)]
    assert order(apply_prior(hits, {})) == [1, 3, 2]


def test_an_order_that_scores_do_not_explain_is_kept() -> None:
    hits = [hit(1, 0.1), hit(2, 0.9, prior=1.15)]
    assert apply_prior(hits, {}) == hits


def test_every_shown_passage_counts_once_and_followed_ones_are_named() -> None:
    hits = [hit(1), hit(2), hit(3), hit(2), replace(hit(9), chunk_id=None)]
    result = SearchResult("q", hits, {}, citations=[Citation(1, hits[0]), Citation(2, hits[2])])
    assert [(one.chunk_id, one.followed) for one in showings(result)] == [
        (1, False), (2, False), (3, False),
    ]  # fmt: skip
    for used in ([hits[2]], [Citation(2, hits[2])], [2], ["3.md"]):
        assert {one.chunk_id for one in showings(result, used) if one.followed} == {3}
    assert {one.chunk_id for one in showings(result, [hits[0]], count=2)} == {1, 2}
    for wrong in ([hit(7)], [5], ["other.md"], [1.5], "1.md", [hits[2]]):
        with pytest.raises(ConfigError):
            showings(result, wrong, count=2)  # type: ignore[arg-type]


def test_an_answer_credits_what_carries_a_supported_claim() -> None:
    hits = [hit(1), hit(2), hit(3), hit(4)]
    cited = [Citation(number, one) for number, one in enumerate(hits[:3], 1)]

    def claim(verdict: str, *evidence: tuple[int, float]) -> Claim:
        spans = [Evidence(n, hits[n - 1], 0, 4, "text", support) for n, support in evidence]
        return Claim("c", 0, 1, verdict, 0.5, spans)  # type: ignore[arg-type]

    claims = [claim("supported", (2, 0.6), (3, 0.9)), claim("partial", (1, 0.3)),
              claim("contradicted", (2, 0.9))]  # fmt: skip
    answer = Answer(
        "text", SearchResult("q", hits, {}, citations=cited), Grounding("text", claims, 0.5), cited
    )
    # 1 was read and cited for less than it says, 4 was not in the context.
    found = {one.chunk_id: one.followed for one in showings(answer)}
    assert found == {1: False, 2: False, 3: True}
    assert showings(replace(answer, refused=True)) == []


def test_counts_wait_until_they_are_many_and_survive_a_failure() -> None:
    recorder = Recorder(Batching(size=4, kept=3))
    result = SearchResult("q", [hit(1), hit(2)], {})
    assert not recorder.add(showings(result, [result.hits[0]]))
    assert recorder.add(showings(result))
    flow = recorder.write()
    next(flow)
    # A second writer has nothing to do meanwhile.
    with pytest.raises(StopIteration) as end:
        next(recorder.write())
    assert end.value.value == 0
    with pytest.raises(StopIteration):
        flow.throw(OSError("away"))
    recorder.add(showings(SearchResult("q", [hit(3)], {})))
    again = recorder.write()
    events = next(again).parameters["events"]  # type: ignore[union-attr]
    assert '"chunk_id": 1, "rank": 1, "shown": 2, "followed": 1' in events
    assert '"chunk_id": 3' in events
    with pytest.raises(StopIteration) as end:
        again.send([3])
    assert end.value.value == 3
    recorder.add(showings(SearchResult("q", [hit(n) for n in range(1, 6)], {})))
    assert recorder.lost == 2


def test_limits_of_a_batch_are_checked() -> None:
    with pytest.raises(ConfigError, match="size"):
        Batching(size=0)
