"""HNSW indexes that are built while everybody writes on, and never left behind half-built.

CREATE INDEX CONCURRENTLY runs outside of a transaction, and one that fails leaves an index that
costs every writer and serves nobody. So a build has a connection of its own, drops what it finds
or leaves invalid. Where this role does not own the tables, or a pooler hands every statement to
another session, the function in SQL builds it instead, and writers wait.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg

from ragpg.connection_address import read_dsn, secrets_of
from ragpg.connection_errors import mapped
from ragpg.sqlfiles import DEFAULT_SCHEMA, check_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Connection = psycopg.Connection[Any]

#: Bytes of an HNSW index per vector beside its numbers: neighbours (2 m of 6 bytes on the lowest
#: layer, and a fifteenth of that above) and the heads of two tuples.
_PER_VECTOR = 300
#: What a build takes of memory at most, unless the server's maintenance_work_mem is larger.
MOST_MEMORY = 2**30
#: Dimensions that an index holds.
_LONGEST = {"halfvec": 4000, "vector": 2000}
#: How often a build is looked at, in seconds.
_LOOK = 0.5
#: How long a build that was interrupted may clear up, in seconds.
_GRACE = 10.0


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """How far the build of a space's index is: `phase` in the server's words, `done` of `total`
    tuples or blocks."""

    space_id: int
    phase: str
    done: int
    total: int

    @property
    def percent(self) -> float:
        """Of the phase; 0 where its size is not known."""
        return 100.0 * self.done / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is built, and how."""

    schema: str
    space_id: int
    m: int
    ef: int
    workers: int | None
    wait: bool

    @property
    def table(self) -> str:
        return f"embedding_{self.space_id:d}"

    @property
    def place(self) -> str:
        return f"{self.schema}.{self.table}"


def memory_for(vectors: int, dimensions: int, kind: str = "halfvec") -> int:
    """Bytes that the graph of a space takes while it is built: 1.3 times its size on disk."""
    number = 2 if kind == "halfvec" else 4
    return round(1.3 * vectors * (number * dimensions + _PER_VECTOR))


def build_index(
    address: str,
    space_id: int,
    *,
    schema: str = DEFAULT_SCHEMA,
    m: int = 16,
    ef_construction: int = 128,
    workers: int | None = None,
    wait: bool = True,
    on_progress: Callable[[IndexProgress], object] | None = None,
) -> bool:
    """Build the HNSW index of a space, with searches and writers going on; False if it is there or
    cannot be.

    workers      parallel ones; None: what the server allows
    wait         for somebody else's build of the same index; False: leave it to them
    on_progress  called in this thread, twice a second

    An index that an earlier build left invalid is dropped first, and so is this one if its build
    fails or is interrupted. Raises DatabaseError.
    """
    schema, secrets = check_schema(schema), secrets_of(read_dsn(address))
    plan = _Plan(schema, space_id, m, ef_construction, workers, wait)
    try:
        with psycopg.connect(address, autocommit=True) as connection:
            if on_progress is None:
                return _build(connection, plan)
            return _watched(address, connection, plan, on_progress)
    except psycopg.Error as error:
        raise mapped(error, schema=schema, secrets=secrets, writes=True) from error


def drop_index(address: str, space_id: int, *, schema: str = DEFAULT_SCHEMA) -> bool:
    """Drop the HNSW indexes of a space, with searches and writers going on; search compares every
    vector until one is built. False where there is none, where this role does not own the table,
    or where a pooler is between. Raises DatabaseError."""
    schema, secrets = check_schema(schema), secrets_of(read_dsn(address))
    try:
        with psycopg.connect(address, autocommit=True) as connection:
            found = _facts(connection, schema, space_id)
            if found is None or not found["owner"] or is_pooled(connection):
                return False
            return bool(_drop(connection, f"{schema}.embedding_{space_id:d}", valid=True))
    except psycopg.Error as error:
        raise mapped(error, schema=schema, secrets=secrets, writes=True) from error


def drop_invalid(connection: Connection, schema: str, table: str) -> list[str]:
    """Drop the indexes of a table that a failed build has left; their names. A build that is going
    on is left alone."""
    return _drop(connection, f"{schema}.{table}", valid=False)


def is_pooled(connection: Connection) -> bool:
    """Whether a pooler is between: it shows its clients another process than the one that works
    for them, and what is set or locked in a session goes astray."""
    [pid] = connection.execute("select pg_backend_pid()").fetchone() or [None]
    return bool(pid != connection.info.backend_pid)


def _build(connection: Connection, plan: _Plan) -> bool:
    found = _facts(connection, plan.schema, plan.space_id)
    if found is None or found["dimensions"] > _LONGEST[found["type"]]:
        return False
    if not found["owner"] or is_pooled(connection):
        with connection.transaction():
            connection.execute("set local statement_timeout = 0")
            [built] = connection.execute(
                f"select {plan.schema}.create_embedding_index(%s, %s, %s)",
                [plan.space_id, plan.m, plan.ef],
            ).fetchone() or [False]
        return bool(built)
    connection.execute("set statement_timeout = 0")
    # One build at a time: a session lock, because there is no transaction.
    key = f"hashtext('{plan.schema}.build_index'), {plan.space_id:d}"
    if plan.wait:
        connection.execute(f"select pg_advisory_lock({key})")
    elif connection.execute(f"select pg_try_advisory_lock({key})").fetchone() != (True,):
        return False
    try:
        drop_invalid(connection, plan.schema, plan.table)
        if _has_index(connection, plan):
            return False
        _prepare(connection, plan, found)
        statement = (
            f"create index concurrently {plan.table}_hnsw on {plan.place} using hnsw"
            f" (embedding {found['type']}_cosine_ops)"
            f" with (m = {plan.m:d}, ef_construction = {plan.ef:d})"
        )
        try:
            _create(connection, statement, plan)
        except BaseException:
            if not connection.broken and not connection.closed:
                drop_invalid(connection, plan.schema, plan.table)
            raise
        connection.execute(f"analyze {plan.place}")
        return True
    finally:
        if not connection.broken and not connection.closed:
            connection.execute(f"select pg_advisory_unlock({key})")


def _create(connection: Connection, statement: str, plan: _Plan) -> None:
    try:
        connection.execute(statement)
    except (psycopg.errors.InsufficientResources, psycopg.errors.SystemError):
        # Parallel workers share their memory in /dev/shm, which containers keep small.
        drop_invalid(connection, plan.schema, plan.table)
        connection.execute("set max_parallel_maintenance_workers = 0")
        connection.execute(statement)


def _watched(
    address: str,
    connection: Connection,
    plan: _Plan,
    on_progress: Callable[[IndexProgress], object],
) -> bool:
    """Build in a thread, and tell from this one how far it is."""
    built: list[bool] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            built.append(_build(connection, plan))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True, name="ragpg-index")
    thread.start()
    try:
        thread.join(_LOOK)
        if thread.is_alive():
            with psycopg.connect(address, autocommit=True) as looking:
                while thread.is_alive():
                    for progress in _progress(looking, plan):
                        on_progress(progress)
                    thread.join(_LOOK)
    except BaseException:
        # First the build, whose handler drops what it leaves; then that, where writers hinder it.
        for _ in range(2):
            connection.cancel_safe(timeout=5)
            thread.join(_GRACE)
        raise
    if failed:
        raise failed[0]
    return built[0]


def _progress(connection: Connection, plan: _Plan) -> list[IndexProgress]:
    rows = connection.execute(
        """select phase, coalesce(nullif(tuples_done, 0), blocks_done, 0),
                  coalesce(nullif(tuples_total, 0), blocks_total, 0)
             from pg_stat_progress_create_index
            where relid = to_regclass(%s) and phase is not null""",
        [plan.place],
    ).fetchall()
    return [IndexProgress(plan.space_id, *row) for row in rows]


def _drop(connection: Connection, place: str, *, valid: bool) -> list[str]:
    names = connection.execute(
        """select format('%%I.%%I', nspname, class.relname)
             from pg_index
             join pg_class as class on class.oid = indexrelid
             join pg_namespace on pg_namespace.oid = class.relnamespace
             join pg_am on pg_am.oid = class.relam and amname = 'hnsw'
            where indrelid = to_regclass(%s) and (indisvalid = %s)
              and not exists (select from pg_stat_progress_create_index as building
                               where building.index_relid = indexrelid)
            order by 1""",
        [place, valid],
    ).fetchall()
    for (name,) in names:
        connection.execute(f"drop index concurrently if exists {name}")
    return [name for (name,) in names]


def _facts(connection: Connection, schema: str, space_id: int) -> Mapping[str, Any] | None:
    row = connection.execute(
        f"""select space.dimensions, space.type, pg_has_role(class.relowner, 'usage')
              from {schema}.embedding_space as space
              join pg_class as class
                on class.oid = to_regclass('{schema}.embedding_' || space.id)
             where space.id = %s""",
        [space_id],
    ).fetchone()
    names = ("dimensions", "type", "owner")
    return None if row is None else dict(zip(names, row, strict=True))


def _has_index(connection: Connection, plan: _Plan) -> bool:
    row = connection.execute(
        f"select {plan.schema}.has_embedding_index(%s)", [plan.space_id]
    ).fetchone()
    return bool(row and row[0])


def _prepare(connection: Connection, plan: _Plan, found: Mapping[str, Any]) -> None:
    """Memory for the whole graph, within reason, and parallel workers."""
    rows = connection.execute(f"select count(*) from {plan.place}").fetchone()
    needed = memory_for(rows[0] if rows else 0, found["dimensions"], found["type"])
    wanted = max(64 * 2**20, min(needed, MOST_MEMORY)) // 1024
    connection.execute(
        """select set_config('maintenance_work_mem', greatest(%s,
             (select setting::bigint from pg_settings where name = 'maintenance_work_mem'))::text,
             false)""",
        [wanted],
    )
    if plan.workers is not None:
        connection.execute(f"set max_parallel_maintenance_workers = {plan.workers:d}")


def index_status(address: str, *, schema: str = DEFAULT_SCHEMA) -> list[dict[str, Any]]:
    """Every embedding space with the state of its index: none, building, valid or invalid; phase
    and percent of a build, bytes of the index. Raises DatabaseError."""
    schema, secrets = check_schema(schema), secrets_of(read_dsn(address))
    names = ("space_id", "model", "dimensions", "vectors", "state", "phase", "percent", "bytes")
    try:
        with psycopg.connect(address, autocommit=True) as connection:
            rows = connection.execute(
                f"""select space_id, model, dimensions, vectors, state, phase,
                           (100.0 * done / nullif(total, 0))::double precision, bytes::bigint
                      from {schema}.index_progress()"""
            ).fetchall()
    except psycopg.Error as error:
        raise mapped(error, schema=schema, secrets=secrets) from error
    return [dict(zip(names, row, strict=True)) for row in rows]
