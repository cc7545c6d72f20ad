"""Steps of the async client on the database: the twin of connection_sync."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import AsyncClientCursor
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from ragpg import connection as shared
from ragpg import connection_access as access
from ragpg import connection_errors as errors
from ragpg.errors import RagpgError
from ragpg.queries import INSTALL
from ragpg.steps import Copy, Fetch, Transact

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ragpg.connection_async_handles import Source

    Connection = psycopg.AsyncConnection[Any]


class AsyncDatabase:
    """Runs the database steps of flows; may be used by several tasks of one event loop."""

    def __init__(self, source: Source, schema: str, allowed: tuple[str, ...] | None = None) -> None:
        self.source = source
        self.schema = schema
        #: Namespaces that its statements may use; None: those of the role.
        self.allowed = allowed
        self._outer: AsyncDatabase | None = None
        self._checked = False
        self._check = asyncio.Lock()

    async def fetch(self, step: Fetch[Any]) -> list[Any]:
        """The rows of a query, in a transaction of its own or in the caller's."""
        await self._check_once()
        return await self._attempts(lambda: self._fetch(step), reads=step.query.reads)

    async def transact(self, step: Transact) -> list[Any]:
        """All operations or none; the rows of the last Fetch."""
        await self._check_once()
        return await self._attempts(lambda: self._transact(step), reads=False)

    async def address(self) -> str | None:
        """Where another connection may be opened; None on a connection of the caller's. It may
        hold a password: never show it."""
        if self.source.joins:
            return None
        [address] = await self._attempts(self._address, reads=True)
        return str(address)

    async def _address(self) -> list[str]:
        async with self.source.borrow() as connection:
            return [shared.address_of(connection)]

    def limited_to(self, names: Any) -> AsyncDatabase:
        """The same connections for fewer namespaces."""
        found = AsyncDatabase(self.source, self.schema, access.narrower(self.allowed, names))
        found._outer = self
        return found

    async def close(self) -> None:
        """Close what was opened here; a connection, pool or engine of the caller stays open."""
        await self.source.close()

    async def _check_once(self) -> None:
        if self._outer is not None:
            await self._outer._check_once()
            return
        if self._checked:
            return
        async with self._check:
            if self._checked:
                return
            try:
                rows = await self._attempts(lambda: self._fetch(Fetch(INSTALL)), reads=True)
            except RagpgError as error:
                raise shared.not_installed(error, self.schema) from error
            shared.check_install(rows, self.schema)
            self._checked = True

    async def _attempts(
        self, work: Callable[[], Awaitable[list[Any]]], *, reads: bool
    ) -> list[Any]:
        attempts = shared.Attempts(joins=self.source.joins, reads=reads)
        while True:
            try:
                return await work()
            except UnicodeEncodeError as error:
                raise errors.not_text(error) from error
            except psycopg.Error as error:
                pause = attempts.pause_after(error)
                if pause is None:
                    raise errors.mapped(
                        error, schema=self.schema, secrets=self.source.secrets, writes=not reads
                    ) from error
                if attempts.needs_repair:
                    await self.source.repair()
                await asyncio.sleep(pause)

    async def _fetch(self, step: Fetch[Any]) -> list[Any]:
        async with self.source.borrow() as connection:
            nested = shared.is_nested(
                connection.info.transaction_status,
                joins=self.source.joins,
                autocommit=connection.autocommit,
            )
            text, place = shared.statement(
                step, self.schema, nested=nested, narrowed=self.allowed is not None
            )
            cursor = AsyncClientCursor(connection, row_factory=tuple_row)
            try:
                await cursor.execute(text, access.with_allowed(step.parameters, self.allowed))
            except psycopg.Error:
                if nested and connection.info.transaction_status == TransactionStatus.INERROR:
                    await _undo(connection)
                raise
            for _ in range(place):
                cursor.nextset()
            return [step.query.row(*row) for row in await cursor.fetchall()]

    async def _transact(self, step: Transact) -> list[Any]:
        rows: list[Any] = []
        async with self.source.borrow() as connection:
            if self.source.joins and not connection.autocommit:
                # Begins the caller's transaction where it has not begun, so that ours is a
                # savepoint in it.
                await connection.execute("select")
            async with connection.transaction():
                if not self.source.joins:
                    await connection.execute(shared.rendered(shared.NO_LIMIT, self.schema).encode())
                if self.allowed is not None:
                    text = shared.rendered(access.NARROW, self.schema)
                    narrowing = AsyncClientCursor(connection)
                    await narrowing.execute(text, access.with_allowed({}, self.allowed))
                for operation in step.operations:
                    if isinstance(operation, Copy):
                        await _copy(connection, operation)
                    else:
                        cursor = AsyncClientCursor(connection, row_factory=tuple_row)
                        text = shared.rendered(operation.query.sql, self.schema)
                        await cursor.execute(text, operation.parameters)
                        rows = [operation.query.row(*row) for row in await cursor.fetchall()]
                if self.allowed is not None and self.source.joins:
                    # A transaction that is the caller's goes on with what it had.
                    await connection.execute(shared.rendered(access.RESTORE, self.schema).encode())
        return rows


async def _copy(connection: Connection, operation: Copy) -> None:
    text = shared.copy_statement(operation)
    async with connection.cursor() as cursor, cursor.copy(text) as copy:
        copy.set_types(list(operation.types))
        for row in operation.rows:
            await copy.write_row(row)


async def _undo(connection: Connection) -> None:
    try:
        await connection.execute(shared.UNDO)
    except psycopg.Error:
        # The transaction had failed before we came; its owner will roll it back.
        return
