"""Probes: further queries of one search, which join its fusion."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from .engine import Engine


@pytest.fixture
def stocked(engine: Engine) -> Engine:
    engine.add(
        {
            "cards": "Gift cards never expire.",
            "refunds": "Refunds take ten days.",
            "hours": "Open from nine to five.",
        },
        vectors={"cards": [1, 0, 0], "refunds": [0, 1, 0], "hours": [0, 0, 1]},
    )
    return engine


def report_of(engine: Engine, query: str, probes: object, **arguments: object) -> dict[str, object]:
    report: dict[str, object] = engine.value(
        "select report from ragpg.search_run(%s, embedding => %s, arms => %s, probes => %s)",
        query,
        arguments.get("vector"),
        json.dumps(arguments["arms"]) if "arms" in arguments else None,
        json.dumps(probes),
    )
    return report


def test_a_probe_adds_hits_below_those_of_the_query(stocked: Engine) -> None:
    probes = [{"name": "facet-1", "query": "gift cards", "embedding": [0.9, 0.1, 0], "weight": 0.3}]
    hits = stocked.hits("refunds", probes=probes)
    assert [hit["source"] for hit in hits][:2] == ["refunds", "cards"]
    assert set(hits[1]["arms"]) == {"keyword:facet-1", "vector:facet-1"}
    assert hits[1]["score"] == pytest.approx(2 * 0.3 / 11)
    report = report_of(stocked, "refunds", probes)
    assert report["keyword:facet-1"]["rows"] == 1  # type: ignore[index]
    assert report["fusion"]["weights"]["keyword:facet-1"] == 0.3  # type: ignore[index]


def test_a_probe_runs_the_arms_it_names_and_has_input_for(stocked: Engine) -> None:
    both = {"name": "a", "query": "gift", "embedding": "[1,0,0]"}
    plan = "select array_agg(arm) from ragpg.search_plan(%s, %s)"
    assert stocked.value(plan, None, json.dumps([both, {"name": "b", "query": "x"}])) == [
        "vector", "keyword", "vector:a", "keyword:a", "keyword:b", "metadata", "graph", "sentence"]  # fmt: skip
    assert stocked.value(plan, '["keyword"]', json.dumps([both])) == ["keyword", "keyword:a"]
    only = json.dumps([{**both, "arms": ["vector"]}])
    assert stocked.value(plan, '["keyword", "vector"]', only) == ["vector", "keyword", "vector:a"]


def test_the_weight_of_a_probe_is_that_of_its_arm_times_its_own(stocked: Engine) -> None:
    probes = [{"name": "p", "query": "gift", "weight": 0.5}]
    report = report_of(stocked, "refunds", probes, arms={"keyword": {"weight": 0.4}})
    assert report["fusion"]["weights"] == {"keyword": 0.4, "keyword:p": 0.2}  # type: ignore[index]


@pytest.mark.parametrize("vector", ["[1,0]", "no vector"])
def test_a_failing_probe_is_reported_and_breaks_nothing(stocked: Engine, vector: str) -> None:
    probes = [{"name": "bad", "embedding": vector}, {"name": "good", "query": "gift"}]
    assert stocked.search("refunds", probes=probes) == ["refunds", "cards"]
    report = report_of(stocked, "refunds", probes)
    assert "error" in report["vector:bad"]  # type: ignore[operator]
    assert report["keyword:good"]["rows"] == 1  # type: ignore[index]


@pytest.mark.parametrize(
    "probes",
    [
        {"name": "a"},
        [{"query": "x"}],
        [{"name": " "}],
        [{"name": "a", "wieght": 1}],
        [{"name": "a", "weight": -1}],
        [{"name": "a", "arms": ["graph"]}],
        [{"name": "a", "query": 5}],
        [{"name": "a"}, {"name": "a"}],
        [{"name": str(number)} for number in range(17)],
    ],
)
def test_unknown_options_of_probes_are_refused(stocked: Engine, probes: object) -> None:
    with pytest.raises(psycopg.DatabaseError) as refusal:
        stocked.search("refunds", probes=probes)
    assert refusal.value.sqlstate == "RG005"


def test_arms_that_start_from_others_run_last_and_only_when_asked(stocked: Engine) -> None:
    plan = "select array_agg(arm) from ragpg.search_plan(%s)"
    assert stocked.value(plan, None) == ["vector", "keyword", "metadata", "graph", "sentence"]
    assert stocked.value(plan, '{"prf": true, "sentence": {}}') == [
        "vector", "keyword", "metadata", "prf", "graph", "sentence"]  # fmt: skip
    report = report_of(stocked, "nothing", None, arms=["keyword", "prf", "sentence"])
    assert report["prf"]["skipped"] == "no hits to start from"  # type: ignore[index]
    assert report["sentence"]["skipped"] == "no query vector"  # type: ignore[index]
    found = report_of(stocked, "gift", None, arms=["keyword", "prf"])
    assert "skipped" not in found["prf"]  # type: ignore[operator]
