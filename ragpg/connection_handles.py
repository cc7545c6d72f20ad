"""What a caller may hand over as a database, as a place that connections come from."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import psycopg
from psycopg.pq import TransactionStatus
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolClosed, PoolTimeout

from ragpg import connection as shared
from ragpg import connection_errors as errors
from ragpg.connection_address import read_dsn, secrets_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from ragpg.settings import Settings

    Connection = psycopg.Connection[Any]


class Source(Protocol):
    """Where connections come from. `joins`: it is one connection in the caller's transaction."""

    joins: bool
    secrets: list[str]

    def borrow(self) -> AbstractContextManager[Connection]: ...

    def repair(self) -> None: ...

    def close(self) -> None: ...


class DsnSource:
    """A pool of our own. The first connection is opened alone, because its error is clear."""

    joins = False

    def __init__(self, dsn: str, settings: Settings) -> None:
        self.parameters = read_dsn(dsn)
        self.secrets = secrets_of(self.parameters)
        self.settings = settings
        self._pool: ConnectionPool[Connection] | None = None
        self._opening = threading.Lock()
        self._closed = False

    @contextmanager
    def borrow(self) -> Iterator[Connection]:
        with _from_pool(self._opened(), self.settings) as connection:
            yield connection

    def repair(self) -> None:
        self._opened().check()

    def close(self) -> None:
        self._closed = True
        if self._pool is not None:
            self._pool.close()

    def _opened(self) -> ConnectionPool[Connection]:
        if self._pool is None:
            with self._opening:
                if self._pool is None:
                    self._pool = self._open()
        return self._pool

    def _open(self) -> ConnectionPool[Connection]:
        if self._closed:
            raise errors.no_connection(PoolClosed(), self.settings, 0)
        options = shared.connection_options(self.parameters, self.settings)
        try:
            psycopg.connect(**options).close()
        except psycopg.Error as error:
            raise errors.unreachable(error, self.secrets) from error
        return ConnectionPool(
            kwargs=options,
            min_size=0,
            max_size=self.settings.pool_size,
            timeout=self.settings.pool_timeout,
            open=True,
        )


class PoolSource:
    """The caller's pool."""

    joins = False

    def __init__(self, pool: ConnectionPool[Any], settings: Settings) -> None:
        self.pool = pool
        self.settings = settings
        self.secrets: list[str] = []

    @contextmanager
    def borrow(self) -> Iterator[Connection]:
        with _from_pool(self.pool, self.settings) as connection, _own(connection):
            yield connection

    def repair(self) -> None:
        self.pool.check()

    def close(self) -> None:
        """Nothing: the pool is the caller's."""


class ConnectionSource:
    """The caller's connection; one step at a time, in the caller's transaction."""

    joins = True

    def __init__(self, target: Any) -> None:
        self.target = target
        self.lock = threading.RLock()
        self.secrets: list[str] = []

    @contextmanager
    def borrow(self) -> Iterator[Connection]:
        with self.lock:
            yield self._driver()

    def _driver(self) -> Connection:
        if isinstance(self.target, psycopg.Connection):
            return self.target
        # Looked up at each step: a session may have begun another transaction since.
        bound = self.target.connection() if hasattr(self.target, "get_bind") else self.target
        if not bound.in_transaction():
            # Or else SQLAlchemy would not know that there is something to commit.
            bound.begin()
        return _driver_of(bound.connection)

    def repair(self) -> None:
        """Nothing: it is the caller's."""

    def close(self) -> None:
        """Nothing: it is the caller's."""


class EngineSource:
    """A SQLAlchemy engine: a connection of its pool for each step."""

    joins = False

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.secrets: list[str] = []

    @contextmanager
    def borrow(self) -> Iterator[Connection]:
        fairy = self.engine.raw_connection()
        try:
            connection = _driver_of(fairy)
            with _own(connection):
                yield connection
        finally:
            fairy.close()

    def repair(self) -> None:
        self.engine.dispose()

    def close(self) -> None:
        """Nothing: the engine is the caller's."""


def open_source(target: object, settings: Settings) -> Source:
    """What a target of `ragpg.connect` is. Raises ConfigError for anything else."""
    if isinstance(target, str):
        return DsnSource(target, settings)
    if isinstance(target, psycopg.Connection):
        return ConnectionSource(target)
    if isinstance(target, ConnectionPool):
        return PoolSource(target, settings)
    if isinstance(target, (psycopg.AsyncConnection, AsyncConnectionPool)):
        raise errors.async_only(target)
    if shared.is_sqlalchemy(target):
        from sqlalchemy import Connection as SqlalchemyConnection
        from sqlalchemy import Engine
        from sqlalchemy.orm import Session, scoped_session

        if isinstance(target, Engine):
            return EngineSource(target)
        if isinstance(target, scoped_session):
            # The session of this thread: steps may run in others, one at a time.
            target = target()
        if isinstance(target, (SqlalchemyConnection, Session)):
            return ConnectionSource(target)
        if "asyncio" in type(target).__module__.split("."):
            raise errors.async_only(target)
    raise errors.unusable(target)


def _driver_of(fairy: Any) -> Connection:
    connection = fairy.driver_connection
    if not isinstance(connection, psycopg.Connection):
        raise errors.wrong_driver(connection)
    return connection


@contextmanager
def _own(connection: Connection) -> Iterator[None]:
    """A step has its own transactions, also on a connection that would begin one by itself."""
    began = connection.autocommit
    if not began and connection.info.transaction_status == TransactionStatus.IDLE:
        connection.autocommit = True
    try:
        yield
    finally:
        idle = connection.info.transaction_status == TransactionStatus.IDLE
        if connection.autocommit != began and idle and not connection.closed:
            connection.autocommit = began


@contextmanager
def _from_pool(pool: ConnectionPool[Any], settings: Settings) -> Iterator[Connection]:
    try:
        connection = pool.getconn()
    except (PoolTimeout, PoolClosed) as error:
        opened = pool.get_stats().get("pool_size", 0)
        raise errors.no_connection(error, settings, opened) from error
    try:
        yield connection
    finally:
        pool.putconn(connection)
