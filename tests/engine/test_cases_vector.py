"""Faults reported of vector search elsewhere, as cases that must pass here."""

from __future__ import annotations

import json
import math
import random
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .engine import Engine


def unit_vectors(rows: int, dimensions: int = 32, seed: int = 7) -> list[list[float]]:
    rng = random.Random(seed)
    vectors = []
    for _ in range(rows):
        vector = [rng.gauss(0, 1) for _ in range(dimensions)]
        norm = math.sqrt(sum(value * value for value in vector))
        vectors.append([round(value / norm, 5) for value in vector])
    return vectors


def store(engine: Engine, vectors: Sequence[Sequence[float] | None], **metadata: Any) -> None:
    names = [f"v{number:05d}" for number in range(len(vectors))]
    engine.add(
        {name: f"row {name}" for name in names},
        vectors=dict(zip(names, vectors, strict=True)),
        metadata={
            name: {key: rule(number) for key, rule in metadata.items()}
            for number, name in enumerate(names)
        },
    )


def indexed(engine: Engine) -> None:
    """An HNSW index, and no exact shortcut for small tables."""
    assert engine.value("select ragpg.create_embedding_index(1)")
    engine.connection.execute("analyze ragpg.embedding_1")


def arm(
    engine: Engine, vector: Sequence[float], k: int, filter: Any = None, exact_rows: int = 10_000
) -> list[dict[str, Any]]:
    return engine.rows(
        "select * from ragpg.vector_arm(%s, ragpg.namespace_ids('{default}'), %s, %s, null, %s)",
        json.dumps(list(vector)),
        None if filter is None else json.dumps(filter),
        k,
        exact_rows,
    )


@pytest.mark.case("VE-01")
def test_a_rare_filter_still_brings_its_rows_ve_01(engine: Engine) -> None:
    vectors = unit_vectors(5000)
    store(engine, vectors, g=lambda number: number % 500)
    indexed(engine)
    for query in unit_vectors(5, seed=8):
        exact = arm(engine, query, 10, {"g": 7})
        forced = arm(engine, query, 10, {"g": 7}, exact_rows=0)
        assert len(exact) == len(forced) == 10
        assert {row["mode"] for row in exact} == {"exact"}
        assert all(row["mode"].startswith("hnsw") for row in forced)
        assert len({row["chunk_id"] for row in exact} & {row["chunk_id"] for row in forced}) >= 9
        hits = engine.hits("row", vector=query, filter={"g": 7}, k=10)
        assert len(hits) == 10
        assert {hit["metadata"]["g"] for hit in hits} == {7}


@pytest.mark.case("VE-02")
def test_a_hundred_neighbours_are_a_hundred_ve_02(engine: Engine) -> None:
    store(engine, unit_vectors(2000))
    indexed(engine)
    rows = arm(engine, unit_vectors(1, seed=9)[0], 100, exact_rows=0)
    assert len(rows) == 100
    assert {row["mode"] for row in rows} == {"hnsw"}
    # Nothing is left behind for the next user of the connection.
    assert engine.value("show hnsw.ef_search") == "40"
    assert engine.value("show enable_seqscan") == "on"


@pytest.mark.case("VE-03")
@pytest.mark.parametrize("k", [1000, 1001, 2500, 4000])
def test_any_k_is_served_ve_03(engine: Engine, k: int) -> None:
    store(engine, unit_vectors(3000, dimensions=8))
    indexed(engine)
    [query] = unit_vectors(1, dimensions=8, seed=9)
    assert len(arm(engine, query, k, exact_rows=0)) == min(k, 3000)
    assert len(engine.hits("", vector=query, k=k)) == min(k, 3000)


@pytest.mark.case("VE-03")
def test_many_candidates_an_arm_are_served_ve_03(engine: Engine) -> None:
    store(engine, unit_vectors(3000, dimensions=8))
    indexed(engine)
    [query] = unit_vectors(1, dimensions=8, seed=9)
    arms = {"vector": {"k": 4 * 600}, "keyword": {"k": 4 * 600}}
    assert len(engine.hits("row", vector=query, k=600, arms=arms)) == 600
    assert len(arm(engine, query, 4 * 600, exact_rows=0)) == 4 * 600


@pytest.mark.smoke
@pytest.mark.case("VE-04")
@pytest.mark.parametrize("dimensions", [2000, 2001, 3072])
def test_many_dimensions_are_indexed_ve_04(engine: Engine, dimensions: int) -> None:
    vectors = unit_vectors(30, dimensions=dimensions)
    store(engine, vectors)
    indexed(engine)
    assert engine.value("select ragpg.create_embedding_index(1)") is False  # again is harmless
    [best, *_] = arm(engine, vectors[3], 5, exact_rows=0)
    assert best["mode"] == "hnsw"
    assert best["score"] == pytest.approx(1, abs=1e-3)


@pytest.mark.case("VE-04")
@pytest.mark.parametrize("dimensions", [2000, 2001, 3072])
def test_set_up_can_be_run_again_after_a_failure_ve_04(engine: Engine, dimensions: int) -> None:
    store(engine, unit_vectors(30, dimensions=dimensions))
    engine.connection.execute("""
        create function public.fail() returns event_trigger language plpgsql
          as $$ begin raise exception 'the disk is full'; end $$;
        create event trigger fails on ddl_command_end execute function public.fail()""")
    with pytest.raises(psycopg.errors.RaiseException):
        engine.value("select ragpg.create_embedding_index(1)")
    with pytest.raises(psycopg.errors.RaiseException):
        engine.value("select ragpg.create_embedding_space('other', %s)", dimensions)
    engine.connection.execute("drop event trigger fails")
    assert engine.value("select ragpg.create_embedding_index(1)")
    space = engine.value("select ragpg.create_embedding_space('other', %s)", dimensions)
    assert engine.value("select ragpg.create_embedding_index(%s)", space)


def test_too_many_dimensions_search_exactly(engine: Engine) -> None:
    vectors = unit_vectors(5, dimensions=4100)
    store(engine, vectors)
    assert engine.value("select ragpg.create_embedding_index(1)") is False
    assert [row["mode"] for row in arm(engine, vectors[3], 2, exact_rows=0)] == ["exact"] * 2


@pytest.mark.case("VE-05")
def test_zero_and_missing_vectors_ve_05(engine: Engine) -> None:
    engine.add(
        {"a": "row a", "b": "row b", "n": "row n"},
        vectors={"a": [1, 0, 0], "b": [0.9, 0.1, 0], "n": None},
    )
    with pytest.raises(psycopg.errors.CheckViolation):
        engine.add({"z": "row z"}, vectors={"z": [0, 0, 0]})
    assert engine.search("", vector=[1, 0, 0], k=4) == ["a", "b"]
    exact = arm(engine, [1, 0, 0], 4)
    indexed(engine)
    forced = arm(engine, [1, 0, 0], 4, exact_rows=0)
    assert {row["mode"] for row in exact} == {"exact"}
    assert all(row["mode"].startswith("hnsw") for row in forced)
    for rows in (exact, forced):
        assert [row["score"] for row in rows] == pytest.approx([1, 0.99388], abs=1e-3)
        assert [row["chunk_id"] for row in rows] == [row["chunk_id"] for row in exact]
    # What half precision cannot hold has a direction all the same.
    for query in ([1e-30, 0, 0], [1e30, 0, 0]):
        for options in ({}, {"exact_rows": 0}):
            rows = arm(engine, query, 4, **options)
            assert [row["score"] for row in rows] == pytest.approx([1, 0.99388], abs=1e-3)
    # An all-zero query vector fails its arm, the others answer.
    assert set(engine.search("row", vector=[0, 0, 0])) == {"a", "b", "n"}
    report = engine.value("select report from ragpg.search_run('row', '[0,0,0]')")
    assert "all zeros" in report["vector"]["error"]


@pytest.mark.case("VE-06")
def test_scores_grow_with_similarity_ve_06(engine: Engine) -> None:
    engine.add(
        {name: name for name in ("same", "near", "orthogonal", "opposite")},
        vectors={"same": [1, 0], "near": [0.8, 0.6], "orthogonal": [0, 1], "opposite": [-1, 0]},
    )
    rows = engine.rows("select source, score from ragpg.vector_search('[1,0]')")
    assert [row["source"] for row in rows] == ["same", "near", "orthogonal", "opposite"]
    assert [row["score"] for row in rows] == pytest.approx([1, 0.8, 0, -1], abs=1e-3)
    kept = engine.rows("select source from ragpg.vector_search('[1,0]', min_score => 0.5)")
    assert [row["source"] for row in kept] == ["same", "near"]
    assert engine.search("", vector=[1, 0], arms={"vector": {"min_score": 0.5}}) == ["same", "near"]


def test_a_vector_of_another_length_is_refused(engine: Engine) -> None:
    engine.add({"a": "row a"}, vectors={"a": [1, 0, 0]})
    with pytest.raises(psycopg.DatabaseError, match="has 2 dimensions") as refusal:
        engine.rows("select * from ragpg.vector_search('[1,0]')")
    assert refusal.value.sqlstate == "RG002"
    assert engine.search("row", vector=[1, 0]) == ["a"]


def test_two_models_are_never_mixed(engine: Engine) -> None:
    engine.add({"a": "row a"}, vectors={"a": [1, 0, 0]}, namespace="one")
    engine.add({"b": "row b"}, vectors={"b": [1, 0]}, namespace="two")
    report = engine.value("select report from ragpg.search_run('row', '[1,0]', '{one,two}')")
    assert "different embedding spaces" in report["vector"]["error"]
    assert engine.search("", vector=[1, 0], namespaces=["two"]) == ["b"]
