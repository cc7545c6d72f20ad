"""`ragpg doctor`: what is wrong with a database, what is switched off, and what to do about it.

It reads only, works for any role that may connect, and before the schema is installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlalchemy import Connection, Row, text
from sqlalchemy.exc import DBAPIError

from ragpg import migrate, sqlfiles, targets
from ragpg.faults import faults
from ragpg.graph.analysis import STALE_SHARE
from ragpg.settings import VECTOR_RETENTION
from ragpg.sqlfiles import DEFAULT_SCHEMA, schema_option
from ragpg.terminal import shell_argument
from ragpg.vectors import INDEX_FROM

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ragpg.protocols import Embedder
    from ragpg.targets import Target

#: Extensions: required or not, the oldest version that will do, and what is off without.
EXTENSIONS = (
    ("vector", True, (0, 8), "nothing works"),
    ("btree_gin", True, (1, 0), "nothing works"),
    ("age", False, (1, 5), "Cypher is off; graph search works"),
)

#: The oldest server the SQL is tested on.
OLDEST_SERVER = 17

#: Log rows that the weights of keyword search do not know until they are folded.
LOG_ROWS = 5_000


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. `remedy` is a statement or command to run, or "" when all is well."""

    name: str
    status: Literal["ok", "warning", "error"]
    detail: str
    remedy: str = ""


def examine(
    target: Target,
    schema: str = DEFAULT_SCHEMA,
    *,
    embedder: Embedder | None = None,
    retention: float = VECTOR_RETENTION,
    share: float = STALE_SHARE,
) -> list[Check]:
    """Check a database, and an embedder against what its vectors were made with.

    retention  days that a cached vector may outlive its text, as in the settings
    share      of documents that have to have changed for a graph to be stale, 0 to 1, as in [graph]

    A check that this role may not run is a warning and hides no other one. Raises `DatabaseError`
    only when the database cannot be reached.
    """
    sqlfiles.check_schema(schema)
    state = migrate.status(target, schema)
    found: list[Check] = []
    with targets.transaction(target) as connection:
        checks: dict[str, Iterator[Check]] = {
            "server": _server(connection),
            "extensions": _extensions(connection, schema),
            "schema": _schema(state),
            "rights": _rights(connection, schema),
        }
        if state.installed_version:
            checks |= {
                "keyword statistics": _keyword_log(connection, schema),
                "embedding spaces": _spaces(connection, schema),
                "indexes": _invalid_indexes(connection, schema),
                "embedder": _embedder(connection, schema, embedder),
                "repairs": _repairs(connection, schema, retention, share),
            }
        for name, check in checks.items():
            try:
                with connection.begin_nested():
                    found += check
            except DBAPIError as error:
                detail = f"could not be checked: {targets.mapped(error)}"
                found.append(Check(name, "warning", detail, "Run the doctor as another role."))
    return found


def _rows(connection: Connection, sql: str, **values: Any) -> list[Row[Any]]:
    return list(connection.execute(text(sql), values))


def _row(connection: Connection, sql: str, **values: Any) -> tuple[Any, ...]:
    return tuple(connection.execute(text(sql), values).one())


def _server(connection: Connection) -> Iterator[Check]:
    number, name, encoding = _row(
        connection,
        "select current_setting('server_version_num')::integer, current_setting('server_version'),"
        " current_setting('server_encoding')",
    )
    if number // 10000 >= OLDEST_SERVER:
        yield Check("server", "ok", f"PostgreSQL {name}")
    else:
        yield Check(
            "server",
            "warning",
            f"PostgreSQL {name} is older than the oldest tested, {OLDEST_SERVER}",
            "Upgrade the server.",
        )
    if encoding == "UTF8":
        yield Check("encoding", "ok", encoding)
    else:
        yield Check(
            "encoding",
            "error",
            f"the database has encoding {encoding}, ragpg needs UTF8",
            "CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0;",
        )


def _extensions(connection: Connection, schema: str) -> Iterator[Check]:
    installed = {
        row.extname: row
        for row in _rows(
            connection,
            "select extname, extversion, nspname, quote_ident(nspname) as quoted,"
            " quote_ident(current_user) as caller, has_schema_privilege(nspname, 'usage') as usable"
            " from pg_extension join pg_namespace on pg_namespace.oid = extnamespace",
        )
    }
    available = {row.name for row in _rows(connection, "select name from pg_available_extensions")}
    for name, required, oldest, loss in EXTENSIONS:
        title = f"extension {name}"
        bad: Literal["error", "warning"] = "error" if required else "warning"
        row = installed.get(name)
        if row is None:
            where = "not installed in this database" if name in available else "not on this server"
            first = "" if name in available else "Install its package on the server, then: "
            remedy = f"{first}CREATE EXTENSION {name};"
            if not required:
                remedy += f" and then: ragpg migrate --schema {schema}"
            yield Check(title, bad, f"{where}: {loss}", remedy)
        elif not row.usable:
            remedy = f"GRANT USAGE ON SCHEMA {row.quoted} TO {row.caller};"
            detail = f"this role may not use schema {row.nspname}: {loss}"
            # Nothing of ours calls into ag_catalog until somebody asks for Cypher.
            yield Check(title, bad, detail, remedy)
        elif _numbers(row.extversion) < oldest:
            wanted = ".".join(map(str, oldest))
            detail = f"version {row.extversion} is older than {wanted}: {loss}"
            yield Check(title, bad, detail, f"ALTER EXTENSION {name} UPDATE;")
        else:
            yield Check(title, "ok", f"version {row.extversion} in schema {row.nspname}")


def _schema(state: migrate.Status) -> Iterator[Check]:
    command = f"ragpg migrate --schema {state.schema}"
    if state.is_current:
        detail = f"schema {state.schema} at revision {state.revision}, {state.installed_version}"
        yield Check("schema", "ok", detail)
    elif state.revision is None:
        yield Check("schema", "error", f"schema {state.schema} is not installed", command)
    elif state.pending:
        detail = f"schema {state.schema} lacks the revisions {', '.join(state.pending)}"
        yield Check("schema", "error", detail, command)
    elif state.revision == state.head:
        detail = (
            f"its functions, of version {state.installed_version or 'unknown'}, are not those of"
            f" this package, {state.package_version}: searches and ingests are refused"
        )
        yield Check("schema", "error", detail, command)
    else:
        detail = f"revision {state.revision} is newer than this package's {state.head}"
        yield Check("schema", "error", detail, "pip install --upgrade ragpg")


def _rights(connection: Connection, schema: str) -> Iterator[Check]:
    role, quoted, read_only, there, usage, write = _row(
        connection,
        "select current_user, quote_ident(current_user),"
        " current_setting('transaction_read_only')::boolean,"
        " to_regnamespace(:schema) is not null,"
        " has_schema_privilege(to_regnamespace(:schema), 'usage'),"
        " has_table_privilege(to_regclass(:schema || '.document'), 'insert')",
        schema=schema,
    )
    if not there:
        return
    if not usage:
        grant = f"GRANT USAGE ON SCHEMA {schema} TO {quoted};"
        yield Check("rights", "error", f"role {role} may not use schema {schema}", grant)
    elif write is False:
        yield Check("rights", "ok", f"role {role} may search, not ingest")
    elif read_only:
        yield Check("rights", "ok", "this server only reads: search, not ingest")
    else:
        yield Check("rights", "ok", f"role {role} may search and ingest")


def _keyword_log(connection: Connection, schema: str) -> Iterator[Check]:
    (rows,) = _row(
        connection,
        f"select count(*) from (select from {schema}.keyword_log limit {LOG_ROWS + 1}) as log",
    )
    if rows <= LOG_ROWS:
        yield Check("keyword statistics", "ok", f"{rows} changes wait to be folded")
    else:
        yield Check(
            "keyword statistics",
            "warning",
            f"more than {LOG_ROWS} changes wait to be folded: word weights are stale",
            f"select {schema}.fold_statistics();",
        )


def _spaces(connection: Connection, schema: str) -> Iterator[Check]:
    spaces = _rows(
        connection,
        f"""select space.id, space.model, space.dimensions, table_class.oid as oid,
                   greatest(table_class.reltuples, 0)::bigint as estimate,
                   exists (select from pg_index
                             join pg_class as index_class on index_class.oid = indexrelid
                             join pg_am on pg_am.oid = index_class.relam
                            where indrelid = table_class.oid and indisvalid
                              and amname = 'hnsw') as indexed
              from {schema}.embedding_space as space
              left join pg_class as table_class
                on table_class.oid = to_regclass('{schema}.embedding_' || space.id)
             order by space.id""",
    )
    for space in spaces:
        title = f"embedding space {space.id}"
        name = f"{space.model}, {space.dimensions} dimensions"
        if space.oid is None:
            remedy = f"delete from {schema}.embedding_space where id = {space.id};"
            yield Check(title, "error", f"{name}: its table is missing", remedy)
            continue
        # reltuples is 0 until the first analyze, so a bounded count decides.
        (rows,) = _row(
            connection,
            f"select count(*) from (select from {schema}.embedding_{space.id:d}"
            f" limit {INDEX_FROM + 1}) as probe",
        )
        if rows > INDEX_FROM and not space.indexed:
            yield Check(
                title,
                "warning",
                f"{name}: no HNSW index over {max(rows, space.estimate)} rows or more",
                f"select {schema}.create_embedding_index({space.id});",
            )
        else:
            index = "HNSW index" if space.indexed else "exact scan"
            yield Check(title, "ok", f"{name}, {index}")


def _invalid_indexes(connection: Connection, schema: str) -> Iterator[Check]:
    broken = _rows(
        connection,
        "select format('%I.%I', nspname, relname) as name"
        " from pg_index join pg_class on pg_class.oid = indexrelid"
        " join pg_namespace on pg_namespace.oid = relnamespace"
        " where nspname = :schema and not indisvalid order by 1",
        schema=schema,
    )
    for (name,) in broken:
        yield Check("indexes", "error", f"index {name} is invalid", f"REINDEX INDEX {name};")
    if not broken:
        yield Check("indexes", "ok", "all are valid")


def _repairs(
    connection: Connection, schema: str, retention: float, share: float
) -> Iterator[Check]:
    """What --fix would mend and no check above has named."""
    where = schema_option(schema)
    for fault in faults(connection, schema, retention=retention, share=share):
        if fault.minor:
            continue
        # Indexes and the log of words have checks of their own; tables that were just written are
        # analysed by autovacuum within a minute, where it runs.
        if fault.name in ("indexes", "statistics") or "wait to be folded" in fault.detail:
            continue
        remedy = f"ragpg doctor --fix{where}"
        if fault.namespace is not None:
            remedy = f"ragpg reembed --missing{where} {shell_argument(fault.namespace)}"
        yield Check(fault.name, "warning", fault.detail, remedy)


def _embedder(connection: Connection, schema: str, embedder: Embedder | None) -> Iterator[Check]:
    if embedder is None:
        return
    for row in _rows(
        connection,
        f"""select namespace.name, space.model, space.dimensions
              from {schema}.namespace
              join {schema}.embedding_space as space on space.id = namespace.space_id
             order by namespace.name""",
    ):
        if (row.model, row.dimensions) == (embedder.model, embedder.dimensions):
            continue
        yield Check(
            f"embedder of {row.name}",
            "warning",
            f"namespace {row.name!r} holds vectors of {row.model} ({row.dimensions} dimensions),"
            f" the embedder is {embedder.model} ({embedder.dimensions})",
            f"Search it with {row.model}, or: ragpg reembed --embedder NEW --switch"
            f"{schema_option(schema)} {shell_argument(row.name)}",
        )


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.partition("-")[0].split(".")
    return tuple(int(part) for part in parts if part.isdigit())
