"""The twin of connection_handles, for the async client."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol

import psycopg
from psycopg.pq import TransactionStatus
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolClosed, PoolTimeout

from ragpg import connection as shared
from ragpg import connection_errors as errors
from ragpg.connection_address import read_dsn, secrets_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager

    from ragpg.settings import Settings

    Connection = psycopg.AsyncConnection[Any]


class Source(Protocol):
    """Where connections come from. `joins`: it is one connection in the caller's transaction."""

    joins: bool
    secrets: list[str]

    def borrow(self) -> AbstractAsyncContextManager[Connection]: ...

    async def repair(self) -> None: ...

    async def close(self) -> None: ...


class DsnSource:
    """A pool of our own. The first connection is opened alone, because its error is clear."""

    joins = False

    def __init__(self, dsn: str, settings: Settings) -> None:
        self.parameters = read_dsn(dsn)
        self.secrets = secrets_of(self.parameters)
        self.settings = settings
        self._pool: AsyncConnectionPool[Connection] | None = None
        self._opening = asyncio.Lock()
        self._closed = False

    @asynccontextmanager
    async def borrow(self) -> AsyncIterator[Connection]:
        async with _from_pool(await self._opened(), self.settings) as connection:
            yield connection

    async def repair(self) -> None:
        await (await self._opened()).check()

    async def close(self) -> None:
        self._closed = True
        if self._pool is not None:
            await self._pool.close()

    async def _opened(self) -> AsyncConnectionPool[Connection]:
        if self._pool is None:
            async with self._opening:
                if self._pool is None:
                    self._pool = await self._open()
        return self._pool

    async def _open(self) -> AsyncConnectionPool[Connection]:
        if self._closed:
            raise errors.no_connection(PoolClosed(), self.settings, 0)
        options = shared.connection_options(self.parameters, self.settings)
        try:
            first = await psycopg.AsyncConnection.connect(**options)
            await first.close()
        except psycopg.Error as error:
            raise errors.unreachable(error, self.secrets) from error
        pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            kwargs=options,
            min_size=0,
            max_size=self.settings.pool_size,
            timeout=self.settings.pool_timeout,
            open=False,
        )
        await pool.open()
        return pool


class PoolSource:
    """The caller's pool."""

    joins = False

    def __init__(self, pool: AsyncConnectionPool[Any], settings: Settings) -> None:
        self.pool = pool
        self.settings = settings
        self.secrets: list[str] = []

    @asynccontextmanager
    async def borrow(self) -> AsyncIterator[Connection]:
        async with _from_pool(self.pool, self.settings) as connection, _own(connection):
            yield connection

    async def repair(self) -> None:
        await self.pool.check()

    async def close(self) -> None:
        """Nothing: the pool is the caller's."""


class ConnectionSource:
    """The caller's connection; one step at a time, in the caller's transaction."""

    joins = True

    def __init__(self, target: Any) -> None:
        self.target = target
        self.secrets: list[str] = []
        self.lock = asyncio.Lock()

    @asynccontextmanager
    async def borrow(self) -> AsyncIterator[Connection]:
        async with self.lock:
            if isinstance(self.target, psycopg.AsyncConnection):
                yield self.target
            else:
                # Looked up at each step: a session may have begun another transaction since.
                is_session = hasattr(self.target, "get_bind")
                bound = await self.target.connection() if is_session else self.target
                if not bound.in_transaction():
                    # Or else SQLAlchemy would not know that there is something to commit.
                    await bound.begin()
                yield _driver_of(await bound.get_raw_connection())

    async def repair(self) -> None:
        """Nothing: it is the caller's."""

    async def close(self) -> None:
        """Nothing: it is the caller's."""


class EngineSource:
    """A SQLAlchemy engine: a connection of its pool for each step."""

    joins = False

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.secrets: list[str] = []

    @asynccontextmanager
    async def borrow(self) -> AsyncIterator[Connection]:
        async with self.engine.connect() as borrowed:
            connection = _driver_of(await borrowed.get_raw_connection())
            async with _own(connection):
                yield connection

    async def repair(self) -> None:
        await self.engine.dispose()

    async def close(self) -> None:
        """Nothing: the engine is the caller's."""


def open_source(target: object, settings: Settings) -> Source:
    """What a target of `ragpg.aconnect` is. Raises ConfigError for anything else."""
    if isinstance(target, str):
        return DsnSource(target, settings)
    if isinstance(target, psycopg.AsyncConnection):
        return ConnectionSource(target)
    if isinstance(target, AsyncConnectionPool):
        return PoolSource(target, settings)
    if isinstance(target, (psycopg.Connection, ConnectionPool)):
        raise errors.sync_only(target)
    if shared.is_sqlalchemy(target):
        from sqlalchemy.ext.asyncio import AsyncConnection as SqlalchemyConnection
        from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

        if isinstance(target, AsyncEngine):
            return EngineSource(target)
        if isinstance(target, (SqlalchemyConnection, AsyncSession)):
            return ConnectionSource(target)
        if hasattr(target, "connect") or hasattr(target, "execute"):
            raise errors.sync_only(target)
    raise errors.unusable(target)


def _driver_of(fairy: Any) -> Connection:
    connection = fairy.driver_connection
    if not isinstance(connection, psycopg.AsyncConnection):
        raise errors.wrong_driver(connection)
    return connection


@asynccontextmanager
async def _own(connection: Connection) -> AsyncIterator[None]:
    """A step has its own transactions, also on a connection that would begin one by itself."""
    began = connection.autocommit
    if not began and connection.info.transaction_status == TransactionStatus.IDLE:
        await connection.set_autocommit(True)
    try:
        yield
    finally:
        idle = connection.info.transaction_status == TransactionStatus.IDLE
        if connection.autocommit != began and idle and not connection.closed:
            await connection.set_autocommit(began)


@asynccontextmanager
async def _from_pool(
    pool: AsyncConnectionPool[Any], settings: Settings
) -> AsyncIterator[Connection]:
    try:
        connection = await pool.getconn()
    except (PoolTimeout, PoolClosed) as error:
        opened = pool.get_stats().get("pool_size", 0)
        raise errors.no_connection(error, settings, opened) from error
    try:
        yield connection
    finally:
        await pool.putconn(connection)
