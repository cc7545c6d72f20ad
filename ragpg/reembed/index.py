"""HNSW indexes that are built while everybody writes on, and never left behind half-built.

CREATE INDEX CONCURRENTLY runs outside of a transaction, and one that fails leaves an index that
costs every writer and serves nobody. So a build has a connection of its own, drops what it finds
or leaves invalid, and where this role does not own the tables asks the function in SQL instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg

from ragpg.connection_address import read_dsn, secrets_of
from ragpg.connection_errors import mapped
from ragpg.sqlfiles import DEFAULT_SCHEMA, check_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    Connection = psycopg.Connection[Any]

#: Bytes of an HNSW index per vector beside its numbers: neighbours (2 m of 6 bytes on the lowest
#: layer, and a fifteenth of that above) and the heads of two tuples.
_PER_VECTOR = 300
#: What a build takes of memory at most, unless the server's maintenance_work_mem is larger.
MOST_MEMORY = 2**30
#: Dimensions that an index holds.
_LONGEST = {"halfvec": 4000, "vector": 2000}


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
) -> bool:
    """Build the HNSW index of a space, with searches and writers going on; False if it is there or
    cannot be. `workers` are parallel ones, None what the server allows.

    An index that an earlier build left invalid is dropped first, and so is this one if its build
    fails. Raises DatabaseError.
    """
    schema, secrets = check_schema(schema), secrets_of(read_dsn(address))
    try:
        with psycopg.connect(address, autocommit=True) as connection:
            return _build(connection, schema, space_id, m, ef_construction, workers)
    except psycopg.Error as error:
        raise mapped(error, schema=schema, secrets=secrets, writes=True) from error


def _build(
    connection: Connection, schema: str, space_id: int, m: int, ef: int, workers: int | None
) -> bool:
    place = f"{schema}.embedding_{space_id:d}"
    found = _facts(connection, schema, space_id)
    if found is None or found["dimensions"] > _LONGEST[found["type"]]:
        return False
    connection.execute("set statement_timeout = 0")
    if not found["owner"]:
        [built] = connection.execute(
            f"select {schema}.create_embedding_index(%s, %s, %s)", [space_id, m, ef]
        ).fetchone() or [False]
        return bool(built)
    # One build at a time: a session lock, because there is no transaction.
    key = f"hashtext('{schema}.build_index'), {space_id:d}"
    connection.execute(f"select pg_advisory_lock({key})")
    try:
        drop_invalid(connection, schema, f"embedding_{space_id:d}")
        if _has_index(connection, place):
            return False
        _prepare(connection, place, found, workers)
        statement = (
            f"create index concurrently embedding_{space_id:d}_hnsw on {place} using hnsw"
            f" (embedding {found['type']}_cosine_ops) with (m = {m:d}, ef_construction = {ef:d})"
        )
        try:
            _create(connection, statement, schema, space_id)
        except BaseException:
            if not connection.broken and not connection.closed:
                drop_invalid(connection, schema, f"embedding_{space_id:d}")
            raise
        connection.execute(f"analyze {place}")
        return True
    finally:
        if not connection.broken and not connection.closed:
            connection.execute(f"select pg_advisory_unlock({key})")


def _create(connection: Connection, statement: str, schema: str, space_id: int) -> None:
    try:
        connection.execute(statement)
    except (psycopg.errors.InsufficientResources, psycopg.errors.SystemError):
        # Parallel workers share their memory in /dev/shm, which containers keep small.
        drop_invalid(connection, schema, f"embedding_{space_id:d}")
        connection.execute("set max_parallel_maintenance_workers = 0")
        connection.execute(statement)


def drop_invalid(connection: Connection, schema: str, table: str) -> list[str]:
    """Drop the indexes of a table that a failed build has left; their names. A build that is going
    on is left alone."""
    broken = connection.execute(
        """select format('%%I.%%I', nspname, class.relname)
             from pg_index
             join pg_class as class on class.oid = indexrelid
             join pg_namespace on pg_namespace.oid = class.relnamespace
             join pg_am on pg_am.oid = class.relam and amname = 'hnsw'
            where indrelid = to_regclass(%s) and not indisvalid
              and not exists (select from pg_stat_progress_create_index as building
                               where building.index_relid = indexrelid)
            order by 1""",
        [f"{schema}.{table}"],
    ).fetchall()
    for (name,) in broken:
        connection.execute(f"drop index concurrently if exists {name}")
    return [name for (name,) in broken]


def _facts(connection: Connection, schema: str, space_id: int) -> Mapping[str, Any] | None:
    row = connection.execute(
        f"""select space.dimensions, space.type,
                   pg_has_role(class.relowner, 'usage'),
                   greatest(class.reltuples, 0)::bigint
              from {schema}.embedding_space as space
              join pg_class as class
                on class.oid = to_regclass('{schema}.embedding_' || space.id)
             where space.id = %s""",
        [space_id],
    ).fetchone()
    names = ("dimensions", "type", "owner", "vectors")
    return None if row is None else dict(zip(names, row, strict=True))


def _has_index(connection: Connection, place: str) -> bool:
    row = connection.execute(
        """select exists (select from pg_index
                            join pg_class on pg_class.oid = indexrelid
                            join pg_am on pg_am.oid = relam
                           where indrelid = to_regclass(%s) and amname = 'hnsw' and indisvalid)""",
        [place],
    ).fetchone()
    return bool(row and row[0])


def _prepare(
    connection: Connection, place: str, found: Mapping[str, Any], workers: int | None
) -> None:
    """Memory for the whole graph, within reason, and parallel workers."""
    rows = connection.execute(f"select count(*) from {place}").fetchone()
    needed = memory_for(rows[0] if rows else 0, found["dimensions"], found["type"])
    wanted = max(64 * 2**20, min(needed, MOST_MEMORY)) // 1024
    connection.execute(
        """select set_config('maintenance_work_mem', greatest(%s,
             (select setting::bigint from pg_settings where name = 'maintenance_work_mem'))::text,
             false)""",
        [wanted],
    )
    if workers is not None:
        connection.execute(f"set max_parallel_maintenance_workers = {workers:d}")


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
