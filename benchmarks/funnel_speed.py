"""What the funnel adds to `ragpg.search`: the stages behind SQL, one by one and as a whole.

    python benchmarks/funnel_speed.py DSN NAMESPACE [--queries 200] [--profiles measured,seed]

Queries are known items, made from the namespace's own chunks, and embedded before the clock starts.
Each is asked of `ragpg.search` alone (50 rows, psycopg) and of `Client.search` with each profile, in
an order that turns, so that a noisy minute falls on all alike. Milliseconds are wall clock; what a
profile adds is the difference of its own time and that of SQL on the same query.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from typing import TYPE_CHECKING

import psycopg
from measure import percentile, table

import ragpg
from ragpg.providers.onnx import LocalEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

SEARCH = "select * from ragpg.search(%s, %s::vector, %s, k => 50)"
#: What `ragpg.search` does itself.
IN_SQL = {"vector", "keyword", "metadata", "prf", "graph", "sentence", "fusion", "embed"}


def main() -> None:
    """Ask and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("dsn")
    parser.add_argument("namespace")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--profiles", default="fast,measured,seed")
    options = parser.parse_args()
    profiles = options.profiles.split(",")
    times: dict[str, list[float]] = defaultdict(list)
    stages: dict[tuple[str, str], list[float]] = defaultdict(list)
    with (
        psycopg.connect(options.dsn, autocommit=True) as connection,
        ragpg.connect(options.dsn, embedder=LocalEmbedder()) as rag,
    ):
        queries = [
            row[0]
            for row in connection.execute(
                "select array_to_string(terms, ' ') from ragpg.known_items(%s, %s)",
                (options.namespace, options.queries),
            )
        ]
        embedder = LocalEmbedder()
        vectors = [embedder.embed_query(query) for query in queries]
        for number, (query, vector) in enumerate(zip(queries, vectors, strict=True)):
            asked = ["ragpg.search", *profiles]
            for name in asked[number % len(asked) :] + asked[: number % len(asked)]:
                for counts in (False, True):  # the first one only warms the pages
                    began = time.perf_counter()
                    if name == "ragpg.search":
                        connection.execute(
                            SEARCH, (query, str(list(map(float, vector))), [options.namespace])
                        ).fetchall()
                        found = None
                    else:
                        found = rag.search(
                            query,
                            namespace=options.namespace,
                            embedding=vector,
                            profile=name,
                        )
                    if counts:
                        times[name].append(1000 * (time.perf_counter() - began))
                        for stage, told in (found.report if found else {}).items():
                            if ":" not in stage.replace("rerank:", "") and stage not in IN_SQL:
                                stages[name, stage].append(told.ms)
    print(_page(times, stages, len(queries)))


def _page(
    times: dict[str, list[float]], stages: dict[tuple[str, str], list[float]], queries: int
) -> str:
    base = times["ragpg.search"]
    rows: list[list[str | float]] = []
    for name, own in times.items():
        added = [mine - sql for mine, sql in zip(own, base, strict=True)]
        rows.append([name, *_both(own), *(("", "") if name == "ragpg.search" else _both(added))])
    by_stage: list[list[str | float]] = [
        [profile, stage, *_both(figures)]
        for (profile, stage), figures in sorted(stages.items())
        if any(figures)
    ]
    return (
        f"{queries} queries, ms\n\n"
        + table(["search", "p50", "p95", "added p50", "added p95"], rows)
        + "\n\n"
        + table(["profile", "stage", "p50", "p95"], by_stage)
    )


def _both(figures: Sequence[float]) -> tuple[float, float]:
    return percentile(figures, 50), percentile(figures, 95)


if __name__ == "__main__":
    main()
