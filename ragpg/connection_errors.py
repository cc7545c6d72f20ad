"""Errors of the driver as ours: by SQLSTATE, with the server's hint, without secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout

from ragpg.connection_address import hide
from ragpg.errors import (
    BY_SQLSTATE,
    ConfigError,
    DatabaseError,
    DiskFull,
    PoolExhausted,
    RagpgError,
    ReadOnlyDatabase,
    SchemaMissing,
    SchemaOutdated,
    SearchTimeout,
)
from ragpg.sqlfiles import migrate_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.settings import Settings

#: Deadlock and serialisation failure: the same transaction may pass the next time.
RETRYABLE = ("40P01", "40001")


def is_broken(error: BaseException) -> bool:
    """Whether the connection itself failed, so that another one may do."""
    if not isinstance(error, psycopg.Error):
        return False
    state = error.sqlstate or ""
    lost = isinstance(error, psycopg.OperationalError) and not state
    return lost or state.startswith("08") or state in ("57P01", "57P02", "57P03")


def mapped(
    error: psycopg.Error, *, schema: str, secrets: Sequence[str] = (), writes: bool = False
) -> RagpgError:
    """The error of a statement; raise it from the original."""
    found = _mapped(error, schema, secrets, writes)
    if isinstance(found, DatabaseError):
        # A value that the driver could not write never reached the server; it is a data error too.
        is_data = isinstance(error, psycopg.DataError)
        found.sqlstate = error.sqlstate or ("22000" if is_data else None)
    return found


def _mapped(error: psycopg.Error, schema: str, secrets: Sequence[str], writes: bool) -> RagpgError:
    state = error.sqlstate or ""
    message = error.diag.message_primary or str(error).strip()
    if error.diag.message_detail:
        message = f"{message} ({error.diag.message_detail})"
    message, hint = hide(message, secrets), error.diag.message_hint
    message = message if error.diag.message_primary else one_line(message)
    kind = BY_SQLSTATE.get(state, DatabaseError)
    if isinstance(error, psycopg.DataError) and not state and "NUL" in message:
        return not_storable("\0")
    if kind in (SchemaMissing, SchemaOutdated):
        return kind(
            f"schema {schema} is not installed in this database, or not completely: {message}",
            hint=f"run: {migrate_command(schema)}",
        )
    if is_broken(error):
        return kind(
            f"the connection to the database was lost: {message}",
            hint="What was committed stays. Run it again once the server accepts connections.",
        )
    if kind is SearchTimeout:
        if "statement timeout" not in message:
            return DatabaseError(message, hint="Somebody cancelled the statement on the server.")
        return SearchTimeout(
            "the statement ran into its time limit",
            hint="Raise the setting search_timeout (RAGPG_SEARCH_TIMEOUT, seconds), or the "
            "statement_timeout of the role where that is lower.",
        )
    if kind is DiskFull:
        return DiskFull(
            f"the server of the database has no room left: {message}",
            hint="Free or add disk space there. What was committed stays, so run it again then: "
            "it goes on from there.",
        )
    if kind is ReadOnlyDatabase:
        return ReadOnlyDatabase(
            f"this database can only be read: {message}",
            hint="Search works here. To ingest, connect to the primary server, or clear "
            "default_transaction_read_only.",
        )
    if state == "42501":
        role = "ragpg_writer" if writes else "ragpg_reader"
        return (ReadOnlyDatabase if writes else DatabaseError)(
            f"the database role has not the right: {message}",
            hint=f"Grant it the role {role} (see docs), or what that role holds.",
        )
    return kind(message, hint=hide(hint, secrets) if hint else None)


def not_text(error: UnicodeEncodeError) -> DatabaseError:
    """A value cannot be sent."""
    return not_storable(error.object[error.start : error.end])


def not_storable(character: str) -> DatabaseError:
    """No text of the database may hold a character."""
    found = DatabaseError(
        f"a text holds a character that no database takes: {character!r}",
        hint="Clean it first: ragpg.ingest.clean.clean_text.",
    )
    found.sqlstate = "22021"
    return found


def unreachable(error: psycopg.Error, secrets: Sequence[str]) -> DatabaseError:
    """No connection could be opened."""
    message = one_line(hide(str(error), secrets))
    return DatabaseError(
        f"cannot connect to the database: {message}",
        hint="Check host, port, user and password of the address (an argument, or RAGPG_DSN); a "
        "password in a URL has to be percent-encoded: % is %25, @ is %40. Without a server of your "
        "own: ragpg db up",
    )


def no_connection(error: PoolTimeout | PoolClosed, settings: Settings, opened: int) -> RagpgError:
    """The pool gave none."""
    if isinstance(error, PoolClosed):
        return ConfigError("this client is closed; open another with ragpg.connect")
    if not opened:
        return PoolExhausted(
            f"no connection could be opened within {settings.pool_timeout:g} s",
            hint="The server refuses connections or is down; see the log of the server.",
        )
    return PoolExhausted(
        f"no connection became free within {settings.pool_timeout:g} s: all {opened} are in use",
        hint="Raise the setting pool_size (RAGPG_POOL_SIZE) or pool_timeout (RAGPG_POOL_TIMEOUT).",
    )


def one_line(message: object) -> str:
    """A message of libpq, which breaks its lines, on one."""
    return " ".join(str(message).split())


def async_only(target: object) -> ConfigError:
    """An asynchronous target was given to the sync client."""
    return ConfigError(
        f"ragpg.connect cannot use {_name(target)}, which is asynchronous",
        hint="Use ragpg.aconnect.",
    )


def sync_only(target: object) -> ConfigError:
    """A synchronous target was given to the async client."""
    return ConfigError(
        f"ragpg.aconnect cannot use {_name(target)}, which is synchronous",
        hint="Use ragpg.connect, or give the asynchronous twin.",
    )


def unusable(target: object) -> ConfigError:
    """Nothing we know."""
    return ConfigError(
        f"cannot use {_name(target)} as a database",
        hint="Give a DSN, a psycopg connection or pool, or a SQLAlchemy engine, connection or "
        "session: of a sessionmaker what it makes, of a URL its text with the password.",
    )


def wrong_driver(connection: object) -> ConfigError:
    """A SQLAlchemy engine with another driver."""
    return ConfigError(
        f"SQLAlchemy uses the driver {type(connection).__module__.partition('.')[0]}, and ragpg "
        "needs psycopg 3",
        hint="Create the engine with a postgresql+psycopg:// URL.",
    )


def _name(target: object) -> str:
    return f"a {type(target).__module__}.{type(target).__qualname__}"
