"""Steps of the sync client on the database: each in a transaction."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import ClientCursor
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from ragpg import connection as shared
from ragpg import connection_access as access
from ragpg import connection_errors as errors
from ragpg.errors import RagpgError
from ragpg.queries import INSTALL
from ragpg.steps import Copy, Fetch, Transact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ragpg.connection_handles import Source

    Connection = psycopg.Connection[Any]


class Database:
    """Runs the database steps of flows; may be used by several threads."""

    def __init__(self, source: Source, schema: str, allowed: tuple[str, ...] | None = None) -> None:
        self.source = source
        self.schema = schema
        #: Namespaces that its statements may use; None: those of the role.
        self.allowed = allowed
        self._outer: Database | None = None
        self._checked = False
        self._check = threading.Lock()
        self._busy: set[Connection] = set()

    def fetch(self, step: Fetch[Any]) -> list[Any]:
        """The rows of a query, in a transaction of its own or in the caller's."""
        self._check_once()
        return self._attempts(lambda: self._fetch(step), reads=step.query.reads)

    def transact(self, step: Transact) -> list[Any]:
        """All operations or none; the rows of the last Fetch."""
        self._check_once()
        return self._attempts(lambda: self._transact(step), reads=False)

    def address(self) -> str | None:
        """Where another connection may be opened; None on a connection of the caller's. It may
        hold a password: never show it."""
        if self.source.joins:
            return None
        [address] = self._attempts(self._address, reads=True)
        return str(address)

    def _address(self) -> list[str]:
        with self.source.borrow() as connection:
            return [shared.address_of(connection)]

    def interrupt(self) -> None:
        """End the statements that are running, each with an error in its own thread."""
        for connection in list(self._busy):
            connection.cancel_safe(timeout=2)

    def limited_to(self, names: Any) -> Database:
        """The same connections for fewer namespaces."""
        found = Database(self.source, self.schema, access.narrower(self.allowed, names))
        found._outer = self
        return found

    def close(self) -> None:
        """Close what was opened here; a connection, pool or engine of the caller stays open."""
        self.source.close()

    def _check_once(self) -> None:
        if self._outer is not None:
            self._outer._check_once()
            return
        if self._checked:
            return
        with self._check:
            if self._checked:
                return
            try:
                rows = self._attempts(lambda: self._fetch(Fetch(INSTALL)), reads=True)
            except RagpgError as error:
                raise shared.not_installed(error, self.schema) from error
            shared.check_install(rows, self.schema)
            self._checked = True

    def _attempts(self, work: Callable[[], list[Any]], *, reads: bool) -> list[Any]:
        attempts = shared.Attempts(joins=self.source.joins, reads=reads)
        while True:
            try:
                return work()
            except UnicodeEncodeError as error:
                raise errors.not_text(error) from error
            except psycopg.Error as error:
                pause = attempts.pause_after(error)
                if pause is None:
                    raise errors.mapped(
                        error, schema=self.schema, secrets=self.source.secrets, writes=not reads
                    ) from error
                if attempts.needs_repair:
                    self.source.repair()
                time.sleep(pause)

    @contextmanager
    def _borrow(self) -> Iterator[Connection]:
        with self.source.borrow() as connection:
            self._busy.add(connection)
            try:
                yield connection
            finally:
                self._busy.discard(connection)

    def _fetch(self, step: Fetch[Any]) -> list[Any]:
        with self._borrow() as connection:
            nested = shared.is_nested(
                connection.info.transaction_status,
                joins=self.source.joins,
                autocommit=connection.autocommit,
            )
            text, place = shared.statement(
                step, self.schema, nested=nested, narrowed=self.allowed is not None
            )
            cursor = ClientCursor(connection, row_factory=tuple_row)
            try:
                cursor.execute(text, access.with_allowed(step.parameters, self.allowed))
            except psycopg.Error:
                if nested and connection.info.transaction_status == TransactionStatus.INERROR:
                    _undo(connection)
                raise
            for _ in range(place):
                cursor.nextset()
            return [step.query.row(*row) for row in cursor.fetchall()]

    def _transact(self, step: Transact) -> list[Any]:
        rows: list[Any] = []
        with self._borrow() as connection:
            if self.source.joins and not connection.autocommit:
                # Begins the caller's transaction where it has not begun, so that ours is a
                # savepoint in it.
                connection.execute("select")
            with connection.transaction():
                if not self.source.joins:
                    connection.execute(shared.rendered(shared.NO_LIMIT, self.schema).encode())
                if self.allowed is not None:
                    text = shared.rendered(access.NARROW, self.schema)
                    narrowing = ClientCursor(connection)
                    narrowing.execute(text, access.with_allowed({}, self.allowed))
                for operation in step.operations:
                    if isinstance(operation, Copy):
                        _copy(connection, operation)
                    else:
                        cursor = ClientCursor(connection, row_factory=tuple_row)
                        text = shared.rendered(operation.query.sql, self.schema)
                        cursor.execute(text, operation.parameters)
                        rows = [operation.query.row(*row) for row in cursor.fetchall()]
                if self.allowed is not None and self.source.joins:
                    # A transaction that is the caller's goes on with what it had.
                    connection.execute(shared.rendered(access.RESTORE, self.schema).encode())
        return rows


def _copy(connection: Connection, operation: Copy) -> None:
    text = shared.copy_statement(operation)
    with connection.cursor() as cursor, cursor.copy(text) as copy:
        copy.set_types(list(operation.types))
        for row in operation.rows:
            copy.write_row(row)


def _undo(connection: Connection) -> None:
    try:
        connection.execute(shared.UNDO)
    except psycopg.Error:
        # The transaction had failed before we came; its owner will roll it back.
        return
