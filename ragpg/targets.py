"""What a caller may hand over as a database - a DSN, an engine, a connection - as one transaction.

For migrations and the doctor, which work through SQLAlchemy so that they can join the transaction
of a host application.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from psycopg.conninfo import make_conninfo
from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.engine.mock import MockConnection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from ragpg.connection_address import read_dsn
from ragpg.connection_errors import one_line
from ragpg.errors import BY_SQLSTATE, ConfigError, DatabaseError, RagpgError

if TYPE_CHECKING:
    from collections.abc import Iterator

Target: TypeAlias = str | Engine | Connection

# Only these drivers send a text of several statements unchanged.
_DRIVERS = ("psycopg", "psycopg2")


@contextmanager
def transaction(target: Target) -> Iterator[Connection]:
    """Open a transaction for a DSN or an engine, or join the one that a connection is in.

    A DSN is what libpq takes, as URL or as key=value list, also in SQLAlchemy's spelling
    (`postgresql+psycopg://`). Joining means a savepoint: a failure leaves the caller's transaction
    usable, and nothing of ours in it. A connection that is in no transaction gets its own, which is
    committed. Errors of the database arrive as `DatabaseError` or a subclass.
    """
    with _mapped():
        if isinstance(target, Connection):
            _check(target)
            with target.begin_nested() if target.in_transaction() else target.begin():
                yield target
            return
        if isinstance(target, str):
            engine = _engine(target)
        elif isinstance(target, Engine):
            engine = target
        elif isinstance(target, MockConnection):
            raise ConfigError(
                "alembic runs offline (--sql) and has no connection to give",
                hint="Leave ragpg out of it, `if not op.get_context().as_sql:`, and print its SQL "
                "with: ragpg migrate --sql",
            )
        else:
            raise ConfigError(
                f"cannot use a {type(target).__name__} as database: pass a DSN, a SQLAlchemy Engine"
                " or a Connection (of a Session: session.connection(); of an AsyncConnection: "
                "await connection.run_sync(...))"
            )
        with engine.connect() as connection:
            # A host's engine may be set to another level; this is the one the lock needs.
            connection.execution_options(isolation_level="READ COMMITTED")
            _check(connection)
            with connection.begin():
                yield connection


def mapped(error: DBAPIError, *, where: str = "") -> RagpgError:
    """An error of the driver as ours, with the server's hint; `where` names what was running."""
    original = error.orig
    diagnostics = getattr(original, "diag", None)
    state = getattr(original, "sqlstate", None) or getattr(original, "pgcode", None) or ""
    message = getattr(diagnostics, "message_primary", None) or one_line(original)
    if detail := getattr(diagnostics, "message_detail", None):
        message = f"{message} ({detail})"
    kind = (
        BY_SQLSTATE.get(state, DatabaseError) if state.startswith(("RG", "25")) else DatabaseError
    )
    hint = getattr(diagnostics, "message_hint", None)
    return kind(f"{where}: {message}" if where else message, hint=hint)


@contextmanager
def _mapped() -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        raise mapped(error) from error


def _engine(dsn: str) -> Engine:
    import psycopg

    # libpq reads the DSN itself: every form, parameter and escape that it knows works. What it
    # cannot read is refused here, because its message would quote a part, maybe the password.
    parameters = read_dsn(dsn)
    return create_engine(
        "postgresql+psycopg://",
        # Without an encoding the driver gives bytes of a database in SQL_ASCII.
        creator=lambda: psycopg.connect(
            make_conninfo("", **{"client_encoding": "utf8", **parameters})
        ),
        poolclass=NullPool,
    )


def _check(connection: Connection) -> None:
    driver = connection.dialect.driver
    if connection.dialect.name != "postgresql" or driver.removesuffix("_async") not in _DRIVERS:
        raise ConfigError(
            f"cannot migrate through {connection.dialect.name}+{driver}: use a connection of "
            "postgresql+psycopg (or a DSN)"
        )
    if getattr(connection.connection.driver_connection, "autocommit", False) is True:
        raise ConfigError(
            "cannot work on a connection in AUTOCOMMIT: the lock and the search path last for one "
            "transaction; use an engine without that isolation level"
        )
