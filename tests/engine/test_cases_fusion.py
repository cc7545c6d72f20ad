"""Faults reported of fused search elsewhere, and what the fused search promises."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from .engine import Engine


@pytest.mark.case("FU-01")
def test_equal_scores_keep_their_order_fu_01(engine: Engine) -> None:
    engine.add(
        {
            f"note {number:03d}": f"note {number:03d}: identical body text about backups"
            for number in range(1, 61)
        },
        vectors={f"note {number:03d}": [1.0, 1.0] for number in range(1, 61)},
    )
    first = engine.search("backups", vector=[1, 1])
    assert len(first) == 10
    assert all(engine.search("backups", vector=[1, 1]) == first for _ in range(19))
    engine.connection.execute("vacuum full ragpg.chunk")
    engine.connection.execute("vacuum full ragpg.chunk_keyword")
    engine.connection.execute(
        "update ragpg.chunk set page = 1 where id in (select id from ragpg.chunk order by id desc limit 10)"
    )
    assert engine.search("backups", vector=[1, 1]) == first
    _write_backwards(engine)
    for arms in (None, ["keyword"], ["vector"]):
        assert engine.search("backups", vector=[1, 1], arms=arms) == first


def _write_backwards(engine: Engine) -> None:
    """The same rows under the same ids, as if they had been inserted in the opposite order."""
    for table, key in (("chunk", "id"), ("chunk_keyword", "chunk_id"), ("embedding_1", "chunk_id")):
        ids = [row["id"] for row in engine.rows(f"select {key} as id from ragpg.{table}")]
        with engine.connection.transaction():
            engine.connection.execute("set local session_replication_role = replica")
            for one in sorted(ids, reverse=True):
                engine.connection.execute(
                    f"with gone as (delete from ragpg.{table} where {key} = {one} returning *) "
                    f"insert into ragpg.{table} overriding system value select * from gone"
                )
        engine.connection.execute(f"vacuum full ragpg.{table}")
        placed = [row["id"] for row in engine.rows(
            f"select {key} as id from ragpg.{table} order by ctid")]  # fmt: skip
        assert placed == sorted(ids, reverse=True)


@pytest.mark.smoke
@pytest.mark.case("FU-02")
def test_a_chunk_found_twice_is_one_hit_fu_02(engine: Engine) -> None:
    engine.add(
        {
            "d1": "Rotate the signing key every 90 days.",
            "d2": "Key lime pie.",
            "d3": "Signing ceremony.",
        },
        vectors={"d1": [1, 0], "d2": [0, 1], "d3": [0.5, 0.5]},
    )
    for method in ("adaptive", "convex", "minmax", "rrf"):
        fusion = {"method": method}
        hits = engine.hits("rotate signing key", vector=[1, 0], k=3, fusion=fusion)
        assert [hit["source"] for hit in hits].count("d1") == 1
        assert len({hit["chunk_id"] for hit in hits}) == 3
        best = hits[0]
        assert best["source"] == "d1"
        assert best["arms"]["vector"]["rank"] == best["arms"]["keyword"]["rank"] == 1
        assert all(hit["score"] < best["score"] for hit in hits[1:])
        # Nothing is nearer than the same direction, so the vector arm gives all that it has.
        weights = engine.value(
            "select report -> 'fusion' -> 'weights' from ragpg.search_run('rotate signing key', '[1,0]', fusion => %s)",
            json.dumps(fusion),
        )
        assert weights["vector"] / 11 < best["score"] <= sum(weights.values()) / 11 + 1e-9
    assert best["score"] == pytest.approx(1 / 11 + 1 / 11)


@pytest.mark.case("FU-03")
def test_one_arm_is_enough_fu_03(engine: Engine) -> None:
    engine.add(
        {
            "only_kw": "Error code QX-7731 means low ink.",
            "only_vec": "The printer needs a new cartridge.",
        },
        vectors={"only_vec": [1, 0], "only_kw": [-1, 0]},
    )
    found = engine.search("QX-7731", vector=[1, 0], arms={"vector": {"min_score": 0.5}})
    assert set(found) == {"only_kw", "only_vec"}
    alone = engine.search("nothing matches this", vector=[1, 0])
    assert alone == ["only_vec", "only_kw"]
    assert alone == engine.search("nothing matches this", vector=[1, 0], arms=["vector"])
    lone = engine.search("QX-7731", vector=[0, 1], arms={"vector": {"min_score": 0.5}})
    assert lone == engine.search("QX-7731", arms=["keyword"]) == ["only_kw"]


@pytest.mark.case("FU-04")
def test_filters_and_namespaces_hold_in_every_arm_fu_04(engine: Engine) -> None:
    for source, namespace, year in [("a", "red", 2024), ("b", "red", 2020), ("c", "blue", 2024)]:
        engine.add(
            {source: "quarterly plan"},
            namespace=namespace,
            vectors={source: [1, 0]},
            metadata={source: {"year": year}},
            links={source: ["a", "b", "c"]},
        )
    filter = {"year": {"gte": 2023}}
    for arms in (["keyword"], ["vector"], ["metadata"], None, ["keyword", "graph"]):
        hits = engine.hits(
            "quarterly plan", vector=[1, 0], namespaces=["red"], filter=filter, arms=arms
        )
        assert [hit["source"] for hit in hits] == ["a"], arms
        assert {arm["rank"] for arm in hits[0]["arms"].values()} == {1}
    [neighbour] = engine.rows(
        "select source from ragpg.graph_search(array[(select chunk_id from ragpg.keyword_search('quarterly plan', '{red}', %s))], '{red}')",
        json.dumps({"year": 2024}),
    )
    assert neighbour["source"] == "b"


def test_a_failing_arm_degrades_the_search(engine: Engine) -> None:
    engine.add({"d1": "Rotate the signing key."}, vectors={"d1": [1, 0]})
    engine.connection.execute("""
        create function public.broken(text, integer[], jsonb, integer) returns table (chunk_id bigint, score float8)
        language plpgsql as $$ begin raise exception 'the corpus is on fire'; end $$""")
    arms = {"mine": {"function": "public.broken"}, "vector": False}
    assert engine.search("signing", arms=arms) == ["d1"]
    report = engine.value(
        "select report from ragpg.search_run('signing', arms => %s)", json.dumps(arms)
    )
    assert report["mine"]["error"] == "the corpus is on fire"
    assert report["keyword"]["rows"] == 1
    assert "vector" not in report


def test_a_function_of_the_user_joins_the_fusion(engine: Engine) -> None:
    engine.add(
        {"d1": "Rotate the signing key.", "d2": "Something else."}, metadata={"d1": {"n": 1}}
    )
    engine.connection.execute("""
        create function public.everything(text, integer[], jsonb, integer) returns table (chunk_id bigint, score float8)
        language sql as $$ select id, 1.0 from ragpg.chunk order by id desc $$""")
    arms = {"mine": {"function": "public.everything", "weight": 0.5}}
    hits = engine.hits("signing", arms=arms)
    assert [hit["source"] for hit in hits] == ["d1", "d2"]
    assert hits[0]["arms"]["mine"] == {"rank": 2, "score": 1}
    assert [hit["source"] for hit in engine.hits("x", arms=arms, filter={"n": 1})] == ["d1"]


@pytest.mark.parametrize(
    "arms",
    [
        {"vectr": {}},
        {"keyword": {"wieght": 1}},
        {"keyword": {"k": "ten"}},
        5,
        {"keyword": {"weight": -1}},
        {"mine": {}},
        {"keyword": None},
    ],
)
def test_unknown_arms_and_options_are_refused(engine: Engine, arms: object) -> None:
    engine.add({"d1": "Rotate the signing key."})
    with pytest.raises(psycopg.DatabaseError) as refusal:
        engine.search("signing", arms=arms)
    assert refusal.value.sqlstate == "RG005"


def test_unknown_namespaces_are_named(engine: Engine) -> None:
    engine.add({"d1": "Rotate the signing key."})
    with pytest.raises(psycopg.DatabaseError, match='"nowhere"') as refusal:
        engine.search("signing", namespaces=["default", "nowhere"])
    assert refusal.value.sqlstate == "RG001"


def test_blank_queries_and_no_results_are_empty(engine: Engine) -> None:
    engine.add({"d1": "Rotate the signing key."})
    assert engine.search("") == engine.search(" \n ") == engine.search("signing", k=0) == []


def test_links_lead_to_neighbours_below_every_direct_hit(engine: Engine) -> None:
    engine.add(
        {"guide": "How to rotate the signing key.", "faq": "Other matters.", "back": "Pages."},
        links={"guide": ["faq", "https://example.com/x"], "back": ["guide"]},
    )
    hits = engine.hits("signing key")
    assert [(hit["source"], list(hit["arms"])) for hit in hits] == [
        ("guide", ["keyword"]),
        ("faq", ["graph"]),
        ("back", ["graph"]),
    ]
    assert engine.value("select ragpg.delete_documents('default', '{faq}')") == 1
    assert engine.search("signing key") == ["guide", "back"]
    engine.add({"faq": "Other matters."})
    assert engine.search("signing key") == ["guide", "faq", "back"]
