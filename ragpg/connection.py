"""Database connections for flows: what both colours share, and the way in.

Every step takes a connection, uses it and gives it back; nothing is kept on a session, so a
transaction pooler may stand in between. Statements go out by the simple protocol: several in one
message are one round trip and one transaction, and nothing is ever prepared.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from psycopg.conninfo import make_conninfo
from psycopg.pq import TransactionStatus

from ragpg import sqlfiles
from ragpg.connection_access import NARROW, RESTORE
from ragpg.connection_errors import RETRYABLE, is_broken
from ragpg.errors import RagpgError, SchemaMissing, SchemaOutdated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psycopg import BaseConnection, Error

    from ragpg.queries import Install
    from ragpg.settings import Settings
    from ragpg.steps import Copy, Fetch

SAVEPOINT = "ragpg_step"
UNDO = f"rollback to savepoint {SAVEPOINT}; release savepoint {SAVEPOINT}"
#: What is written takes as long as it takes, whatever limit a role has for its queries, and no
#: longer than its client lives. One statement with one row.
NO_LIMIT = """
select pg_catalog.set_config('statement_timeout', '0', true), ragpg.end_with_client()"""

#: Pauses before further attempts after a deadlock or serialisation failure, in seconds.
PAUSES = (0.05, 0.1, 0.2)


class Attempts:
    """Whether and when a failed step is tried again: after a deadlock or serialisation failure,
    and once where the connection was dead and the step only reads. Never in a caller's
    transaction."""

    def __init__(self, *, joins: bool, reads: bool) -> None:
        self.pauses = [] if joins else list(PAUSES)
        self.reads = reads
        self.needs_repair = False

    def pause_after(self, error: Error) -> float | None:
        """Seconds to wait, or None when the error is final."""
        if self.pauses and error.sqlstate in RETRYABLE:
            return self.pauses.pop(0)
        if self.pauses and self.reads and not self.needs_repair and is_broken(error):
            # The server was restarted: the pool's other connections are dead too.
            self.needs_repair = True
            return 0.0
        return None


#: The limit holds for this transaction; where the role has a lower one, that stays.
_LIMIT = """
select pg_catalog.set_config('statement_timeout', least(
  nullif((1000 * extract(epoch from
    pg_catalog.current_setting('statement_timeout')::interval))::int, 0),
  {milliseconds})::text, true);"""


def statement(
    fetch: Fetch[Any], schema: str, *, nested: bool, narrowed: bool = False
) -> tuple[str, int]:
    """The text of a step, and which of its results is the answer.

    `nested` is for a transaction that is the caller's: a savepoint keeps it usable after an error,
    and a time limit ends with it. `narrowed` is for an allow-list among the parameters.
    """
    body = rendered(fetch.query.sql, schema)
    before = rendered(NARROW, schema) if narrowed else ""
    limit = ""
    if fetch.timeout == 0:
        # In a caller's transaction the caller's limit holds, for what we write too.
        limit = "" if nested else f"{rendered(NO_LIMIT, schema)};"
    elif fetch.timeout is not None:
        limit = _limit(max(1, round(fetch.timeout * 1000)))
    place = bool(limit) + bool(before)
    if not nested:
        return f"{before}{limit}\n{body}", place
    end = f"release savepoint {SAVEPOINT}"
    if limit:
        # A search writes nothing: rolling back takes the limit back, whatever it was.
        end = f"rollback to savepoint {SAVEPOINT}; {end}"
    elif before:
        end = f"{rendered(RESTORE, schema)}; {end}"
    return f"savepoint {SAVEPOINT}; {before}{limit}\n{body};\n{end}", place + 1


@lru_cache(maxsize=256)
def rendered(sql: str, schema: str) -> str:
    """A query for another schema than ragpg."""
    return sqlfiles.render(sql, schema).strip()


@lru_cache(maxsize=16)
def _limit(milliseconds: int) -> str:
    return _LIMIT.format(milliseconds=milliseconds)


def is_nested(status: TransactionStatus, *, joins: bool, autocommit: bool) -> bool:
    """Whether a step runs inside a transaction that is not its own."""
    return status != TransactionStatus.IDLE or (joins and not autocommit)


def check_install(rows: list[Install], schema: str) -> None:
    """Raise SchemaMissing or SchemaOutdated unless this package's code is installed."""
    if not rows:
        raise SchemaMissing(
            f"schema {schema} is not completely installed",
            hint=f"run: {sqlfiles.migrate_command(schema)}",
        )
    if rows[0].digest != package_digest():
        from ragpg import __version__

        raise SchemaOutdated(
            f"schema {schema} has the SQL of another ragpg: it was installed by "
            f"{rows[0].version}, this is {__version__}"
            + (", of another build" if rows[0].version == __version__ else ""),
            hint=f"run: {sqlfiles.migrate_command(schema)} (or use the package of that version)",
        )


@lru_cache(maxsize=1)
def package_digest() -> str:
    """Digest of the SQL that this package brings; read once."""
    return sqlfiles.digest()


def not_installed(error: RagpgError, schema: str) -> RagpgError:
    """The error of the version check, where the schema is not there at all."""
    if isinstance(error, (SchemaMissing, SchemaOutdated)):
        return SchemaMissing(
            f"schema {schema} is not installed in this database",
            hint=f"run: {sqlfiles.migrate_command(schema)}",
        )
    return error


def is_sqlalchemy(target: object) -> bool:
    """Whether it comes from SQLAlchemy, without importing it for those who do not use it."""
    if "sqlalchemy" not in sys.modules:
        return False
    return any(base.__module__.partition(".")[0] == "sqlalchemy" for base in type(target).__mro__)


def copy_statement(operation: Copy) -> str:
    """COPY of a step; its names are ours, never the caller's."""
    return f"copy {operation.table} ({', '.join(operation.columns)}) from stdin (format binary)"


def connection_options(parameters: Mapping[str, str], settings: Settings) -> dict[str, Any]:
    """Arguments of psycopg.connect: what the address says wins over the settings."""
    return {
        "fallback_application_name": "ragpg",
        "connect_timeout": max(1, round(settings.connect_timeout)),
        **parameters,
        "autocommit": True,
        "prepare_threshold": None,
    }


def address_of(connection: BaseConnection[Any]) -> str:
    """A DSN to open another connection like this one. It may hold a password: never show it."""
    info = connection.info
    parameters = {**info.get_parameters(), "password": info.password or None}
    return make_conninfo("", **parameters)
