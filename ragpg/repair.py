"""`ragpg doctor --fix`: ends the faults that ragpg.faults finds, on connections of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import psycopg

from ragpg import targets
from ragpg.connection_address import read_dsn, secrets_of
from ragpg.connection_errors import mapped
from ragpg.connection_handles import open_source
from ragpg.connection_sync import Database
from ragpg.errors import RagpgError
from ragpg.faults import Fault, faults
from ragpg.graph.analysis import STALE_SHARE, refresh
from ragpg.perform import Performer
from ragpg.reembed.filling import fill_missing_vectors
from ragpg.settings import VECTOR_RETENTION, Settings
from ragpg.sqlfiles import DEFAULT_SCHEMA, schema_option
from ragpg.steps import run
from ragpg.terminal import shell_argument
from ragpg.vector_index import build_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragpg.protocols import Embedder
    from ragpg.steps import Flow

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Repair:
    """What became of a fault: `error` is None when it was mended."""

    name: str
    detail: str
    error: str | None = None


def repair(
    dsn: str,
    schema: str = DEFAULT_SCHEMA,
    *,
    embedder: Embedder | None = None,
    on_repair: Callable[[Repair], object] | None = None,
    retention: float = VECTOR_RETENTION,
    share: float = STALE_SHARE,
) -> list[Repair]:
    """Mend what `faults` finds; one that cannot be mended is reported and hinders no other.

    Chunks get their vectors only from an `embedder` of their namespace's model. Cached vectors may
    outlive their texts by `retention` days. Graphs are analysed of which `share` (0 to 1) of the
    documents has changed.
    """
    with targets.transaction(dsn) as connection:
        found = list(faults(connection, schema, retention=retention, share=share))
    done = []
    for fault in found:
        result = _mend(dsn, schema, fault, embedder)
        done.append(result)
        if on_repair is not None:
            on_repair(result)
    return done


def _mend(dsn: str, schema: str, fault: Fault, embedder: Embedder | None) -> Repair:
    try:
        if fault.namespace is not None:
            if embedder is None:
                hint = (
                    "name the embedder: ragpg reembed --missing"
                    f"{schema_option(schema)} {shell_argument(fault.namespace)}"
                )
                return Repair(fault.name, fault.detail, hint)
            report = _flow(dsn, schema, fill_missing_vectors(fault.namespace, embedder))
            left = f"{report.missing} are still without" if report.missing else None
            return Repair(fault.name, fault.detail, left)
        if fault.space_id is not None:
            build_index(dsn, fault.space_id, schema=schema)
            return Repair(fault.name, fault.detail)
        if fault.graph is not None:
            done = _flow(dsn, schema, refresh(fault.graph))
            other = "another session analyses it now" if done is None else None
            return Repair(fault.name, fault.detail, other)
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("set statement_timeout = 0")
            for statement in fault.statements:
                connection.execute(statement)
    except psycopg.Error as error:
        secrets = secrets_of(read_dsn(dsn))
        return Repair(
            fault.name, fault.detail, mapped(error, schema=schema, secrets=secrets).message
        )
    except RagpgError as error:
        return Repair(fault.name, fault.detail, error.message)
    return Repair(fault.name, fault.detail)


def _flow(dsn: str, schema: str, flow: Flow[Result]) -> Result:
    database = Database(open_source(dsn, Settings.from_env()), schema)
    try:
        return run(flow, Performer(database))
    finally:
        database.close()
