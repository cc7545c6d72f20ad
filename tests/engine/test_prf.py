"""Pseudo-relevance feedback: the words of the best hits widen the query."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from .engine import Engine

DOCUMENTS = {
    "beetle": "The beetle eats aphids. A ladybird is a beetle with spots.",
    "ladybird": "A ladybird with spots lays eggs near aphids.",
    "spots": "Spots on wings warn birds: the ladybird tastes bitter.",
    "tractor": "The tractor needs oil and a new filter.",
    "oil": "Oil for the engine, twice a year.",
    "shed": "Keep the shed locked at night.",
}


@pytest.fixture
def garden(engine: Engine) -> Engine:
    engine.add(
        DOCUMENTS,
        metadata={source: {"length": len(source)} for source in DOCUMENTS},
        vectors={source: [1, len(source) / 10] for source in DOCUMENTS},
    )
    engine.value("select ragpg.fold_statistics()")
    return engine


def ids(engine: Engine, *sources: str) -> list[int]:
    return [
        engine.value(
            """select chunk.id from ragpg.chunk join ragpg.document
                 on document.namespace_id = chunk.namespace_id and document.id = chunk.document_id
                where document.source = %s""",
            source,
        )
        for source in sources
    ]


def prf(
    engine: Engine, query: str, seeds: list[int], filter: str | None = None, k: int = 10
) -> list[str]:
    rows = engine.rows(
        """select document.source from ragpg.prf_arm(%s, ragpg.namespace_ids('{default}'), %s, %s, %s) as hit
             join ragpg.chunk on chunk.namespace_id = hit.namespace_id and chunk.id = hit.chunk_id
             join ragpg.document on document.namespace_id = chunk.namespace_id and document.id = chunk.document_id
            order by hit.rank""",
        query,
        filter,
        k,
        seeds,
    )
    return [row["source"] for row in rows]


def test_a_chunk_without_a_word_of_the_query_is_found_by_the_words_of_the_hits(
    garden: Engine,
) -> None:
    assert garden.search("beetle", arms={"vector": False}) == ["beetle"]
    found = prf(garden, "beetle", ids(garden, "beetle"))
    assert found[0] == "beetle"
    assert set(found) == {"beetle", "ladybird", "spots"}


def test_it_joins_the_fusion_where_it_is_asked_for(garden: Engine) -> None:
    hits = garden.hits("beetle", arms={"prf": {"weight": 0.2}, "vector": False})
    assert hits[0]["source"] == "beetle"
    assert set(hits[0]["arms"]) == {"keyword", "prf"}
    assert hits[1]["arms"].keys() == {"prf"}
    assert [hit["source"] for hit in hits].count("beetle") == 1
    report = garden.value(
        "select report from ragpg.search_run('beetle', arms => %s)", json.dumps(["keyword", "prf"])
    )
    assert report["prf"]["rows"] == 3


def test_the_terms_carry_their_weights(garden: Engine) -> None:
    rows = garden.rows("select * from ragpg.expand_query('beetle')")
    asked = [row for row in rows if row["asked"]]
    assert [row["word"] for row in asked] == ["beetl"]
    assert {"aphid", "ladybird", "spot"} <= {row["word"] for row in rows}
    assert "^beetl" not in {row["word"] for row in rows}
    assert not any(row["word"].startswith("@") for row in rows)
    weights = [row["weight"] for row in rows]
    assert weights == sorted(weights, reverse=True)
    # The whole weight is that of the query, half of it the query's own.
    own = garden.value("select sum(weight) from ragpg.query_terms('beetle')")
    assert sum(weights) == pytest.approx(own)
    [alone] = garden.rows("select * from ragpg.expand_query('beetle', share => 0)")[:1]
    assert (alone["word"], alone["weight"]) == ("beetl", pytest.approx(own))
    assert len(garden.rows("select * from ragpg.expand_query('beetle', terms => 2)")) <= 3


def test_seeds_of_the_callers_own_are_the_feedback(garden: Engine) -> None:
    words = {
        row["word"]
        for row in garden.rows(
            "select * from ragpg.expand_query('beetle', seeds => %s)", ids(garden, "tractor")
        )
    }
    assert {"tractor", "oil", "filter"} <= words
    assert "aphid" not in words


def test_the_filter_holds_for_seeds_and_for_what_they_bring(garden: Engine) -> None:
    seeds = ids(garden, "beetle", "ladybird")
    assert prf(garden, "beetle", seeds, '{"length": 8}') == ["ladybird"]
    assert prf(garden, "beetle", seeds, '{"length": {"lt": 6}}') == ["spots"]


def test_equal_input_gives_equal_output_and_k_cuts_the_same_list(garden: Engine) -> None:
    seeds = ids(garden, "beetle")
    whole = prf(garden, "beetle", seeds)
    assert prf(garden, "beetle", seeds) == whole
    assert prf(garden, "beetle", seeds, k=2) == whole[:2]


@pytest.mark.parametrize("query", ["", "zzz unknown", "' | & ! :* ( <->", "the of and"])
def test_any_query_is_legal(garden: Engine, query: str) -> None:
    seeds = ids(garden, "beetle")
    assert set(prf(garden, query, seeds)) <= set(DOCUMENTS)
    assert prf(garden, query, []) == []
    assert prf(garden, query, [-1]) == []
    assert prf(garden, query, seeds, k=0) == []
    garden.rows("select * from ragpg.expand_query(%s)", query)
    garden.rows("select * from ragpg.query_terms(%s)", query)


def test_seeds_of_another_namespace_say_nothing(garden: Engine) -> None:
    garden.add({"secret": "The beetle code is quxxo."}, namespace="other")
    garden.value("select ragpg.fold_statistics()")
    words = garden.rows(
        "select * from ragpg.expand_query('beetle', seeds => %s)", ids(garden, "secret")
    )
    assert [row["word"] for row in words] == ["beetl"]


def test_terms_of_a_query_tell_the_unknown_ones(garden: Engine) -> None:
    rows = garden.rows("select * from ragpg.query_terms('ladybird quxxo')")
    assert [(row["word"], row["documents"]) for row in rows] == [("quxxo", 0), ("ladybird", 3)]
    assert rows[0]["weight"] > rows[1]["weight"] > 0
    with pytest.raises(psycopg.Error) as caught:
        garden.rows("select * from ragpg.query_terms('x', '{nowhere}')")
    assert caught.value.sqlstate == "RG001"


def test_the_best_score_stays_below_the_sum_of_the_weights(garden: Engine) -> None:
    best = garden.rows("select * from ragpg.keyword_search('ladybird spots')")[0]["score"]
    total = garden.value("select sum(weight) from ragpg.query_terms('ladybird spots')")
    assert 0 < best < total
