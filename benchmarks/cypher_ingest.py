"""What the Cypher mirror costs an ingest: the same documents with it off, by hand, and in the transaction.

    python benchmarks/cypher_ingest.py DSN [--documents 400] [--rounds 4]

DSN is a database where extension age can be created; its namespaces bench-off, bench-manual and
bench-transaction are made and dropped. Modes take turns, so that a noisy minute falls on all alike.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time

import psycopg

import ragpg
from ragpg import migrate
from ragpg.testing import HashEmbedder

MODES = ("off", "manual", "transaction")


def main() -> None:
    """Ingest, time, print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("dsn")
    arguments.add_argument("--documents", type=int, default=400)
    arguments.add_argument("--rounds", type=int, default=4)
    given = arguments.parse_args()
    with psycopg.connect(given.dsn, autocommit=True) as db:
        db.execute("create extension if not exists age")
        migrate.upgrade(given.dsn)
        seconds: dict[str, list[float]] = {mode: [] for mode in MODES}
        with ragpg.connect(given.dsn, embedder=HashEmbedder(64)) as rag:
            for turn in range(given.rounds):
                texts = _texts(given.documents, turn)
                for mode in MODES[turn % 3 :] + MODES[: turn % 3]:
                    name = f"bench-{mode}"
                    rag.drop_namespace(name)
                    rag.create_namespace(name)
                    db.execute("select ragpg.set_cypher_mode(%s, %s)", [name, mode])
                    started = time.perf_counter()
                    rag.ingest(texts=texts, namespace=name)
                    if mode == "manual":
                        db.execute("select count(*) from ragpg.sync_cypher_graph(%s)", [name])
                    seconds[mode].append(time.perf_counter() - started)
                    rag.drop_namespace(name)
        base = statistics.median(seconds["off"])
        for mode in MODES:
            median = statistics.median(seconds[mode])
            print(
                f"{mode:12} {median:7.2f} s  {given.documents / median:7.0f} documents/s"
                f"  {median / base:5.2f} x"
            )


def _texts(count: int, turn: int) -> list[tuple[str, str]]:
    """Documents of some chunks that link to each other and name things."""
    rng = random.Random(turn)
    words = ["index", "table", "vacuum", "replica", "Orion", "Falcon", "Delta Works", "planner"]
    return [
        (
            f"{number}.md",
            f"# Page {number}\n\n"
            + "\n\n".join(
                " ".join(rng.choice(words) for _ in range(60))
                + f" [see]({rng.randrange(count)}.md#part)"
                for _ in range(8)
            ),
        )
        for number in range(count)
    ]


if __name__ == "__main__":
    main()
