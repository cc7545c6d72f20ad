"""Sentence vectors: where they are kept, what the arm makes of them, and that nothing stays behind."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.rows import dict_row

from ragpg import migrate

from .engine import Engine, array_of_vectors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .engine import Row


def chunk_ids(engine: Engine) -> dict[str, int]:
    rows = engine.rows("""
        select document.source, chunk.id from ragpg.chunk
          join ragpg.document on (document.namespace_id, document.id) = (chunk.namespace_id, chunk.document_id)""")
    return {row["source"]: row["id"] for row in rows}


def split(
    engine: Engine, sentences: Mapping[str, Sequence[Sequence[float]]], namespace: str = "default"
) -> int:
    """Store the vectors of sentences by source."""
    ids = chunk_ids(engine)
    rows = [
        (ids[source], number, vector)
        for source, vectors in sentences.items()
        for number, vector in enumerate(vectors)
    ]
    stored = engine.value(
        f"select ragpg.store_sentences(%s, %s, %s, %s, %s, {array_of_vectors(row[2] for row in rows)})",
        namespace,
        [row[0] for row in rows],
        [row[1] for row in rows],
        [10 * row[1] for row in rows],
        [10 * row[1] + 9 for row in rows],
    )
    assert isinstance(stored, int)
    return stored


def arm(engine: Engine, vector: Sequence[float], sources: Sequence[str], k: int = 10) -> list[Row]:
    ids = chunk_ids(engine)
    names = {id: source for source, id in ids.items()}
    rows = engine.rows(
        "select * from ragpg.sentence_arm(%s, ragpg.namespace_ids('{default}'), %s, %s)",
        json.dumps(list(vector)),
        [ids[source] for source in sources],
        k,
    )
    assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
    return [row | {"source": names[row["chunk_id"]]} for row in rows]


@pytest.fixture
def three(engine: Engine) -> Engine:
    """Three chunks whose wholes are equally far from [1, 0], and whose sentences are not."""
    engine.add(dict.fromkeys("abc", "text"), vectors={name: [0.6, 0.8] for name in "abc"})
    return engine


def test_a_chunk_is_worth_its_best_sentence(three: Engine) -> None:
    assert split(three, {"a": [[0, 1], [0, 2]], "b": [[0, 1], [3, 0]], "c": [[1, 1]]}) == 5
    rows = arm(three, [2, 0], "abc")
    assert [row["source"] for row in rows] == ["b", "c", "a"]
    # The wholes are alike, so they add the same to each.
    gaps = [before["score"] - after["score"] for before, after in itertools.pairwise(rows)]
    assert gaps == pytest.approx([0.3 * (1 - 0.5**0.5), 0.3 * 0.5**0.5], abs=1e-3)
    assert {row["mode"] for row in rows} == {"maxsim"}
    assert [row["source"] for row in arm(three, [1, 0], "ac", k=1)] == ["c"]


def test_the_query_moves_towards_the_best_candidates(engine: Engine) -> None:
    wholes: dict[str, list[float]] = {"a": [0, 1, 0], "b": [0.5, 0.8, 0], "c": [0.5, 0, 0.8]}
    engine.add(dict.fromkeys("abc", "text"), vectors=wholes)
    split(engine, {name: [[0, 0, 1]] for name in "abc"})
    # b and c are equally near the query; b is nearer to the first candidate.
    assert [row["source"] for row in arm(engine, [1, 0, 0], "abc")][:2] == ["b", "c"]
    assert [row["source"] for row in arm(engine, [1, 0, 0], "cba")][:2] == ["c", "b"]
    [row] = arm(engine, [1, 0, 0], "a")
    # Moved by half of 6/11 towards a, the query is (1, 0.2727): a has a cosine with it.
    assert row["score"] == pytest.approx(0.7 * 0.2727 / (1 + 0.2727**2) ** 0.5, abs=1e-3)


def test_a_chunk_without_sentences_counts_by_its_whole(three: Engine) -> None:
    split(three, {"b": [[1, 0]]})
    rows = arm(three, [1, 0], "abc")
    assert [(row["source"], row["mode"]) for row in rows] == [
        ("b", "maxsim"),
        ("a", None),
        ("c", None),
    ]
    assert rows[1]["score"] == rows[2]["score"] < rows[0]["score"]


def test_without_any_sentences_nothing_comes_back(three: Engine) -> None:
    assert arm(three, [1, 0], "abc") == []
    split(three, {"b": [[1, 0]]})
    assert arm(three, [1, 0], "ac") == []
    assert arm(three, [1, 0], []) == []


def test_the_list_joins_the_fusion(three: Engine) -> None:
    split(three, {"a": [[0, 1]], "b": [[0, 1]], "c": [[1, 0]]})
    without = three.hits("text", vector=[1, 0], arms={"sentence": False})
    assert without[0]["source"] == "a"
    assert "sentence" not in without[0]["arms"]
    assert three.hits("text", vector=[1, 0])[0]["source"] == "c"
    hits = three.hits("text", vector=[1, 0], arms={"sentence": {"k": 5, "weight": 9}})
    assert hits[0]["source"] == "c"
    assert hits[0]["arms"]["sentence"]["rank"] == 1


def test_a_vector_of_another_length_is_refused(three: Engine) -> None:
    split(three, {"a": [[1, 0]]})
    with pytest.raises(psycopg.errors.Error, match="3 dimensions"):
        arm(three, [1, 0, 0], "a")
    with pytest.raises(psycopg.errors.Error, match="all zeros"):
        arm(three, [0, 0], "a")


def test_sentences_go_with_their_chunk_and_stay_with_an_unchanged_one(engine: Engine) -> None:
    def stored() -> set[int]:
        return {row["chunk_id"] for row in engine.rows("select chunk_id from ragpg.sentence_1")}

    engine.add({"a": "one", "b": "two"}, vectors={"a": [1, 0], "b": [0, 1]})
    ids = chunk_ids(engine)
    split(engine, {"a": [[1, 0]], "b": [[0, 1]]})
    assert stored() == set(ids.values())
    # The same text under another title: the chunk stays, and so do its sentences.
    engine.add({"a": "one"}, vectors={"a": [1, 0]}, title="New", fingerprint="2")
    assert stored() == set(ids.values())
    engine.add({"b": "other"}, vectors={"b": [0, 1]}, fingerprint="3")
    assert stored() == {ids["a"]}
    engine.value("select ragpg.delete_documents('default', '{a}')")
    assert stored() == set()
    engine.add({"a": "one"}, vectors={"a": [1, 0]})
    split(engine, {"a": [[1, 0]]})
    engine.value("select ragpg.drop_namespace('default')")
    assert stored() == set()


def test_what_is_missing_is_listed_page_by_page(three: Engine) -> None:
    query = "select chunk_id from ragpg.chunks_without_sentences('default', %s, 2)"
    ids = sorted(chunk_ids(three).values())
    assert [row["chunk_id"] for row in three.rows(query, 0)] == ids[:2]
    split(three, {"a": [[1, 0]]})
    left = [id for id in ids if id != chunk_ids(three)["a"]]
    assert [row["chunk_id"] for row in three.rows(query, 0)] == left
    assert [row["chunk_id"] for row in three.rows(query, left[0])] == left[1:]


def test_ingestion_keeps_sentences_where_somebody_said_so(three: Engine) -> None:
    split(three, {"a": [[1, 0]]})
    assert three.value("select ragpg.keeps_sentences('default')") is False
    three.value("select ragpg.keep_sentences('default')")
    assert three.value("select ragpg.keeps_sentences('default')") is True
    three.value("select ragpg.keep_sentences('default', false)")
    assert three.value("select ragpg.keeps_sentences('default')") is False


def test_scores_are_the_two_best_cosines(three: Engine) -> None:
    split(three, {"a": [[0, 1], [2, 0], [1, 1]], "b": [[0, 3]]})
    ids = chunk_ids(three)
    query = "select * from ragpg.sentence_scores('[2,0]', '{default}', %s, %s)"
    rows = three.rows(query, [ids["b"], ids["c"], ids["a"]], "test")
    assert [row["chunk_id"] for row in rows] == sorted([ids["a"], ids["b"]])
    found = {row["chunk_id"]: (row["best"], row["runner_up"]) for row in rows}
    assert found[ids["a"]] == pytest.approx((1, 0.5**0.5), abs=1e-3)
    assert found[ids["b"]] == (0, 0)
    assert three.rows(query, list(ids.values()), "another model") == []
    with pytest.raises(psycopg.errors.Error, match="3 dimensions"):
        three.rows(query.replace("[2,0]", "[2,0,0]"), [1], None)


def test_storing_twice_or_for_a_deleted_chunk_changes_nothing(three: Engine) -> None:
    assert split(three, {"a": [[1, 0]]}) == 1
    assert split(three, {"a": [[0, 1]]}) == 0
    gone = "select ragpg.store_sentences('default', '{999}', '{0}', '{0}', '{1}', '{\"[1,0]\"}')"
    assert three.value(gone) == 0
    three.value("select ragpg.create_namespace('bare')")
    with pytest.raises(psycopg.errors.Error, match="no embedding space"):
        three.value(gone.replace("default", "bare"))
    assert three.rows("select * from ragpg.chunks_without_sentences('bare')") == []
    assert three.value("select ragpg.keeps_sentences('bare')") is False


def test_candidates_are_looked_up_by_key(engine: Engine) -> None:
    engine.value(
        "select ragpg.create_namespace('default', space_id => ragpg.create_embedding_space('test', 8))"
    )
    engine.value("select ragpg.create_sentence_space(1)")
    engine.rows("""
        with document as (
          insert into ragpg.document (namespace_id, source) values (1, 'd') returning id)
        insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)
        select 1, document.id, n, 'x', '' from document, generate_series(1, 3000) as n returning id""")
    engine.rows("""
        insert into ragpg.sentence_1
        select 1, chunk.id, n, 0, 1, array_fill(1, '{8}')::vector
          from ragpg.chunk, generate_series(1, 4) as n returning 1""")
    engine.connection.execute("analyze ragpg.sentence_1")
    plan = "\n".join(
        str(*row.values())
        for row in engine.rows("""
            explain select chunk_id, max(1 - (embedding <=> array_fill(1, '{8}')::halfvec))
              from ragpg.sentence_1 where namespace_id = any ('{1}') and chunk_id = any ('{5,70,900}')
             group by chunk_id""")
    )
    assert "sentence_1_pkey" in plan


def test_whoever_may_use_chunks_may_use_their_sentences(engine: Engine) -> None:
    engine.connection.execute("grant select on ragpg.chunk to public")
    engine.add({"a": "text"}, vectors={"a": [1, 0]})
    split(engine, {"a": [[1, 0]]})
    grants = engine.value("select relacl::text from pg_class where relname = 'sentence_1'")
    assert "=r/" in grants.replace("postgres=", "")


def test_going_down_removes_the_tables_and_coming_up_brings_none(database: str) -> None:
    with psycopg.connect(database, autocommit=True, row_factory=dict_row) as connection:
        engine = Engine(connection)
        engine.add({"a": "text"}, vectors={"a": [1, 0]})
        split(engine, {"a": [[1, 0]]})
        assert migrate.is_embedding_table("table", "sentence_1")
        migrate.downgrade(database, "0002")
        assert engine.value("select to_regclass('ragpg.sentence_1')") is None
        migrate.upgrade(database)
        assert engine.value("select to_regclass('ragpg.sentence_1')") is None
        assert engine.value("select count(*) from ragpg.embedding_1") == 1
