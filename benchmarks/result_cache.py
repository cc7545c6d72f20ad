"""What the result cache gains and costs: hits, misses, a table instead, and writers.

    python benchmarks/result_cache.py postgresql:///bench [--namespace debdocs] [--queries 60]

Writes into namespaces of its own (cache_bench), and into the namespace only what it takes back.
"""

from __future__ import annotations

import argparse
import pickle
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from measure import Meter, Variant
from queries import sample

import ragpg
from ragpg.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable

MINE = "cache_bench"
#: Of one transaction of a writer, in seconds: what an ingest takes for a small document.
HELD = 0.01


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dsn")
    parser.add_argument("--namespace", default="debdocs")
    parser.add_argument("--queries", type=int, default=60)
    chosen = parser.parse_args()
    with psycopg.connect(chosen.dsn, autocommit=True) as db:
        db.execute("create unlogged table if not exists result_cache_bench"
                   " (key bytea primary key, version text, data bytea)")  # fmt: skip
        try:
            if chosen.queries:
                reads(chosen.dsn, db, chosen.namespace, chosen.queries)
            writers(chosen.dsn, db)
            ingest(chosen.dsn, db)
        finally:
            db.execute("drop table result_cache_bench")
            db.execute("select ragpg.drop_namespace(%s)", [MINE])


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds and result."""
    began = time.perf_counter()
    result = work()
    return (time.perf_counter() - began) * 1000, result


def server(db: psycopg.Connection[Any], texts: list[str], namespace: str) -> None:
    """CPU of the server for a version, and for the SQL of a search."""
    meter = Meter(db)
    version = Variant("version", "select * from ragpg.search_version(array[%(namespace)s])")
    search = Variant(
        "search",
        "select * from ragpg.search_run(%(query)s, namespaces => array[%(namespace)s], k => 50)",
        prepare=False,
    )
    for text in texts:
        for one in (version, search):
            meter.run(one, {"query": text, "namespace": namespace}, "all")
    for (_, name), found in meter.times.items():
        print(f"server, {name:12} {statistics.median(found.cpu):8.2f} ms of CPU")


def reads(dsn: str, db: psycopg.Connection[Any], namespace: str, count: int) -> None:
    """Each query by every way in turn, so that a busy machine is busy for all of them."""
    times: dict[str, list[float]] = {}
    sizes: list[int] = []
    cpu: dict[str, list[float]] = {}
    texts = [one.text for one in sample(db, namespace, count // 4)]
    with (
        ragpg.connect(dsn) as plain,
        ragpg.connect(dsn, cache=True) as cached,
    ):
        for text in texts:
            plain.search(text, namespace=namespace)
            for name, rag in (("search", plain), ("miss", cached), ("hit", cached)):
                began = time.process_time()
                ms, result = timed(partial(rag.search, text, namespace=namespace))
                cpu.setdefault(name, []).append((time.process_time() - began) * 1000)
                times.setdefault(name, []).append(ms)
            assert result.report["cache"].mode == "hit"
            data = pickle.dumps(result)
            sizes.append(len(data))
            key = text.encode()
            db.execute("insert into result_cache_bench select %s, version, %s"
                       "  from ragpg.search_version(array[%s]) on conflict do nothing",
                       [key, data, namespace])  # fmt: skip
            ms, _ = timed(partial(from_table, db, key, namespace))
            times.setdefault("hit in a table", []).append(ms)
            ms, _ = timed(partial(version_of, db, namespace))
            times.setdefault("version alone", []).append(ms)
            ms, _ = timed(partial(pickle.loads, data))
            times.setdefault("copy of the result", []).append(ms)
    for name, found in cpu.items():
        print(f"client, {name:12} {statistics.median(found):8.2f} ms of CPU")
    server(db, texts, namespace)
    base = statistics.median(times["search"])
    print(f"{len(sizes)} queries, {statistics.median(sizes) / 1000:.0f} kB a result")
    for name, found in times.items():
        middle = statistics.median(found)
        print(f"{name:20} {middle:8.2f} ms, {base / middle:6.1f} times as fast as a search")


def from_table(db: psycopg.Connection[Any], key: bytes, namespace: str) -> Any:
    """A hit of the other design: version and result by one query."""
    row = db.execute(
        "select data from result_cache_bench as kept, ragpg.search_version(array[%s]) as now"
        " where kept.key = %s and kept.version = now.version",
        [namespace, key],
        binary=True,
    ).fetchone()
    assert row is not None
    return pickle.loads(row[0])


def version_of(db: psycopg.Connection[Any], namespace: str) -> Any:
    return db.execute("select version, caller from ragpg.search_version(array[%s])", [namespace])


def writers(dsn: str, db: psycopg.Connection[Any]) -> None:
    """Transactions that write to one namespace side by side, and last a while."""
    with ragpg.connect(dsn) as rag:
        rag.ingest(texts=[(f"{n}.md", f"Text {n}.") for n in range(16)], namespace=MINE)
    db.execute("create table if not exists one_row_bench (id boolean primary key, n bigint)")
    db.execute("insert into one_row_bench values (true, 0) on conflict do nothing")
    try:
        for name, bump in (
            ("noted", None),
            ("one row instead", "update one_row_bench set n = n + 1"),
            ("not noted", ""),
        ):
            state = "enable" if bump is None else "disable"
            db.execute(f"alter table ragpg.document {state} trigger note_write_update".encode())
            done = together(dsn, bump or "")
            print(f"8 writers, {name:16} {done:7.0f} transactions/s")
    finally:
        db.execute("alter table ragpg.document enable trigger note_write_update")
        db.execute("drop table one_row_bench")
    for wanted in (1_000, 10_000):
        # The loop runs in the server: a commit each, as writers make them.
        loop = (
            f"do $$ begin for n in 1..{wanted} loop update ragpg.document set title = title"
            " where source = '0.md'; commit; end loop; end $$"
        )
        db.execute(loop.encode())
        found = [timed(lambda: version_of(db, MINE))[0] for _ in range(50)]
        [rows] = db.execute("select count(*) from ragpg.namespace_write").fetchone() or [0]
        print(f"version after {wanted} writes: {statistics.median(found):.2f} ms, {rows} rows")


def together(dsn: str, bump: str, seconds: float = 4.0) -> float:
    """Transactions per second of eight writers."""
    stop = threading.Event()

    def write(number: int) -> int:
        done = 0
        with psycopg.connect(dsn) as connection:
            while not stop.is_set():
                connection.execute("update ragpg.document set title = title where source = %s",
                                   [f"{number}.md"])  # fmt: skip
                if bump:
                    connection.execute(bump.encode())
                connection.execute("select pg_sleep(%s)", [HELD])
                connection.commit()
                done += 1
        return done

    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(write, number) for number in range(8)]
        time.sleep(seconds)
        stop.set()
        return sum(one.result() for one in waiting) / seconds


def ingest(dsn: str, db: psycopg.Connection[Any]) -> None:
    """Documents of ten chunks with vectors, with the writes noted and not, in turn."""
    tables = [
        row[0]
        for row in db.execute(
            "select distinct tgrelid::regclass::text"
            " from pg_trigger where tgname like 'note_write%'"
        )
    ]
    times: dict[str, list[float]] = {"noted": [], "not noted": []}
    body = "\n\n".join(f"Paragraph {n} of many words. " * 30 for n in range(10))
    with (
        psycopg.connect(dsn, autocommit=True) as connection,
        ragpg.connect(connection, embedder=HashEmbedder(384)) as rag,
    ):
        account = Path(f"/proc/{connection.info.backend_pid}/schedstat")
        for turn in range(4):
            # Whoever comes first in a turn finds other caches than the second.
            ways = [("noted", "enable"), ("not noted", "disable")]
            for name, state in ways if turn % 2 else ways[::-1]:
                for table in tables:
                    for event in ("insert", "update", "delete"):
                        db.execute(
                            f"alter table {table} {state} trigger note_write_{event}".encode()
                        )
                rag.drop_namespace(MINE)
                # What a session does once, it has done.
                rag.ingest(texts=[("warm.md", body)], namespace=MINE)
                texts = [(f"{n}.md", f"{name} {turn} {n}\n\n{body}") for n in range(30)]
                began = int(account.read_text().split()[0])
                rag.ingest(texts=texts, namespace=MINE)
                times[name].append((int(account.read_text().split()[0]) - began) / 1e6)
    for table in tables:
        for event in ("insert", "update", "delete"):
            db.execute(f"alter table {table} enable trigger note_write_{event}".encode())
    medians = {name: statistics.median(found) for name, found in times.items()}
    ratio = medians["noted"] / medians["not noted"]
    print(
        f"ingest of 30 documents: {medians['noted']:.0f} ms of server CPU, ratio to not noted {ratio:.3f}"
    )


if __name__ == "__main__":
    main()
