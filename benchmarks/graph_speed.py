"""Expansion in a large graph, and what ingestion pays for the graph as the corpus grows.

    python -m benchmarks.graph_speed --dsn postgresql:///scratch --documents 100000 --links 1000000
    python -m benchmarks.graph_speed --dsn postgresql:///scratch --growth 2000,8000,32000

The first makes a namespace `graph-speed` with a skewed graph (a few hubs have most links) and times
one and two steps from ten seeds. The second loads documents of generated text, whose titles the
texts mention, with the graph's triggers on and off.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import statistics
import time
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMESPACE = "graph-speed"
TRIGGERS = {
    "document": ("write_topics_insert", "write_topics_update"),
    "chunk": ("write_mentions_insert", "write_mentions_update"),
    "link": ("write_links_insert",),
}
SYLLABLES = re.findall("..", "kalomirentavorsinubeldragonhaijopelquistoulwexyanzor")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--links", type=int, default=1_000_000)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--growth", help="sizes, as in 2000,8000,32000")
    options = parser.parse_args()
    with psycopg.connect(options.dsn, autocommit=True) as connection:
        if options.growth:
            growth(connection, [int(size) for size in options.growth.split(",")])
        else:
            owner = make(connection, options.documents, options.links)
            expansion(connection, owner, options.documents, options.seeds)
        connection.execute("select ragpg.drop_namespace(%s)", (NAMESPACE,))


def make(connection: psycopg.Connection[Any], documents: int, links: int) -> int:
    """A graph whose targets are skewed: the square of a uniform draw."""
    connection.execute("select ragpg.drop_namespace(%s)", (NAMESPACE,))
    owner: int = connection.execute("select ragpg.create_namespace(%s)", (NAMESPACE,)).fetchone()[0]  # type: ignore[index]
    with connection.transaction():
        switch(connection, "disable")
        connection.execute(
            "insert into ragpg.document (namespace_id, source)"
            " select %s, 'd' || n from generate_series(1, %s) as n",
            (owner, documents),
        )
        connection.execute(
            "insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)"
            " select namespace_id, id, 0, source, 'x' from ragpg.document where namespace_id = %s",
            (owner,),
        )
        connection.execute(
            """
            insert into ragpg.link (namespace_id, document_id, target, target_id, matches)
            select %(owner)s, near.id, far.source, far.id, 1
              from (select 1 + floor(random() * %(documents)s)::integer as near,
                           1 + floor(power(random(), 3) * %(documents)s)::integer as far
                      from generate_series(1, %(links)s)) as pair
              join (select id, source, row_number() over (order by id) as place from ragpg.document
                     where namespace_id = %(owner)s) as near on near.place = pair.near
              join (select id, source, row_number() over (order by id) as place from ragpg.document
                     where namespace_id = %(owner)s) as far on far.place = pair.far
             where near.id <> far.id
            on conflict do nothing
            """,
            {"owner": owner, "documents": documents, "links": links},
        )
        switch(connection, "enable")
    connection.execute("vacuum analyze")
    return owner


def expansion(
    connection: psycopg.Connection[Any], owner: int, documents: int, seeds: int, rounds: int = 60
) -> None:
    rng = random.Random(5)
    first = connection.execute(
        "select min(id), max(id) from ragpg.document where namespace_id = %s", (owner,)
    ).fetchone()
    chunk = connection.execute(
        "select min(id) from ragpg.chunk where namespace_id = %s", (owner,)
    ).fetchone()
    assert first is not None
    assert chunk is not None
    statements = {
        "walk, 1 step": "select count(*) from ragpg.personalized_pagerank(%(owner)s, %(ids)s, hops => 1)",
        "walk, 2 steps": "select count(*) from ragpg.personalized_pagerank(%(owner)s, %(ids)s, hops => 2)",
        "arm, 1 hop": "select count(*) from ragpg.graph_arm(%(chunks)s, array[%(owner)s], null, 10)",
        "arm, 2 hops": "select count(*) from ragpg.graph_arm(%(chunks)s, array[%(owner)s], null, 10, hops => 2)",
    }
    print(f"{documents:,} documents, {seeds} seeds, {rounds} rounds: ms p50 / p95")
    for name, statement in statements.items():
        spent = []
        for turn in range(rounds + 5):
            places = [rng.randrange(documents) for _ in range(seeds)]
            began = time.perf_counter()
            connection.execute(
                statement,
                {
                    "owner": owner,
                    "ids": [first[0] + place for place in places],
                    "chunks": [chunk[0] + place for place in places],
                },
            ).fetchall()
            if turn >= 5:
                spent.append((time.perf_counter() - began) * 1000)
        spent.sort()
        print(f"  {name:14} {statistics.median(spent):6.2f} / {spent[int(len(spent) * 0.95)]:.2f}")


def growth(connection: psycopg.Connection[Any], sizes: Sequence[int]) -> None:
    print("documents  seconds off  seconds on  ratio  mentions")
    for size in sizes:
        documents = list(corpus(size))
        spent = {}
        for mode in ("disable", "enable"):
            switch(connection, mode)
            connection.execute("select ragpg.drop_namespace(%s)", (NAMESPACE,))
            began = time.perf_counter()
            load(connection, documents)
            spent[mode] = time.perf_counter() - began
        switch(connection, "enable")
        mentions = connection.execute(
            "select count(*) from ragpg.mention join ragpg.namespace on namespace.id = namespace_id"
            " where namespace.name = %s",
            (NAMESPACE,),
        ).fetchone()
        assert mentions is not None
        off, on = spent["disable"], spent["enable"]
        print(f"{size:9,} {off:12.1f} {on:11.1f} {on / off:6.2f} {mentions[0]:9,}")


def switch(connection: psycopg.Connection[Any], mode: str) -> None:
    for table, triggers in TRIGGERS.items():
        for trigger in triggers:
            connection.execute(f"alter table ragpg.{table} {mode} trigger {trigger}".encode())


def corpus(size: int) -> Any:
    """Title and text of documents; a text names three titles of others, now and then of hubs."""
    rng = random.Random(11)
    words = [
        "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(1, 4))) for _ in range(20_000)
    ]
    titles = [
        f"{rng.choice(words).title()} {rng.choice(words).title()} {n % 97}" for n in range(size)
    ]
    for number, title in enumerate(titles):
        text = [rng.choice(words[: 200 if rng.random() < 0.5 else 20_000]) for _ in range(120)]
        for _ in range(3):
            text.insert(rng.randrange(len(text)), titles[int(rng.random() ** 2 * size)])
        yield f"d{number}", title, " ".join(text)


def load(connection: psycopg.Connection[Any], documents: Sequence[tuple[str, str, str]]) -> None:
    owner = connection.execute("select ragpg.create_namespace(%s)", (NAMESPACE,)).fetchone()
    for at in range(0, len(documents), 64):
        part = documents[at : at + 64]
        with connection.transaction(), connection.cursor() as cursor:
            cursor.execute("select ragpg.begin_store()")
            with cursor.copy("copy ragpg_stage_document from stdin") as copy:
                for source, title, text in part:
                    mark = hashlib.md5(text.encode(), usedforsecurity=False).digest()
                    links = json.dumps([{"target": f"d{len(text) % 50}", "anchor": ""}])
                    copy.write_row((source, title, "text", None, mark, "{}", links))
            with cursor.copy("copy ragpg_stage_chunk from stdin") as copy:
                for source, title, text in part:
                    mark = hashlib.md5(text.encode(), usedforsecurity=False).digest()
                    copy.write_row(
                        (source, 0, text, "", title, 0, len(text), 1, 1, None, "{}", mark, None)
                    )
            cursor.execute("select count(*) from ragpg.store_staged(%s)", owner)
    connection.execute("select ragpg.fold_statistics(1000000)")


if __name__ == "__main__":
    main()
