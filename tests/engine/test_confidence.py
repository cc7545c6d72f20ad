"""Signals of how good a result is, as SQL reports them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .engine import Engine


@pytest.fixture
def stocked(engine: Engine) -> Engine:
    words = ["apple", "pear", "plum", "fig", "melon", "cherry", "quince", "grape", "peach", "olive"]
    documents = {f"d{n}": f"{words[n % 10]} and {words[(n + n // 10) % 10]}" for n in range(100)}
    documents["refund"] = "Refunds take ten days."
    vectors: dict[str, list[float]] = {f"d{n}": [1, n / 100, 0] for n in range(100)}
    vectors["refund"] = [0, 0, 1]
    engine.add(documents, vectors=vectors)
    engine.value("select ragpg.fold_statistics()")
    return engine


def signals(engine: Engine, query: str, **arguments: Any) -> dict[str, dict[str, float]]:
    report = engine.value(
        "select report from ragpg.search_run(%s, embedding => %s, arms => %s, fusion => %s)",
        query,
        arguments.get("vector"),
        json.dumps(arguments["arms"]) if "arms" in arguments else None,
        json.dumps(arguments["fusion"]) if "fusion" in arguments else None,
    )
    assert "confidence_error" not in report["fusion"]
    return {
        arm: told["signals"]
        for arm, told in report.items()
        if arm != "fusion" and "signals" in told
    }


def test_a_query_with_an_answer_stands_out_from_one_without(stocked: Engine) -> None:
    good = signals(stocked, "how long do refunds take", vector="[0,0,1]")
    bad = signals(stocked, "zeppelin apple warranty", vector="[1,1,1]")
    assert good["keyword"]["coverage"] > bad["keyword"]["coverage"]
    assert good["keyword"]["unknown"] < bad["keyword"]["unknown"]
    assert good["vector"]["near"] == pytest.approx(1, abs=0.01)
    assert good["vector"]["near"] > bad["vector"]["near"]
    assert good["vector"]["gap"] > bad["vector"]["gap"]
    for told in (*good.values(), *bad.values()):
        assert all(0 <= value <= 1 for name, value in told.items() if name != "terms")


def test_each_arm_alone_has_its_signals(stocked: Engine) -> None:
    both = signals(stocked, "refunds", vector="[0,0,1]")
    assert set(both) == {"keyword", "vector"}
    assert both["keyword"]["agreement"] == both["vector"]["agreement"] > 0
    words = signals(stocked, "refunds")
    assert set(words) == {"keyword"}
    assert "agreement" not in words["keyword"]
    vector = signals(stocked, "refunds", vector="[0,0,1]", arms=["vector"])
    assert vector["vector"]["near"] == pytest.approx(both["vector"]["near"], abs=0.01)
    assert signals(stocked, "zeppelin") == {}


def test_signals_do_not_depend_on_the_fusion(stocked: Engine) -> None:
    found = [
        signals(stocked, "refunds take days", vector="[0,0.1,1]", fusion={"method": method})
        for method in ("adaptive", "rrf", "minmax")
    ]
    for other in found[1:]:
        assert other["keyword"] == found[0]["keyword"]
        assert other["vector"] == pytest.approx(found[0]["vector"], abs=0.001)
