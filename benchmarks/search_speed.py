"""What a search costs, beside its arms alone and beside what one would write by hand.

    python benchmarks/search_speed.py DSN FOLDER [--queries 50] [--check]

Every query runs in every variant before the next query does, in an order that turns, so that a
noisy minute falls on all variants alike; each variant runs twice and the second time counts, so
that all find the pages they need. No statement may use parallel workers. Baseline 1 is an OR query ranked by ts_rank_cd over a
GIN index; baseline 2 fuses that with pgvector's order by distance in one statement by RRF.
--check exits with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import psycopg
from measure import Meter, Variant, percentile, table
from pgvector import Vector
from pgvector.psycopg import register_vector
from psycopg import sql
from queries import KINDS, Query, sample
from vectors import StaticEmbedder

ARMS = ("vector", "keyword", "graph")
FILTERED_ARMS = ("vector, filtered", "keyword, filtered", "metadata", "graph, filtered")

OURS = [
    Variant("vector", "select * from ragpg.vector_arm(%(vector)s, %(ids)s, null, 50)"),
    Variant("keyword", "select * from ragpg.keyword_arm(%(query)s, %(ids)s, null, 50)"),
    Variant("graph", "select * from ragpg.graph_arm(%(seeds)s, %(ids)s, null, 10)"),
    Variant("search", "select * from ragpg.search_run(%(query)s, %(vector)s, %(names)s)"),
    Variant(
        "vector, filtered", "select * from ragpg.vector_arm(%(vector)s, %(ids)s, %(filter)s, 50)"
    ),
    Variant(
        "keyword, filtered", "select * from ragpg.keyword_arm(%(query)s, %(ids)s, %(filter)s, 50)"
    ),
    Variant("metadata", "select * from ragpg.metadata_arm(%(ids)s, %(filter)s, 50)"),
    Variant(
        "graph, filtered",
        "select * from ragpg.graph_arm(%(filtered_seeds)s, %(ids)s, %(filter)s, 10)",
    ),
    Variant(
        "search, filtered",
        "select * from ragpg.search_run(%(query)s, %(vector)s, %(names)s, %(filter)s)",
    ),
]

RANK_CD = Variant(
    "ts_rank_cd",
    """with words as (
         select string_agg(quote_literal(lexeme), ' | ')::tsquery as query
           from unnest(to_tsvector('english', %(query)s)))
       select lexical.chunk_id, ts_rank_cd(lexical.body, words.query)
         from words, ragpg_bench.lexical
        where lexical.body @@ words.query
        order by 2 desc, 1
        limit 50""",
    prepare=False,
)

NAIVE = """with words as (
         select string_agg(quote_literal(lexeme), ' | ')::tsquery as query
           from unnest(to_tsvector('english', %(query)s))),
       near as (
         select chunk_id, row_number() over (order by distance) as place
           from (select chunk_id, embedding <=> %(vector)s::{type} as distance
                   from {vectors}
                  order by embedding <=> %(vector)s::{type} limit 50) as nearest),
       lexical as (
         select chunk_id, row_number() over (order by score desc) as place
           from (select body.chunk_id, ts_rank_cd(body.body, words.query) as score
                   from words, ragpg_bench.lexical as body
                  where body.body @@ words.query
                  order by score desc limit 50) as ranked),
       fused as (
         select chunk_id, coalesce(1.0 / (60 + near.place), 0)
                        + coalesce(1.0 / (60 + lexical.place), 0) as score
           from near full join lexical using (chunk_id)
          order by score desc limit 10)
       select fused.score, document.source, document.title, chunk.*
         from fused
         join ragpg.chunk on chunk.id = fused.chunk_id and chunk.namespace_id = {namespace}
         join ragpg.document on document.namespace_id = chunk.namespace_id
                            and document.id = chunk.document_id
        order by fused.score desc"""


def prepare_baseline(connection: psycopg.Connection, namespace: int) -> None:
    """The tsvector table of the baselines, in a schema of its own, made once."""
    exists = connection.execute("select to_regclass('ragpg_bench.lexical')").fetchone()
    if exists and exists[0]:
        return
    connection.execute("create schema if not exists ragpg_bench")
    connection.execute(
        """create table ragpg_bench.lexical as
           select chunk.id as chunk_id,
                  to_tsvector('english', chunk.breadcrumb || ' ' || chunk.content) as body
             from ragpg.chunk where chunk.namespace_id = %s""",
        (namespace,),
    )
    connection.execute("create index on ragpg_bench.lexical using gin (body)")
    connection.execute("vacuum analyze ragpg_bench.lexical")


def naive(connection: psycopg.Connection, namespace: int) -> Variant:
    """Baseline 2 for the embedding space of this namespace."""
    row = connection.execute(
        """select embedding_space.id, embedding_space.type from ragpg.namespace
             join ragpg.embedding_space on embedding_space.id = namespace.space_id
            where namespace.id = %s""",
        (namespace,),
    ).fetchone()
    assert row is not None
    statement = sql.SQL(NAIVE).format(
        type=sql.SQL(row[1]),
        vectors=sql.Identifier("ragpg", f"embedding_{row[0]}"),
        namespace=sql.Literal(namespace),
    )
    return Variant("naive fusion", statement.as_string(connection), prepare=False)


def seeds(meter: Meter, parameters: dict[str, Any], *, filtered: bool) -> list[int]:
    """The chunks that the graph arm starts from inside a search: the best ten without it."""
    rows = meter.connection.execute(
        """select chunk_id from ragpg.search(%(query)s, %(vector)s, %(names)s, %(filter)s,
             arms => '{"graph": false}') order by rank""",
        {**parameters, "filter": parameters["filter"] if filtered else None},
    ).fetchall()
    return [row[0] for row in rows]


def measure(meter: Meter, queries: list[Query], embedder: StaticEmbedder, namespace: str) -> None:
    """Runs every query in every variant and keeps the times."""
    connection = meter.connection
    row = connection.execute("select ragpg.namespace_ids(%s)", ([namespace],)).fetchone()
    assert row is not None
    prepare_baseline(connection, row[0][0])
    variants = [*OURS, RANK_CD, naive(connection, row[0][0])]
    vectors = embedder.embed([query.text for query in queries])
    for number, (query, vector) in enumerate(zip(queries, vectors, strict=True)):
        parameters: dict[str, Any] = {
            "query": query.text,
            "vector": Vector(vector),
            "ids": row[0],
            "names": [namespace],
            "filter": f'{{"year": {2000 + number % 25}}}',
        }
        parameters["seeds"] = seeds(meter, parameters, filtered=False)
        parameters["filtered_seeds"] = seeds(meter, parameters, filtered=True)
        turned = variants[number % len(variants) :] + variants[: number % len(variants)]
        for variant in turned:
            # Twice in a row: what another variant has left in the buffers must not matter.
            meter.run(variant, parameters)
            meter.run(variant, parameters, query.kind)


def sums(meter: Meter, arms: tuple[str, ...], groups: list[str], *, trusted: bool) -> list[float]:
    """Per query, what its arms took together."""
    columns = [meter.figures(arm, groups, trusted=trusted) for arm in arms]
    return [sum(row) for row in zip(*columns, strict=True)]


def report(meter: Meter) -> bool:
    """Prints the tables; true when every target is met."""
    names = [variant.name for variant in OURS] + ["ts_rank_cd", "naive fusion"]
    groupings = [*((kind, [kind]) for kind in KINDS), ("all", list(KINDS))]
    for title, trusted in [("backend CPU ms", True), ("wall ms", False)]:
        if trusted and not meter.has_cpu:
            continue
        rows = []
        for name in names:
            cells: list[str | float] = [name]
            for _, groups in groupings:
                figures = meter.figures(name, groups, trusted=trusted)
                cells.append(f"{percentile(figures, 50):.2f} / {percentile(figures, 95):.1f}")
            rows.append(cells)
        print(f"\np50 / p95, {title}\n")
        print(table(["variant", *(title for title, _ in groupings)], rows))
    rows = []
    for name, groups in groupings:
        cells = [name]
        for search, arms in (("search", ARMS), ("search, filtered", FILTERED_ARMS)):
            for trusted in (True, False):
                whole = percentile(meter.figures(search, groups, trusted=trusted), 50)
                cells.append(whole / percentile(sums(meter, arms, groups, trusted=trusted), 50))
        cells.append(ratio(meter, "naive fusion", "search", groups))
        cells.append(ratio(meter, "ts_rank_cd", "keyword", groups))
        rows.append(cells)
    head = ["queries", "search / arms, CPU", "wall", "filtered search / arms, CPU", "wall"]
    print("\nratios of medians\n")
    print(table([*head, "naive fusion / search", "ts_rank_cd / keyword"], rows))
    last = rows[-1]
    figures = [float(last[place]) for place in (1, 3, 5, 6)]
    verdicts = [figures[0] <= 1.25, figures[1] <= 1.25, figures[2] >= 2, figures[3] >= 10]
    print("\ntargets: search <= 1.25 of its arms, naive >= 2, ts_rank_cd >= 10:", verdicts)
    return all(verdicts)


def ratio(meter: Meter, slow: str, fast: str, groups: list[str]) -> float:
    """How many times the median of `slow` is that of `fast`."""
    return percentile(meter.figures(slow, groups), 50) / percentile(meter.figures(fast, groups), 50)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("dsn")
    parser.add_argument("folder", type=Path, help="the folder of corpus.py; holds the model too")
    parser.add_argument("--namespace", default="debdocs")
    parser.add_argument("--queries", type=int, default=50, help="of each kind")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with psycopg.connect(options.dsn, autocommit=True) as connection:
        register_vector(connection)
        # Else the baseline could not return fifty neighbours.
        connection.execute("set hnsw.ef_search = 100")
        # The account of a backend knows nothing of its workers.
        connection.execute("set max_parallel_workers_per_gather = 0")
        queries = sample(connection, options.namespace, options.queries)
        meter = Meter(connection)
        measure(meter, queries, StaticEmbedder(options.folder), options.namespace)
        passed = report(meter)
    sys.exit(1 if options.check and not passed else 0)


if __name__ == "__main__":
    main()
