"""Keyword scores are BM25, and the pruned top k is the exact top k."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .engine import Engine


def documents(count: int, seed: int = 5) -> dict[str, str]:
    """Texts of Zipf-like words, so that there are rare and very common ones."""
    rng = random.Random(seed)
    words = [f"w{''.join(rng.choices('bcdfgklmnprst', k=4))}x" for _ in range(400)]
    weights = [1 / (place + 1) for place in range(len(words))]
    return {
        f"d{number:04d}": " ".join(rng.choices(words, weights, k=rng.randint(5, 80)))
        for number in range(count)
    }


BRUTE_FORCE = """
with term as (select * from ragpg.keyword_terms(%(query)s, ragpg.namespace_ids(%(names)s)))
select chunk_id, -(bm25 <#> (select ('{' || string_agg(ragpg.lexeme_slot(word) || ':' || bound, ',') || '}/536870912')::sparsevec from term)) as score
  from ragpg.chunk_keyword
 where namespace_id = any (ragpg.namespace_ids(%(names)s))
   and lexemes @@ (select string_agg(ragpg.quote_lexeme(word), '|')::tsquery from term)
 order by score desc, chunk_id limit %(k)s"""


@pytest.mark.parametrize("k", [1, 10, 50])
def test_the_top_is_exact(engine: Engine, k: int) -> None:
    texts = documents(3000)
    engine.add(texts)
    engine.add(documents(500, seed=6), namespace="second")
    rng = random.Random(k)
    for names in (["default"], ["default", "second"]):
        for _ in range(25):
            words = texts[rng.choice(sorted(texts))].split()
            query = " ".join(rng.sample(words, min(len(words), rng.randint(1, 11))))
            [*exact] = engine.connection.execute(
                BRUTE_FORCE, {"query": query, "names": names, "k": k}
            )
            found = engine.rows(
                "select * from ragpg.keyword_arm(%s, ragpg.namespace_ids(%s), null, %s)",
                query,
                names,
                k,
            )
            # Ties may differ where scores were rounded to four decimals; scores may not.
            assert [row["score"] for row in found] == pytest.approx(
                [row["score"] for row in exact], abs=2e-3
            )
            assert [row["rank"] for row in found] == list(range(1, len(found) + 1))


def test_scores_are_bm25(engine: Engine) -> None:
    """By hand, k1 = 1.2, b = 0.75: 'apple' is in 2 of 3 chunks of 2, 2 and 4 words."""
    engine.add({"a": "apple pear", "b": "plum pear", "c": "apple apple plum grape"})
    engine.value("select ragpg.rebuild_keywords('default')")
    engine.value("select ragpg.fold_statistics()")
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    average = 8 / 3
    expected = {
        source: idf * tf / (tf + 1.2 * (0.25 + 0.75 * length / average))
        for source, tf, length in [("a", 1, 2), ("c", 2, 4)]
    }
    rows = engine.rows("select source, score from ragpg.keyword_search('apple')")
    assert {row["source"]: row["score"] for row in rows} == pytest.approx(expected, abs=1e-3)


STORED = "select chunk_id, length, bm25::text, lexemes::text from ragpg.chunk_keyword order by 1"


@pytest.mark.parametrize("believed", [None, 1.0, 9.5, 400.0])
def test_a_drift_is_followed_without_the_texts(engine: Engine, believed: float | None) -> None:
    """Rows made of rows are those made of texts, even if the average was not what it said."""
    engine.add(documents(120))
    texts = {"often": "apple " * 900 + "pear", "short": "x", "empty": "---", "^odd": "@a ^b -O2"}
    texts |= {f"long{n}": " ".join(f"word{i % (90 + n)}" for i in range(400)) for n in range(60)}
    engine.add(texts)
    engine.value("select ragpg.fold_statistics()")
    if believed is not None:
        engine.rows("update ragpg.namespace set average_length = %s returning id", believed)
    assert engine.value("select ragpg.rebuild_keywords('default', 0.01)") is True
    told = engine.rows(STORED)
    engine.value("select ragpg.fold_statistics()")
    assert engine.wrong_statistics() == []
    engine.value("select ragpg.rebuild_keywords('default')")
    assert engine.rows(STORED) == told
    # A row that contradicts itself is left to the text.
    unclear = """select count(*) from ragpg.namespace, ragpg.chunk_keyword as kept,
      ragpg.rescaled_row((kept.length + 1)::real, kept.bm25, kept.lexemes, average_length, 9) as fresh
      where fresh.bm25 is null"""
    assert engine.value(unclear) == 120 + len(texts)


def test_statistics_follow_every_write(engine: Engine) -> None:
    engine.add(documents(50))
    engine.add(documents(30, seed=9), namespace="second")
    engine.value(
        "select ragpg.delete_documents('default', array(select format('d%s', lpad(n::text, 4, '0')) from generate_series(0, 19) n))"
    )
    engine.connection.execute(
        "update ragpg.chunk set content = 'changed ' || content where id % 3 = 0"
    )
    engine.value("select ragpg.fold_statistics()")
    assert engine.wrong_statistics() == []
    assert engine.value("select ragpg.drop_namespace('second')")
    assert engine.value("select count(*) from ragpg.lexeme_statistics where namespace_id = 2") == 0
    assert engine.value("select count(*) from ragpg.chunk_keyword where namespace_id = 2") == 0


def test_what_is_not_folded_yet_is_found(engine: Engine) -> None:
    engine.add({"a": "apple pear"})
    engine.connection.execute("""
        with added as (insert into ragpg.document (namespace_id, source) values (1, 'mine') returning id)
        insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)
        select 1, id, 0, 'quince', 'x' from added""")
    assert engine.value("select count(*) from ragpg.keyword_log") == 1
    assert engine.keyword("quince") == ["mine"]
