"""Fusion and keyword ranking against the slow and obvious way."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from .engine import Engine

quick = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
rankings = st.dictionaries(
    st.sampled_from(["graph", "keyword", "metadata", "vector", "own"]),
    st.tuples(
        st.lists(st.integers(1, 12), unique=True, max_size=8), st.sampled_from([0, 0.2, 1, 1.3])
    ),
)


@quick
@given(arms=rankings, rrf_k=st.sampled_from([0, 1, 60, 2147483647]))
def test_fusion_is_the_sum_of_reciprocal_ranks(
    engine: Engine, arms: dict[str, tuple[list[int], float]], rrf_k: int
) -> None:
    hits = [
        [name, 1 + chunk % 2, chunk, rank, 1 / rank, weight]
        for name, (chunks, weight) in arms.items()
        for rank, chunk in enumerate(chunks, 1)
    ]
    scores: dict[int, float] = defaultdict(float)
    found_by: dict[int, int] = defaultdict(int)
    for _, (chunks, weight) in sorted(arms.items()):
        for rank, chunk in enumerate(chunks, 1):
            scores[chunk] += weight / (rrf_k + rank)
            found_by[chunk] += 1
    expected = sorted(scores, key=lambda chunk: (-scores[chunk], -found_by[chunk], chunk))
    rows = engine.rows(
        """select * from ragpg.rrf(array(
             select row(hit ->> 0, hit ->> 1, hit ->> 2, hit ->> 3, hit ->> 4, null, hit ->> 5)::ragpg.arm_hit
               from jsonb_array_elements(%s) as hit), %s)""",
        json.dumps(hits),
        rrf_k,
    )
    assert [row["chunk_id"] for row in rows] == expected
    assert all(math.isclose(row["score"], scores[row["chunk_id"]]) for row in rows)
    assert all(len(row["arms"]) == found_by[row["chunk_id"]] for row in rows)


LANGUAGES = {"one": "english", "two": "german", "three": "simple"}
WORDS = [f"w{number}ing" for number in range(400)]
#: Zipf, so that there are words in nearly every text, and rare ones.
CUMULATED = list(itertools.accumulate(1 / (rank + 1) for rank in range(len(WORDS))))


@pytest.fixture
def texts(engine: Engine) -> Engine:
    """Short texts, 4,500 in the first of three namespaces; all have the words page and error."""
    rng = random.Random(8)
    for name, language in LANGUAGES.items():
        engine.value("select ragpg.create_namespace(%s, language => %s)", name, language)
    rows = []
    for number in range(6000):
        words = rng.choices(WORDS, cum_weights=CUMULATED, k=rng.randint(2, 12))
        # The best for both words are not among those where the word that is read first is strong.
        pages, errors = rng.choice([(1, 1), (1, 1), (1, 3), (12, 2)])
        words += ["page"] * pages + ["error"] * errors
        rows.append((max(1, number % 8 - 4), " ".join(words), json.dumps({"g": number % 7})))
    engine.connection.execute("""
        insert into ragpg.document (namespace_id, source) values (1, 'd'), (2, 'd'), (3, 'd');
        create temporary table given (namespace_id int, content text, metadata jsonb, n int generated always as identity)""")
    with engine.connection.cursor().copy(
        "copy given (namespace_id, content, metadata) from stdin"
    ) as copy:
        for row in rows:
            copy.write_row(row)
    engine.connection.execute("""
        insert into ragpg.chunk (namespace_id, document_id, ordinal, content, metadata, content_hash)
        select namespace_id, namespace_id, n, content, metadata, 'x' from given order by n""")
    while engine.value("select ragpg.fold_statistics()") > 0:
        pass
    engine.connection.execute("analyze")
    return engine


queries = st.lists(
    st.sampled_from(WORDS[:40]) | st.sampled_from([*WORDS, "page", "error", "absent"]),
    min_size=1,
    max_size=9,
).map(" ".join)


@quick
@given(
    query=queries | st.just("page error"),
    names=st.lists(st.sampled_from(sorted(LANGUAGES)), min_size=1, unique=True),
    group=st.none() | st.integers(0, 7),
    k=st.sampled_from([1, 5, 10, 50]),
)
def test_the_keyword_top_is_that_of_scoring_everything(
    texts: Engine, query: str, names: list[str], group: int | None, k: int
) -> None:
    filter = None if group is None else json.dumps({"g": group})
    found = texts.rows(
        "select chunk_id, score from ragpg.keyword_arm(%s, ragpg.namespace_ids(%s), %s, %s)",
        query,
        names,
        filter,
        k,
    )
    everything: list[Any] = texts.rows(
        """
        with weights as (
          select ('{' || string_agg(ragpg.lexeme_slot(word) || ':' || bound, ',') || '}/536870912')::sparsevec as vector
            from ragpg.keyword_terms(%s, ragpg.namespace_ids(%s)))
        select chunk_id, -(bm25 <#> weights.vector) as score
          from ragpg.chunk_keyword as keyword join ragpg.chunk on chunk.id = chunk_id, weights
         where keyword.namespace_id = any (ragpg.namespace_ids(%s)) and bm25 <#> weights.vector < 0
           and (%s::jsonb is null or metadata @> %s::jsonb)
         order by 2 desc, 1 limit %s""",
        query,
        names,
        names,
        filter,
        filter,
        k,
    )
    assert [row["chunk_id"] for row in found] == [row["chunk_id"] for row in everything]
    assert all(
        math.isclose(one["score"], other["score"], rel_tol=1e-5)
        for one, other in zip(found, everything, strict=True)
    )
