"""How far the graph arm goes, and where it puts what it finds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from .engine import Engine, Row

CHAIN = {
    "n1": "Zirconium is mined here.",
    "n2": "Rutile goes by ship.",
    "n3": "Gypsum hardens.",
    "n4": "Basalt.",
}


def add_chain(engine: Engine) -> None:
    """n1 links to n2, that to n3, that to n4; only n1 has the word of the question."""
    engine.add(
        CHAIN,
        links={"n1": ["n2"], "n2": ["n3"], "n3": ["n4"]},
        metadata={"n2": {"open": False}, "n3": {"open": True}},
    )


def search(engine: Engine, query: str, arms: Any = None, **options: Any) -> list[Row]:
    named = "".join(f", {name} => %s" for name in options)
    return engine.rows(
        "select source, rank, arms -> 'graph' ->> 'mode' as why, (arms -> 'graph' ->> 'rank')::integer as place"
        f" from ragpg.search(%s, arms => %s{named}) order by rank",
        query,
        None if arms is None else json.dumps(arms),
        *(json.dumps(value) if isinstance(value, dict) else value for value in options.values()),
    )


def test_a_search_goes_two_steps_on_request_and_tells_the_whole_way(engine: Engine) -> None:
    add_chain(engine)
    one = search(engine, "zirconium")
    assert [(row["source"], row["why"]) for row in one] == [
        ("n1", None),
        ("n2", "n1 links here"),
    ]
    two = search(engine, "zirconium", {"graph": {"hops": 2}})
    assert [(row["source"], row["why"]) for row in two] == [
        ("n1", None),
        ("n2", "n1 links here"),
        ("n3", "n1 links here (n2), n2 links here"),
    ]
    # Of the second step the ranks are two tiers lower.
    assert [row["place"] for row in two] == [None, 201, 20002]


def test_two_steps_keep_the_filter_and_the_width_of_a_search(engine: Engine) -> None:
    add_chain(engine)
    wide = search(engine, "zirconium", {"graph": {"hops": 2}}, k=80)
    assert [row["source"] for row in wide] == ["n1", "n2", "n3"]
    # The document between is refused itself, not as a way.
    seed = engine.value(
        "select chunk.id from ragpg.chunk join ragpg.document on document.id = document_id where source = 'n1'"
    )
    around = engine.rows(
        "select source from ragpg.graph_search(array[%s::bigint], filter => %s, hops => 2)",
        seed,
        json.dumps({"open": True}),
    )
    assert around == [{"source": "n3"}]


@pytest.mark.parametrize(
    "arms",
    [
        '{"graph": {"hops": 3}}',
        '{"graph": {"hops": 0}}',
        '{"graph": {"hops": 1.5}}',
        '{"graph": {"hops": "2"}}',
        '{"keyword": {"hops": 2}}',
        '{"graph": {"hops": 2, "function": "app.own"}}',
    ],
)
def test_other_numbers_of_steps_are_refused(engine: Engine, arms: str) -> None:
    with pytest.raises(psycopg.DatabaseError, match="hops") as caught:
        engine.value("select count(*) from ragpg.arm_options(%s)", arms)
    assert caught.value.sqlstate == "RG005"


@pytest.mark.parametrize("hops", [0, 3, None])
def test_a_graph_search_refuses_other_numbers_of_steps(engine: Engine, hops: int | None) -> None:
    engine.add(CHAIN)
    with pytest.raises(psycopg.DatabaseError, match="hops is 1 or 2"):
        engine.value("select count(*) from ragpg.graph_search('{1}', hops => %s)", hops)


def test_the_hub_of_a_community_comes_last(engine: Engine) -> None:
    """A seed that does not link to the hub itself reaches it in the last tier, after an analysis."""
    spokes = {f"s{n}": ["hub", f"s{(n + 1) % 6}"] for n in range(6)}
    engine.add(
        {
            "hub": "Everything about quarries.",
            "far": "Zirconium.",
            **{s: f"Stone {s}." for s in spokes},
        },
        links={**spokes, "far": ["s0"]},
    )
    seeds = "array(select chunk.id from ragpg.chunk join ragpg.document on document.id = document_id where source = 'far')"
    steps = f"select source, rank, arms -> 'graph' ->> 'mode' as why from ragpg.graph_search({seeds}) order by rank"
    ranks = f"select rank, mode from ragpg.graph_arm({seeds}, '{{1}}', null, 10) order by rank"
    assert [row["source"] for row in engine.rows(steps)] == ["s0"]
    engine.value("select ragpg.analyse_graph('default')")
    found = engine.rows(steps)
    assert [row["source"] for row in found] == ["s0", "hub"]
    assert found[-1]["why"] == "hub of the community of far"
    assert [row["rank"] for row in engine.rows(ranks)] == [201, 20002]


def test_a_document_keeps_its_heaviest_edges_of_shared_terms(engine: Engine) -> None:
    """Thirty documents share two terms, and ten pairs among them a third: those edges stay."""
    texts = {
        f"d{n:02}": f"zirconium feldspar {f'twin{n // 2}' if n < 20 else ''}" for n in range(30)
    }
    engine.add(texts)
    engine.value("select ragpg.fold_statistics()")
    assert engine.value("select ragpg.write_shared_terms(1, degree => 30)") == 30 * 29 // 2
    assert engine.value("select ragpg.write_shared_terms(1, degree => 3)") < 30 * 29 // 2
    rows = engine.rows("""
        select low.source as low, high.source as high from ragpg.edge
          join ragpg.document as low on low.id = edge.source
          join ragpg.document as high on high.id = edge.target""")
    pairs = {(row["low"], row["high"]) for row in rows}
    assert {(f"d{2 * n:02}", f"d{2 * n + 1:02}") for n in range(10)} <= pairs
    # An edge is there because one of its ends wants it, and an end wants three in each direction.
    assert len(pairs) <= 2 * 3 * 30


@pytest.mark.parametrize("method", ["rrf", "adaptive"])
def test_what_the_graph_brings_stays_below_every_direct_hit(engine: Engine, method: str) -> None:
    direct = {f"direct{n}": "zirconium " + "filler " * n for n in range(12)}
    reached = {f"linked{n}": f"stone {n} of another kind" for n in range(12)}
    engine.add(
        direct | reached,
        links={source: [*reached] for source in direct},
    )
    engine.value("select ragpg.analyse_graph('default')")
    for hops in (1, 2):
        rows = search(
            engine, "zirconium", {"graph": {"hops": hops}}, k=24, fusion={"method": method}
        )
        sources = [row["source"] for row in rows]
        assert set(sources[:12]) == set(direct)
        assert set(sources[12:]) <= set(reached)
        assert len(sources) > 12


def test_a_title_of_many_documents_leads_nowhere_in_the_analysis(engine: Engine) -> None:
    """As many steps as documents of the title times chunks that name it would be a square."""
    engine.add({f"t{n}": f"Stone {n}." for n in range(5)}, title="Grand Title")
    engine.add({f"n{n}": f"It names the Grand Title {n}." for n in range(4)})
    steps = "select count(distinct pagerank) from ragpg.document_rank"
    engine.value("select ragpg.analyse_graph('default')")
    assert engine.value(steps) > 1
    engine.add({"t5": "Stone 5."}, title="Grand Title")
    engine.value("select ragpg.analyse_graph('default')")
    assert engine.value(steps) == 1
