"""How the lists of the arms become one: methods, options, weights, degradation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from .engine import Engine

#: Words and directions disagree: "both" is second in both lists.
TEXTS = {
    "words": "Gift cards: gift cards never expire.",
    "both": "A gift for every day.",
    "sense": "Presents may be returned.",
    **{f"other {number}": f"Opening hours of shop {number}." for number in range(12)},
}
VECTORS = {
    "words": [0.1, 1, 0],
    "both": [0.8, 0.6, 0],
    "sense": [1, 0.1, 0],
    **{f"other {number}": [0.1, 0.1, 1] for number in range(12)},
}


@pytest.fixture
def stocked(engine: Engine) -> Engine:
    engine.add(TEXTS, vectors=VECTORS)
    return engine


def fused(
    engine: Engine, fusion: object = None, arms: object = None, query: str = "gift cards"
) -> Any:
    """The report of the fusion."""
    return engine.value(
        "select report -> 'fusion' from ragpg.search_run(%s, '[1,0,0]', fusion => %s, arms => %s)",
        query,
        None if fusion is None else json.dumps(fusion),
        None if arms is None else json.dumps(arms),
    )


def test_scores_are_fused_by_default_and_the_report_says_how(stocked: Engine) -> None:
    report = fused(stocked)
    assert report["method"] == "adaptive"
    assert set(report["signals"]) == {"drop", "near", "lead", "terms", "background"}
    assert report["signals"]["terms"] == 2
    assert report["weights"]["keyword"] + report["weights"]["vector"] == pytest.approx(2)


def test_a_hit_of_one_arm_is_scored_by_the_other_too(stocked: Engine) -> None:
    arms = {"keyword": {"k": 1}, "vector": {"k": 2}}
    hits = {hit["source"]: hit for hit in stocked.hits(
        "gift cards", vector=[1, 0, 0], arms=arms, fusion={"method": "convex"})}  # fmt: skip
    assert set(hits["both"]["arms"]) == {"vector"}
    alone = {hit["source"]: hit for hit in stocked.hits(
        "gift cards", vector=[1, 0, 0], arms={**arms, "keyword": {"k": 2}},
        fusion={"method": "convex"})}  # fmt: skip
    assert set(alone["both"]["arms"]) == {"keyword", "vector"}
    assert hits["both"]["score"] == pytest.approx(alone["both"]["score"], rel=1e-3)


def test_a_convex_score_is_the_weighted_sum_of_shares(stocked: Engine) -> None:
    found = stocked.hits("gift cards", vector=[1, 0, 0], fusion={"method": "convex", "alpha": 0.3})
    usual = fused(stocked, {"method": "convex"})["signals"]["background"]
    [total] = [row["sum"] for row in stocked.rows(
        "select sum(bound) from ragpg.keyword_terms('gift cards', ragpg.namespace_ids('{default}'))")]  # fmt: skip
    for hit in found[:2]:
        words = hit["arms"].get("keyword", {"score": 0})["score"] / total
        sense = (hit["arms"]["vector"]["score"] - usual) / (1 - usual)
        assert hit["score"] == pytest.approx(2 * (0.7 * words + 0.3 * sense) / 11, rel=1e-3)


def test_alpha_goes_from_words_to_vectors(stocked: Engine) -> None:
    best = [
        stocked.search("gift cards", vector=[1, 0, 0], fusion={"method": "convex", "alpha": alpha})[
            0
        ]
        for alpha in (0, 1)
    ]
    assert best == ["words", "sense"]
    assert fused(stocked, {"method": "convex", "alpha": 1})["weights"]["keyword"] == 0


def test_bias_and_weights_move_the_adaptive_weights(stocked: Engine) -> None:
    plain = fused(stocked)["weights"]["keyword"]
    assert fused(stocked, {"bias": 1})["weights"]["keyword"] > plain
    assert fused(stocked, {"bias": -1})["weights"]["keyword"] < plain
    assert fused(stocked, arms={"vector": {"weight": 3}})["weights"]["vector"] > 2
    assert fused(stocked, arms={"vector": {"weight": 0}})["method"] == "rrf"


def test_a_lean_is_added_to_the_bias_that_is_in_force(stocked: Engine) -> None:
    def options(text: str) -> object:
        return stocked.value(
            "select ragpg.fusion_options(%s, ragpg.namespace_ids('{default}'))", text
        )

    assert options('{"lean": 0.5}') == {"method": "adaptive", "bias": 0.5}
    stocked.value("""select ragpg.set_fusion('default', '{"method": "adaptive", "bias": -2}')""")
    assert options('{"lean": 0.5}') == {"method": "adaptive", "bias": -1.5}
    assert options('{"method": "adaptive", "lean": 0.5}') == {"method": "adaptive", "bias": 0.5}
    assert options('{"bias": 19, "lean": 5}') == {"method": "adaptive", "bias": 20}
    stocked.value("""select ragpg.set_fusion('default', '{"method": "rrf"}')""")
    assert options('{"lean": 0.5}') == {"method": "rrf"}


def test_minmax_stretches_each_list(stocked: Engine) -> None:
    hits = stocked.hits("gift cards", vector=[1, 0, 0], fusion={"method": "minmax"})
    scores = {hit["source"]: hit["score"] for hit in hits}
    assert scores["words"] > 1 / 11
    assert scores["sense"] == pytest.approx(1 / 11)
    [vector] = [hit["arms"]["vector"]["score"] for hit in hits if hit["source"] == "both"]
    [low, high] = [
        row["score"] for row in stocked.rows(
            "select score from ragpg.vector_search('[1,0,0]', k => 50) order by score")][:: len(TEXTS) - 1]  # fmt: skip
    assert scores["both"] == pytest.approx((vector - low) / (high - low) / 11)


def test_one_list_alone_keeps_its_order(stocked: Engine) -> None:
    for fusion in ({"method": "adaptive"}, {"method": "convex"}):
        assert fused(stocked, fusion, arms=["keyword"])["method"] == "rrf"
        assert fused(stocked, fusion, query="unheard")["method"] == "rrf"
        alone = stocked.search("unheard", vector=[1, 0, 0], fusion=fusion)
        assert alone == stocked.search("unheard", vector=[1, 0, 0], arms=["vector"])


def test_scores_of_a_function_in_place_of_an_arm_are_not_taken_for_its_own(
    stocked: Engine,
) -> None:
    stocked.connection.execute("""
        create function public.mine(text, integer[], jsonb, integer) returns table (chunk_id bigint, score float8)
        language sql as $$ select id, 1e6 from ragpg.chunk order by id limit 3 $$""")
    assert fused(stocked, arms={"keyword": {"function": "public.mine"}})["method"] == "rrf"


def test_a_failing_fusion_falls_back_to_ranks(stocked: Engine) -> None:
    stocked.connection.execute("alter table ragpg.namespace_statistics rename to elsewhere")
    try:
        with stocked.connection.transaction(force_rollback=True):
            hits = stocked.rows("""
                select report, cardinality(ranking) as found from ragpg.fuse(
                  array[row('keyword', 1, 1, 1, 2.0, null, 1), row('vector', 1, 2, 1, 0.5, null, 1)]::ragpg.arm_hit[],
                  '{"method": "adaptive"}', 'gift', '[1,0,0]', '{1}', 10)""")
        assert hits[0]["report"]["method"] == "rrf"
        assert "namespace_statistics" in hits[0]["report"]["error"]
        assert hits[0]["found"] == 2
    finally:
        stocked.connection.execute("alter table ragpg.elsewhere rename to namespace_statistics")


def test_unknown_options_are_refused(stocked: Engine) -> None:
    for wrong in (
        {"method": "magic"},
        {"rrf_k": -1},
        {"rrf_k": 1.5},
        {"alpha": 2},
        {"bias": "much"},
        {"lean": "much"},
        {"lean": 21},
        {"beta": 1},
        ["rrf"],
    ):
        with pytest.raises(psycopg.DatabaseError) as refusal:
            stocked.search("gift", fusion=wrong)
        assert refusal.value.sqlstate == "RG005", wrong


def test_namespaces_that_agree_choose_the_fusion(stocked: Engine) -> None:
    stocked.add({"x": "Gift tags."}, namespace="other")
    stored = stocked.value(
        """select ragpg.set_fusion('default', '{"method": "rrf", "rrf_k": 60}')"""
    )
    assert stored == {"method": "rrf", "rrf_k": 60}
    assert fused(stocked)["method"] == "rrf"
    assert fused(stocked)["rrf_k"] == 60
    assert fused(stocked, {"method": "adaptive"})["method"] == "adaptive"
    several = """select report -> 'fusion' ->> 'method'
                   from ragpg.search_run('gift', '[1,0,0]', namespaces => '{default,other}')"""
    assert stocked.value(several) == "adaptive"
    with pytest.raises(psycopg.DatabaseError, match="beta"):
        stocked.value("""select ragpg.set_fusion('default', '{"beta": 1}')""")
    stocked.value("select ragpg.set_fusion('default', null)")
    assert fused(stocked)["method"] == "adaptive"


def test_equal_queries_get_equal_scores(stocked: Engine) -> None:
    first = [stocked.hits("gift cards", vector=[1, 0, 0]) for _ in range(3)]
    assert first[0] == first[1] == first[2]
