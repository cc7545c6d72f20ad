"""Connections: pools, poolers, cancellation, deadlocks, limits."""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
import uuid
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import psycopg.conninfo
import pytest

import ragpg
from ragpg import migrate
from ragpg.errors import DatabaseError, PoolExhausted, SearchTimeout

from .doubles import CountingEmbedder, contents, eventually, in_threads, sessions
from .pooler import Pooler

if TYPE_CHECKING:
    Database = psycopg.Connection[Any]

#: An arm in SQL that takes its time.
SLOW = """
create function public.slow(query text, namespace_ids integer[], filter jsonb, k integer)
returns table (chunk_id bigint, score double precision)
language plpgsql as $$ begin perform pg_sleep({seconds}); end $$
"""
SLOW_ARM = {"slow": {"function": "public.slow"}}


# A fifth of the load of the case: what fails at all behind a pooler fails at the sixth statement,
# when a driver would start to prepare.
@pytest.mark.case("DB-01")
def test_a_transaction_pooler_may_stand_in_between_db_01(database: str, db: Database) -> None:
    with Pooler(database, size=2) as pooler:

        def work(number: int) -> None:
            name = f"n{number}"
            with ragpg.connect(pooler.dsn, embedder=CountingEmbedder()) as rag:
                for turn in range(3):
                    rag.ingest(texts=[(f"{turn}.md", f"Text {turn} of {name}.")], namespace=name)
                    for _ in range(7):
                        result = rag.search(f"text {turn}", namespace=name)
                        assert result.hits[0].source == f"{turn}.md"
                        assert not any(arm.error for arm in result.report.values())

        assert in_threads([partial(work, n) for n in range(8)]) == []
        assert pooler.leases > 8 * 3 * 8
    # Nothing of ours is left on the server connections' sessions but empty temporary tables.
    assert all(len(contents(db, f"n{number}")) == 3 for number in range(8))


@pytest.mark.case("DB-02")
def test_no_connection_is_held_while_a_model_answers_db_02(database: str, db: Database) -> None:
    class Gated(CountingEmbedder):
        """Answers no query before the gate is open."""

        asked = 0

        async def aembed_query(self, text: str) -> list[float]:
            self.asked += 1
            await gate.wait()
            return self.embed_query(text)

    gate = asyncio.Event()
    embedder = Gated()
    settings = ragpg.Settings(pool_size=5)
    most = 0

    async def main() -> None:
        nonlocal most
        async with ragpg.aconnect(database, embedder=embedder, settings=settings) as rag:
            await rag.ingest(texts=[("a.md", "A text.")])
            waiting = [asyncio.create_task(rag.search("text")) for _ in range(100)]
            async with asyncio.timeout(30):
                # Each waits for its vector, and none for another: they are asked for together.
                while embedder.asked < 100:
                    await asyncio.sleep(0.02)
            assert sessions(db, "active") == 0
            assert sessions(db, "idle in transaction%") == 0
            gate.set()
            while not all(task.done() for task in waiting):
                most = max(most, sessions(db))
                await asyncio.sleep(0.05)
            for task in waiting:
                assert task.result().hits

    asyncio.run(main())
    assert 1 <= most <= 5


@pytest.mark.case("DB-02")
def test_threads_and_namespaces_share_one_pool_db_02(database: str, db: Database) -> None:
    embedder = CountingEmbedder()
    settings = ragpg.Settings(pool_size=5)
    most: list[int] = []
    done = threading.Event()
    with ragpg.connect(database, embedder=embedder, settings=settings) as rag:
        for number in range(20):
            rag.ingest(texts=[("a.md", f"Text {number}.")], namespace=f"n{number}")

        def search(number: int) -> None:
            assert rag.search("text", namespace=f"n{number % 20}").hits

        def watch() -> None:
            while not done.wait(0.02):
                most.append(sessions(db))

        watcher = threading.Thread(target=watch)
        watcher.start()
        failures = in_threads([partial(search, number) for number in range(100)])
        done.set()
        watcher.join()
    assert failures == []
    assert max(most) <= 5


@pytest.mark.case("DB-02")
def test_a_full_pool_is_an_error_in_time_that_names_the_setting_db_02(
    database: str, db: Database
) -> None:
    db.execute(SLOW.format(seconds=9))
    settings = ragpg.Settings(pool_size=1, pool_timeout=0.3)
    with ragpg.connect(database, settings=settings) as rag:
        rag.ingest(texts=[("a.md", "A text.")])

        def hold() -> None:
            with suppress(DatabaseError):  # it is cancelled
                rag.search("text", arms=SLOW_ARM)

        holder = threading.Thread(target=hold)
        holder.start()
        assert eventually(lambda: sessions(db, "active") == 1)
        with pytest.raises(PoolExhausted, match="pool_size"):
            rag.search("text")
        assert sessions(db, "active") == 1
        db.execute(
            """select pg_cancel_backend(pid) from pg_stat_activity
                where datname = current_database() and state = 'active'
                  and pid <> pg_backend_pid()"""
        )
        holder.join()


# Four rounds of the case's fifty: each cancels at twenty other moments.
@pytest.mark.case("DB-03")
def test_cancelled_searches_leave_nothing_behind_db_03(database: str, db: Database) -> None:
    db.execute(SLOW.format(seconds=5))
    random.seed(3)
    settings = ragpg.Settings(pool_size=3)

    async def main() -> None:
        embedder = CountingEmbedder()
        async with ragpg.aconnect(database, embedder=embedder, settings=settings) as rag:
            await rag.ingest(texts=[("a.md", "A text.")])
            for delay in (5.0, 0.0, 0.0, 0.0):
                # First slow embeddings, then slow SQL.
                embedder.delay = delay
                tasks = [asyncio.create_task(rag.search("text", arms=SLOW_ARM)) for _ in range(20)]
                for task in tasks:
                    await asyncio.sleep(random.random() * 0.03)
                    task.cancel()
                results = await asyncio.gather(*tasks, return_exceptions=True)
                assert all(isinstance(one, asyncio.CancelledError) for one in results), results
                assert await asyncio.to_thread(eventually, lambda: sessions(db, "active") == 0)
                assert sessions(db, "idle in transaction%") == 0
            embedder.delay = 0
            found = await asyncio.gather(*(rag.search("text") for _ in range(3)))
            assert all(one.hits for one in found)
            assert sessions(db) <= 3

    asyncio.run(main())


@pytest.mark.case("DB-03")
@pytest.mark.parametrize("slow", ["embedding", "storing"])
def test_an_interrupted_ingest_leaves_no_half_document_db_03(
    database: str, db: Database, slow: str
) -> None:
    with ragpg.connect(database) as rag:
        rag.ingest(texts=[("first.md", "A first text.")])
    if slow == "storing":
        db.execute(
            """create function public.wait() returns trigger language plpgsql
               as $$ begin perform pg_sleep(30); return null; end $$;
               create trigger slow_chunks after insert on ragpg.chunk
               for each statement execute function public.wait()"""
        )
    program = textwrap.dedent(f"""
        import time, ragpg
        from ragpg.testing import HashEmbedder

        class Slow(HashEmbedder):
            def embed_documents(self, texts):
                print("now", flush=True)
                time.sleep({30 if slow == "embedding" else 0})
                return super().embed_documents(texts)

        try:
            with ragpg.connect({database!r}, embedder=Slow(32)) as rag:
                rag.ingest(texts=[("second.md", "text " * 1000)])
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "now\n"
        if slow == "storing":
            assert eventually(lambda: sessions(db, "active") == 1)
        # Python looks for signals between its own instructions: not before it really sleeps.
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        began = time.perf_counter()
        assert process.stdout.readline() == "interrupted\n"
        assert process.wait(20) == 0
    # Less than what it was interrupted in would have taken.
    assert time.perf_counter() - began < 25
    assert eventually(lambda: sessions(db) == 0)
    assert contents(db) == {"first.md": ["A first text."]}
    # Whoever comes next need not wait for the promise to lapse.
    assert db.execute("select count(*) from ragpg.embedding_claim").fetchone() == (0,)


# Ten rounds of the two hundred of the case, and deletes in between.
@pytest.mark.case("DB-04")
@pytest.mark.parametrize("texts", ["apart", "shared"])
def test_overlapping_batches_do_not_deadlock_db_04(database: str, db: Database, texts: str) -> None:
    names = [f"k{number}" for number in range(1, 6)]
    # Shared texts meet in the cache of embeddings too.
    embedder = CountingEmbedder() if texts == "shared" else None

    def work(order: list[str], number: int) -> None:
        mark = number if texts == "apart" else "all"
        with ragpg.connect(database, embedder=embedder) as rag:
            for turn in range(10):
                report = rag.ingest(texts=[(name, f"{mark} {turn} {name}") for name in order])
                assert report.ok, report.files
                rag.delete(order[:2])

    jobs = [partial(work, names if number % 2 else names[::-1], number) for number in range(8)]
    assert in_threads(jobs) == []
    assert all(len(chunks) == 1 for chunks in contents(db).values())


@pytest.mark.case("DB-04")
@pytest.mark.parametrize("code", ["40P01", "40001"])
def test_a_deadlock_with_others_is_tried_again_a_few_times_db_04(
    database: str, db: Database, code: str
) -> None:
    db.execute(
        f"""create sequence public.attempt;
            create function public.fail() returns trigger language plpgsql as $$
            begin
              if nextval('public.attempt') <= current_setting('test.failures')::int then
                raise exception 'somebody else was first' using errcode = '{code}';
              end if;
              return null;
            end $$;
            create trigger fails after insert on ragpg.document
            for each statement execute function public.fail()"""
    )
    name = db.info.dbname
    db.execute(f"alter database {name} set test.failures = 3")
    with ragpg.connect(database) as rag:
        assert rag.ingest(texts=[("a", "text")]).ok
    db.execute(f"alter database {name} set test.failures = 1000")
    with ragpg.connect(database) as rag, pytest.raises(ragpg.RagpgError, match="somebody else"):
        rag.ingest(texts=[("b", "text")])
    [attempts] = db.execute("select last_value from public.attempt").fetchone() or [0]
    assert attempts == 4 + 4


@pytest.mark.case("DB-05")
def test_no_limit_on_the_number_of_values_db_05(rag: ragpg.Client, db: Database) -> None:
    text = "".join(f"word{number} and more\n" for number in range(20_000))
    [file] = rag.ingest(
        texts=[("many", text)], chunker=ragpg.HeadingChunker(size=22, overlap=0)
    ).files
    assert file.chunks >= 20_000
    names = [f"source {number}" for number in range(70_000)]
    assert rag.search("word7", filter={"@source": {"in": [*names, "many"]}}, k=3).hits
    known = db.execute(
        "select source from ragpg.fingerprints('default', %s)", [[*names, "many"]]
    ).fetchall()
    assert known == [("many",)]
    assert rag.delete([*names, "many"]) == 1
    assert contents(db) == {}


@pytest.mark.case("DB-05")
def test_a_failure_halfway_leaves_no_half_document_db_05(rag: ragpg.Client, db: Database) -> None:
    db.execute(
        """create function public.refuse() returns trigger language plpgsql as $$
           begin
             if new.content like '%poison%' then raise exception 'no' using errcode = '23514'; end if;
             return new;
           end $$;
           create trigger refuses before insert on ragpg.chunk
           for each row execute function public.refuse()"""
    )
    bad = "fine\n" * 50 + "poison\n" + "fine\n" * 50
    report = rag.ingest(
        texts=[("a", "good"), ("b", bad), ("c", "good too")],
        chunker=ragpg.HeadingChunker(size=10, overlap=0),
    )
    assert {file.source: file.status for file in report.files} == {
        "a": "stored",
        "b": "failed",
        "c": "stored",
    }
    assert contents(db) == {"a": ["good"], "b": [], "c": ["good too"]}


@pytest.mark.case("DB-07")
def test_a_slow_arm_is_reported_and_the_others_answer_db_07(database: str, db: Database) -> None:
    assert ragpg.Settings().search_timeout == 10
    db.execute(SLOW.format(seconds=30))
    with ragpg.connect(
        database, embedder=CountingEmbedder(), settings=ragpg.Settings(search_timeout=0.5)
    ) as rag:
        rag.ingest(texts=[("a.md", "A text.")])
        began = time.perf_counter()
        result = rag.search("text", arms=SLOW_ARM)
        assert time.perf_counter() - began < 25
        assert [hit.source for hit in result.hits] == ["a.md"]
        assert result.report["slow"].error == "statement timeout"
        assert set(result.hits[0].arms) == {"vector", "keyword"}
        assert any("slow" in note for note in result.notes)
        # Where no arm can be blamed, the error says what happened and how to change it.
        with psycopg.connect(database) as other:
            other.execute("lock table ragpg.namespace")
            with pytest.raises(SearchTimeout, match="search_timeout"):
                rag.search("text")
        assert rag.search("text").hits


@pytest.mark.case("DB-07")
def test_a_limit_of_the_role_ends_searches_and_spares_ingests_db_07(
    database: str, db: Database
) -> None:
    db.execute(SLOW.format(seconds=30))
    db.execute(
        """create function public.wait() returns trigger language plpgsql
           as $$ begin perform pg_sleep(1.5); return null; end $$;
           create trigger slow_chunks after insert on ragpg.chunk
           for each statement execute function public.wait()"""
    )
    limited = psycopg.conninfo.make_conninfo(database, options="-c statement_timeout=1000")
    with ragpg.connect(limited) as rag:
        assert rag.ingest(texts=[("a.md", "A text.")]).ok
        assert rag.search("text", arms=SLOW_ARM).report["slow"].error == "statement timeout"
    # The limit was put back where it was, also on a connection that is not ours.
    with psycopg.connect(limited) as connection:
        with ragpg.connect(connection) as joined:
            joined.search("text")
        assert connection.execute("show statement_timeout").fetchone() == ("1s",)


@pytest.mark.case("DB-07")
def test_a_limit_of_the_role_spares_long_ingests_and_index_builds_db_07(
    database: str, db: Database
) -> None:
    role = f"limited_{uuid.uuid4().hex[:8]}"
    db.execute(f"create role {role} login superuser; alter role {role} set statement_timeout = 500")
    try:
        limited = psycopg.conninfo.make_conninfo(database, user=role)
        migrate.upgrade(limited)
        text = "".join(f"word{number} and more\n" for number in range(10_200))
        with ragpg.connect(limited, embedder=CountingEmbedder()) as rag:
            report = rag.ingest(
                texts=[("many", text)], chunker=ragpg.HeadingChunker(size=22, overlap=0)
            )
            assert report.ok
            assert report.chunks > 10_000
            [check] = [one for one in rag.doctor() if one.name == "embedding space 1"]
            assert check.detail.endswith("HNSW index")
        with ragpg.connect(database) as rag:
            assert rag.search("word77").hits
        with psycopg.connect(limited) as connection:
            assert connection.execute("show statement_timeout").fetchone() == ("500ms",)
            with pytest.raises(psycopg.errors.QueryCanceled):
                connection.execute("select pg_sleep(1)")
    finally:
        # A session that ends takes its temporary tables along, from under who lists what the role has.
        assert eventually(lambda: sessions(db) == 0)
        db.execute(f"reassign owned by {role} to current_user; drop owned by {role}")
        db.execute(f"drop role {role}")


def test_a_restarted_server_costs_no_search(database: str, db: Database) -> None:
    with ragpg.connect(database) as rag:
        rag.ingest(texts=[("a.md", "A text.")])
        assert in_threads([lambda: rag.search("text")] * 4) == []
        db.execute(
            """select pg_terminate_backend(pid) from pg_stat_activity
                where datname = current_database() and pid <> pg_backend_pid()"""
        )
        assert rag.search("text").hits
