"""Every kind of database handle that a caller may own, in both colours."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import psycopg
import psycopg_pool
import pytest
from psycopg.conninfo import make_conninfo
from sqlalchemy import create_engine, text
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session, scoped_session, sessionmaker

import ragpg
from ragpg.errors import ConfigError, NamespaceNotFound
from ragpg.steps import Fetch, Query, Transact

from .doubles import CountingEmbedder, contents, sessions

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from sqlalchemy import Engine
    from sqlalchemy.ext.asyncio import AsyncEngine

    Database = psycopg.Connection[Any]

TEXTS = [("a.md", "# Title\n\nA text."), ("b.md", "Another text.")]


def _creator(database: str) -> Callable[[], Any]:
    return lambda: psycopg.connect(database)


@pytest.fixture
def engine(database: str) -> Iterator[Engine]:
    made = create_engine("postgresql+psycopg://", creator=_creator(database))
    yield made
    made.dispose()


async def _async_engine(database: str) -> AsyncIterator[AsyncEngine]:
    async def connect() -> psycopg.AsyncConnection[Any]:
        return await psycopg.AsyncConnection.connect(database)

    made = create_async_engine("postgresql+psycopg://", async_creator=connect)
    try:
        yield made
    finally:
        await made.dispose()


def _use(target: Any) -> None:
    with ragpg.connect(target, embedder=CountingEmbedder()) as rag:
        assert rag.ingest(texts=TEXTS).ok
        assert rag.search("title", k=1).hits[0].source == "a.md"
        with pytest.raises(NamespaceNotFound):
            rag.search("title", namespace="nowhere")
        assert rag.search("title", k=1).hits[0].source == "a.md"


async def _ause(target: Any) -> None:
    async with ragpg.aconnect(target, embedder=CountingEmbedder()) as rag:
        assert (await rag.ingest(texts=TEXTS)).ok
        assert (await rag.search("title", k=1)).hits[0].source == "a.md"
        with pytest.raises(NamespaceNotFound):
            await rag.search("title", namespace="nowhere")
        assert (await rag.search("title", k=1)).hits[0].source == "a.md"


@pytest.mark.parametrize("autocommit", [False, True])
def test_a_pool_of_the_caller(database: str, db: Database, autocommit: bool) -> None:
    options = {"autocommit": autocommit}
    with psycopg_pool.ConnectionPool(database, kwargs=options, min_size=1, max_size=2) as pool:
        _use(pool)
        with pool.connection() as connection:
            assert connection.autocommit is autocommit
    assert set(contents(db)) == {"a.md", "b.md"}


def test_an_engine_of_the_caller(engine: Engine, db: Database) -> None:
    _use(engine)
    assert set(contents(db)) == {"a.md", "b.md"}
    with engine.begin() as connection:
        connection.execute(text("select 1"))
    assert sessions(db, "idle in transaction%") == 0


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("kind", ["psycopg", "connection", "session", "scoped"])
def test_a_callers_transaction_is_joined(
    database: str, engine: Engine, db: Database, kind: str, commit: bool
) -> None:
    db.execute("create table public.mine (id int)")
    if kind == "psycopg":
        with psycopg.connect(database) as raw:
            raw.execute("insert into public.mine values (1)")
            _use(raw)
            assert contents(db) == {}
            raw.commit() if commit else raw.rollback()
    elif kind == "connection":
        with engine.connect() as connection:
            # Before anything has begun its transaction.
            _use(connection)
            connection.execute(text("insert into public.mine values (1)"))
            assert contents(db) == {}
            connection.commit() if commit else connection.rollback()
    else:
        maker = sessionmaker(engine)
        session: Any = Session(engine) if kind == "session" else scoped_session(maker)
        try:
            # Before the session has begun anything.
            _use(session)
            session.execute(text("insert into public.mine values (1)"))
            assert contents(db) == {}
            session.commit() if commit else session.rollback()
        finally:
            session.close()
    assert set(contents(db)) == ({"a.md", "b.md"} if commit else set())
    assert db.execute("select count(*) from public.mine").fetchone() == (int(commit),)


def test_a_bad_document_leaves_the_callers_transaction_usable(database: str, db: Database) -> None:
    with psycopg.connect(database) as connection, ragpg.connect(connection) as rag:
        # Longer than an index takes.
        name = "".join(f"{number * 7919 % 10_007}" for number in range(1500))
        report = rag.ingest(texts=[("a", "fine"), (name, "bad"), ("b", "fine too")])
        assert {file.source[:3]: file.status for file in report.files} == {
            "a": "stored",
            name[:3]: "failed",
            "b": "stored",
        }
        connection.commit()
    assert set(contents(db)) == {"a", "b"}


def test_an_autocommit_connection_of_the_caller(database: str, db: Database) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        _use(connection)
        assert set(contents(db)) == {"a.md", "b.md"}


@pytest.mark.parametrize("kind", ["dsn", "connection", "pool", "engine", "sqlalchemy", "session"])
def test_async_handles(database: str, db: Database, kind: str) -> None:
    async def main() -> None:
        if kind == "dsn":
            await _ause(database)
        elif kind == "connection":
            async with await psycopg.AsyncConnection.connect(database) as connection:
                await _ause(connection)
                assert contents(db) == {}
                await connection.commit()
        elif kind == "pool":
            async with psycopg_pool.AsyncConnectionPool(database, min_size=1, max_size=2) as pool:
                await _ause(pool)
        else:
            async for engine in _async_engine(database):
                if kind == "engine":
                    await _ause(engine)
                elif kind == "sqlalchemy":
                    async with engine.connect() as bound:
                        await _ause(bound)
                        assert contents(db) == {}
                        await bound.commit()
                else:
                    async with AsyncSession(engine) as session:
                        await _ause(session)
                        assert contents(db) == {}
                        await session.commit()

    asyncio.run(main())
    assert set(contents(db)) == {"a.md", "b.md"}
    assert sessions(db) == 0 or sessions(db, "idle in transaction%") == 0


def test_handles_that_cannot_be_used_are_named(database: str) -> None:
    with psycopg.connect(database) as connection, pytest.raises(ConfigError, match="synchronous"):
        ragpg.aconnect(connection)
    with pytest.raises(ConfigError, match=r"cannot use a builtins\.int"):
        ragpg.connect(5)
    with pytest.raises(ConfigError, match="asynchronous"):
        ragpg.connect(create_async_engine("postgresql+psycopg://"))
    for target in (sessionmaker(), create_engine("postgresql+psycopg://").url):
        for connect in (ragpg.connect, ragpg.aconnect):
            with pytest.raises(ConfigError, match=r"cannot use a sqlalchemy\."):
                connect(target)
    with pytest.raises(ConfigError, match="synchronous"):
        ragpg.aconnect(create_engine("postgresql+psycopg://"))
    sqlite = create_engine("sqlite://")
    with ragpg.connect(sqlite) as rag, pytest.raises(ConfigError, match=r"postgresql\+psycopg"):
        rag.namespaces()
    sqlite.dispose()


_LOOK = Query(
    "select current_setting('client_connection_check_interval'),"
    " current_setting('statement_timeout')",
    lambda *row: row,
)


def test_what_may_take_long_ends_with_its_client(database: str) -> None:
    """Pruning, an analysis and whatever else has no limit of time, and every transaction."""
    limited = make_conninfo(database, options="-c statement_timeout=30000")
    long, short = Fetch(_LOOK, timeout=0), Fetch(_LOOK)
    with ragpg.connect(limited) as rag:
        for step in (long, Transact((short,))):
            assert rag._perform(step) == [("5s", "0")]
        assert rag._perform(short) == [("0", "30s")]

    async def main() -> None:
        async with ragpg.aconnect(limited) as rag:
            for step in (long, Transact((short,))):
                assert await rag._perform(step) == [("5s", "0")]

    asyncio.run(main())
    # A caller's transaction is the caller's.
    with psycopg.connect(limited) as connection, ragpg.connect(connection) as rag:
        for step in (long, Transact((short,))):
            assert rag._perform(step) == [("0", "30s")]


def test_another_schema(empty_database: str) -> None:
    from ragpg import migrate

    migrate.upgrade(empty_database, schema="kb")
    with ragpg.connect(empty_database, schema="kb", embedder=CountingEmbedder()) as rag:
        assert rag.ingest(texts=TEXTS).ok
        result = rag.search("title")
        assert result.hits[0].source == "a.md"
        assert not [arm.error for arm in result.report.values() if arm.error]
