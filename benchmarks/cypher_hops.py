"""Two hops through a graph of 100,000 entities and 1,000,000 relations: in SQL over the tables, and
the same in Cypher over the mirror; and what filling and following the mirror costs.

    python benchmarks/cypher_hops.py DSN [--entities 100000] [--relations 1000000] [--seeds 10]

DSN is a database where extension age can be created; the namespace hops is made there and dropped.
The graph is skewed as real ones are: a few entities have very many relations. No Cypher of this
file runs anywhere else than here: a crash of AGE would end every connection to the server.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg

import ragpg
from ragpg import migrate
from ragpg.graph import age, analysis

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Two explicit hops both ways, the heaviest 30 an entity and direction, 100 entities between.
SQL = """
with seed as (select unnest(%(seeds)s::bigint[]) as id),
first as (
  select hop.id, sum(hop.weight) as weight
    from seed, lateral (
      (select target as id, weight from ragpg.relation
        where namespace_id = %(owner)s and source = seed.id order by weight desc limit 30)
      union all
      (select source, weight from ragpg.relation
        where namespace_id = %(owner)s and target = seed.id order by weight desc limit 30)) as hop
   group by 1 order by 2 desc, 1 limit 100)
select hop.id, sum(hop.weight * first.weight) as weight
  from first, lateral (
    (select target as id, weight from ragpg.relation
      where namespace_id = %(owner)s and source = first.id order by weight desc limit 30)
    union all
    (select source, weight from ragpg.relation
      where namespace_id = %(owner)s and target = first.id order by weight desc limit 30)) as hop
 group by 1 order by 2 desc, 1 limit 50
"""

#: Cypher has no cap a vertex, and an arrow without a direction compares all pairs: outgoing only.
CYPHER = {
    "1 hop, outgoing": """
        UNWIND $seeds AS s MATCH (a:Entity)-[r:RELATED]->(b:Entity) WHERE a.id = s
        RETURN b.id AS id, sum(r.weight) AS w ORDER BY sum(r.weight) DESC LIMIT 50""",
    "2 hops, outgoing": """
        UNWIND $seeds AS s
        MATCH (a:Entity)-[q:RELATED]->(m:Entity)-[r:RELATED]->(b:Entity) WHERE a.id = s
        RETURN b.id AS id, sum(q.weight * r.weight) AS w
        ORDER BY sum(q.weight * r.weight) DESC LIMIT 50""",
    "2 hops, out and back": """
        UNWIND $seeds AS s
        MATCH (a:Entity)-[q:RELATED]->(m:Entity)<-[r:RELATED]-(b:Entity) WHERE a.id = s
        RETURN b.id AS id, sum(q.weight * r.weight) AS w
        ORDER BY sum(q.weight * r.weight) DESC LIMIT 50""",
}


def main() -> None:
    """Fill, measure, print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("dsn")
    arguments.add_argument("--entities", type=int, default=100_000)
    arguments.add_argument("--relations", type=int, default=1_000_000)
    arguments.add_argument("--seeds", type=int, default=10)
    arguments.add_argument("--rounds", type=int, default=20)
    given = arguments.parse_args()
    with psycopg.connect(given.dsn, autocommit=True) as db:
        db.execute("create extension if not exists age")
        migrate.upgrade(given.dsn)
        db.execute("select ragpg.drop_namespace('hops')")
        owner = _fill(db, given.entities, given.relations)
        _report("first sync of the mirror", given.relations, lambda: _sync(db))
        _rebuild(given.dsn, given.relations)
        _follow(db, owner)
        db.execute("vacuum analyze")
        _hops(db, owner, given.entities, given.seeds, given.rounds)
        db.execute("select ragpg.drop_namespace('hops')")


def _fill(db: psycopg.Connection[Any], entities: int, relations: int) -> int:
    """A namespace with the graph in its tables, and its mirror empty."""
    [[owner]] = db.execute("select ragpg.create_namespace('hops')").fetchall()
    db.execute("select ragpg.set_cypher_mode('hops', 'manual')")
    db.execute(
        "with paper as (insert into ragpg.document (namespace_id, source) values (%s, 'd')"
        " returning namespace_id, id)"
        " insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)"
        " select namespace_id, id, 0, 'text', '' from paper",
        [owner],
    )
    db.execute(
        "insert into ragpg.entity (namespace_id, key, name)"
        " select %s, 'entity ' || n, 'Entity ' || n from generate_series(1, %s) as n order by n",
        [owner, entities],
    )
    with _unchecked(db):
        _report("relations into the table", relations, lambda: _relate(db, owner, relations, 1))
    db.execute("vacuum analyze")
    return int(owner)


@contextmanager
def _unchecked(db: psycopg.Connection[Any]) -> Iterator[None]:
    """Without triggers, for a superuser: of each row three foreign keys are asked one by one, which
    takes longer than to store it. The rows of this file are made of keys that there are."""
    [[superuser]] = db.execute("select current_setting('is_superuser') = 'on'").fetchall()
    if superuser:
        db.execute("set session_replication_role = replica")
    yield
    db.execute("reset session_replication_role")


def _relate(db: psycopg.Connection[Any], owner: int, relations: int, seed: int) -> None:
    """Relations of which some entities have far more than others."""
    db.execute("select setseed(%s)", [seed / 100])
    db.execute(
        """
insert into ragpg.relation (namespace_id, source, target, kind, chunk_id, weight)
select %(owner)s, first.id + (scale.n * random())::bigint, first.id + (scale.n * power(random(), 3))::bigint,
       'kind ' || %(seed)s, chunk.id, 0.1 + random()
  from (select min(id) as id from ragpg.entity where namespace_id = %(owner)s) as first,
       (select count(*) - 1 as n from ragpg.entity where namespace_id = %(owner)s) as scale,
       (select id from ragpg.chunk where namespace_id = %(owner)s limit 1) as chunk,
       generate_series(1, %(relations)s)
 order by 2, 3  -- as the indexes have them
on conflict do nothing""",
        {"owner": owner, "relations": relations, "seed": seed},
    )


def _rebuild(dsn: str, relations: int) -> None:
    """Both halves of `ragpg graph rebuild`."""
    with ragpg.connect(dsn) as rag:
        _report("rebuild, tables", relations, lambda: rag.run(analysis.rebuild("hops")))
        _report("rebuild, mirror", relations, lambda: rag.run(age.rebuild("hops")))


def _sync(db: psycopg.Connection[Any]) -> None:
    db.execute("select count(*) from ragpg.sync_cypher_graph('hops')")


def _follow(db: psycopg.Connection[Any], owner: int) -> None:
    """What the same 10,000 rows cost with and without the mirror behind them."""
    for mode, seed in (("manual", 2), ("transaction", 3), ("manual", 4), ("transaction", 5)):
        db.execute("select ragpg.set_cypher_mode('hops', %s)", [mode])
        work = partial(_relate, db, owner, 10_000, seed)
        _report(f"10,000 relations, mode {mode}", 10_000, work)
    db.execute("select ragpg.set_cypher_mode('hops', 'manual')")
    _report("sync that finds 20,000 new rows", 20_000, lambda: _sync(db))


def _hops(db: psycopg.Connection[Any], owner: int, entities: int, seeds: int, rounds: int) -> None:
    rng = random.Random(1)
    [[first]] = db.execute(
        "select min(id) from ragpg.entity where namespace_id = %s", [owner]
    ).fetchall()
    chosen = [[first + rng.randrange(entities) for _ in range(seeds)] for _ in range(rounds)]
    db.execute("set max_parallel_workers_per_gather = 0")
    db.execute("set statement_timeout = '60s'")
    plain = [_timed(partial(db.execute, SQL, {"seeds": ids, "owner": owner})) for ids in chosen]
    _line("SQL, 2 hops both ways, capped", plain)
    ask = "select * from ragpg.cypher(%s, jsonb_build_object('seeds', %s::bigint[]), 'hops')"
    for name, query in CYPHER.items():
        _line(f"Cypher, {name}", [_timed(partial(db.execute, ask, [query, ids])) for ids in chosen])
    # Postgres takes an UNWIND for 1,000 rows, and joins whole tables where ten ids are asked for.
    db.execute("set enable_hashjoin = off")
    db.execute("set enable_mergejoin = off")
    for name, query in CYPHER.items():
        times = [_timed(partial(db.execute, ask, [query, ids])) for ids in chosen]
        _line(f"Cypher, {name}, nested loops", times)


def _timed(work: Any) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def _line(name: str, times: list[float]) -> None:
    warm = sorted(times[1:])
    print(
        f"{name:40} p50 {statistics.median(warm):9.1f} ms   p95 {warm[int(len(warm) * 0.95)]:9.1f} ms",
        flush=True,
    )


def _report(name: str, rows: int, work: Any) -> None:
    seconds = _timed(work) / 1000
    print(f"{name:40} {seconds:8.2f} s  {rows / seconds:12,.0f} rows/s", flush=True)


if __name__ == "__main__":
    main()
