"""Fusion in Python gives what the fusion in SQL gives."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragpg.errors import ConfigError
from ragpg.query.fuse import fuse, fuse_with_external
from ragpg.types import ArmHit, Hit


def hit(name: str, chunk: int | None = None, score: float = 0.0, **arms: int) -> Hit:
    return Hit(
        rank=1,
        score=score,
        namespace="default",
        source=name,
        content=f"text of {name}",
        chunk_id=chunk,
        arms={arm: ArmHit(rank, 0.5) for arm, rank in arms.items()},
    )


@pytest.mark.case("FU-02")
def test_a_hit_of_two_arms_appears_once_with_both_credits_fu_02() -> None:
    fused = fuse({"keyword": [hit("a", 1), hit("b", 2)], "vector": [hit("c", 3), hit("a", 1)]})
    assert [one.source for one in fused] == ["a", "c", "b"]
    assert fused[0].score == 1 / 11 + 1 / 12
    assert {name: arm.rank for name, arm in fused[0].arms.items()} == {"keyword": 1, "vector": 2}
    assert [one.rank for one in fused] == [1, 2, 3]


@pytest.mark.case("FU-03")
def test_a_hit_of_one_arm_stays_fu_03() -> None:
    fused = fuse({"keyword": [hit("a", 1)], "vector": []})
    assert [one.source for one in fused] == ["a"]


@pytest.mark.case("FU-01")
def test_equal_scores_have_one_order_fu_01() -> None:
    lists = {"keyword": [hit("b", 2)], "vector": [hit("a", 9)], "x": [hit("a", 3)]}
    orders = {tuple(one.chunk_id for one in fuse(dict(order))) for order in _rotations(lists)}
    assert orders == {(3, 9, 2)}


def _rotations(lists: dict[str, list[Hit]]) -> list[list[tuple[str, list[Hit]]]]:
    items = list(lists.items())
    return [items[n:] + items[:n] for n in range(len(items))]


def test_weights_scale_and_unnamed_arms_weigh_one() -> None:
    fused = fuse({"a": [hit("x", 1)], "b": [hit("y", 2)]}, {"b": 1.3}, rrf_k=10)
    assert [(one.source, one.score) for one in fused] == [("y", 1.3 / 11), ("x", 1 / 11)]


def test_external_hits_without_an_id_join_by_content_and_repeats_count_once() -> None:
    external = [hit("wiki"), hit("wiki"), hit("a")]
    sql = [hit("a", 1, 0.2, vector=2, keyword=1), hit("b", 2, 0.15, vector=1)]
    fused = fuse_with_external(sql, {"wiki": external})
    assert [one.source for one in fused] == ["a", "b", "wiki"]
    assert fused[0].chunk_id == 1
    assert fused[0].arms["wiki"].rank == 2
    assert [one.score for one in fused] == [0.2 + 1 / 12, 0.15, 1 / 11]


def test_fusing_sql_hits_alone_repeats_their_scores() -> None:
    sql = [hit("a", 1, 0.123, vector=1), hit("b", 2, 0.1, keyword=2)]
    assert [one.score for one in fuse_with_external(sql, {}, {})] == [0.123, 0.1]
    assert fuse_with_external(sql, {}, {}, k=0) == []


def test_a_retriever_may_not_take_an_arms_name() -> None:
    with pytest.raises(ConfigError, match="'vector'"):
        fuse_with_external([hit("a", 1, vector=1)], {"vector": [hit("b")]})


def test_inputs_are_left_alone() -> None:
    one = hit("a", 1)
    before = replace(one)
    fuse({"keyword": [one]})
    assert one == before
