"""Install, upgrade and remove the schema: the one road that all ways in take.

The CLI, `alembic` in this repository, a host's env.py or revision, and the printed script run the
same steps in one transaction: lock, preflight, search path, revisions, and at head the files of
sql/. Nothing outside the schema changes, extensions that were missing aside.
"""

from __future__ import annotations

import io
import re
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias

from alembic.runtime.migration import MigrationContext
from alembic.util.exc import CommandError
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from ragpg import __version__, sqlfiles, targets
from ragpg.errors import ConfigError, SchemaMissing, SchemaOutdated
from ragpg.installed import (
    VERSION_TABLE,
    Status,
    current,
    has_table,
    head,
    pending,
    revisions,
    status,
    unknown_revision,
)
from ragpg.sqlfiles import DEFAULT_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from alembic.script import ScriptDirectory

    from ragpg.sqlfiles import SqlFile
    from ragpg.targets import Target

__all__ = [
    "VERSION_TABLE",
    "Status",
    "current",
    "downgrade",
    "guarded",
    "head",
    "include_name",
    "include_object",
    "is_embedding_table",
    "pending",
    "run",
    "run_sql",
    "script",
    "search_path",
    "status",
    "upgrade",
]

# alembic's steps from the revisions in the database to the wanted one.
_Plan: TypeAlias = "Callable[[Any, MigrationContext], Iterable[Any]]"

_running: ContextVar[tuple[MigrationContext, str]] = ContextVar("ragpg_migration")


def upgrade(target: Target, revision: str = "head", schema: str = DEFAULT_SCHEMA) -> None:
    """Bring the schema to a revision; at head also its functions, views, triggers and comments.

    `target` is a DSN, an engine, or a connection whose transaction is joined and left to the
    caller. Running it again changes nothing. Several processes may call it at once. Raises
    `ExtensionMissing` with the statement an administrator must run, `SchemaOutdated` when the
    database was migrated by a newer package, `ConfigError` for a bad schema name or revision.
    """
    sqlfiles.check_schema(schema)
    scripts = revisions()
    with targets.transaction(target) as connection, _search_path_restored(connection):
        context = _context(
            schema, lambda heads, _: scripts._upgrade_revs(revision, heads), connection
        )
        run(context, schema)


def downgrade(target: Target, revision: str = "base", schema: str = DEFAULT_SCHEMA) -> None:
    """Go back to a revision; at base everything of ours is gone, data included.

    Functions are dropped before the first revision goes; where the result is not base, the package
    of that revision brings its own back by `upgrade`. Extensions stay. The schema stays when it
    holds anything else. Raises `SchemaMissing` when there is nothing to downgrade.
    """
    sqlfiles.check_schema(schema)
    scripts = revisions()
    with targets.transaction(target) as connection, _search_path_restored(connection):
        if not has_table(connection, schema, VERSION_TABLE):
            raise SchemaMissing(f"schema {schema} is not installed, so there is nothing to remove")
        context = _context(
            schema, lambda heads, _: scripts._downgrade_revs(revision, heads), connection
        )
        run(context, schema, prepare=False)


def script(
    schema: str = DEFAULT_SCHEMA, *, start: str | None = None, revision: str = "head"
) -> str:
    """Return the SQL that `upgrade` would run, as one transaction for psql, Flyway or sqitch.

    It starts from an empty database, or from the revision `start`, and stops with an error, having
    changed nothing, where the database is at another one.
    """
    sqlfiles.check_schema(schema)
    scripts = revisions()
    goal = _resolved(scripts, revision)
    start = _resolved(scripts, start) if start else None
    out = io.StringIO()
    context = _context(
        schema, lambda heads, _: scripts._upgrade_revs(revision, heads), start=start, out=out
    )
    out.write(
        f"-- ragpg {__version__}, schema {schema}: psql -v ON_ERROR_STOP=1 -f <this file>\n\n"
    )
    with context.begin_transaction():
        run(context, schema, goal=goal)
    return out.getvalue()


def run_sql(sql: str) -> None:
    """Run SQL of a revision, written for schema ragpg, unchanged but for the schema's name.

    Only inside a migration. A colon or a percent sign means nothing special, several statements
    are fine, and offline the text goes to the script.
    """
    try:
        context, schema = _running.get()
    except LookupError:
        raise ConfigError(
            "run_sql works inside a revision of ragpg only: call ragpg.migrate.upgrade"
        ) from None
    _emit(context, sqlfiles.render(sql, schema))


def run(
    context: MigrationContext, schema: str, *, goal: str | None = None, prepare: bool = True
) -> None:
    """The steps of a migration, for a context whose plan is `guarded`; migrations/env.py too.

    The caller opened the transaction. `goal` is the revision where a printed script ends.
    """
    token = _running.set((context, schema))
    try:
        _emit(context, sqlfiles.step("lock"))
        if prepare:
            _emit(context, sqlfiles.step("prepare", schema))
        _emit(context, search_path(schema))
        _emit(context, sqlfiles.step("load_vector"))
        if context.as_sql:
            start = "".join(context.get_current_heads())
            _emit(context, sqlfiles.step("start", schema).replace("{start}", start))
        try:
            context.run_migrations()
        except CommandError as error:
            raise ConfigError(f"cannot migrate schema {schema}: {error}") from error
        heads = (goal,) if context.as_sql else context.get_current_heads()
        if heads == (head(),):
            _apply_files(context, schema)
        elif not heads:
            _emit(context, sqlfiles.step("drop_schema", schema))
    finally:
        _running.reset(token)


def _apply_files(context: MigrationContext, schema: str) -> None:
    files = sqlfiles.files(schema)
    for extension in sorted({file.extension for file in files if file.extension}):
        chosen = [file for file in files if file.extension == extension]
        _emit(context, _conditional("unless_extension", extension, _drop_code(schema, chosen)))
    for file in files:
        text = file.text
        if file.extension:
            text = _conditional("if_extension", file.extension, text)
        try:
            _emit(context, text)
        except DBAPIError as error:
            raise targets.mapped(error, where=f"sql/{file.path}") from error
    _emit(
        context,
        f"insert into {schema}.install (version, digest) "
        f"values ('{__version__}', '{sqlfiles.digest()}')\n"
        "on conflict (only_row) do update set version = excluded.version, "
        "digest = excluded.digest, installed_at = excluded.installed_at;",
    )


def _conditional(step: str, extension: str, text: str) -> str:
    """SQL that runs a text where the extension is installed, or where it is not."""
    return sqlfiles.step(step).replace("{extension}", extension).replace("{text}", text)


def _context(
    schema: str,
    plan: _Plan,
    connection: Connection | None = None,
    *,
    start: str | None = None,
    out: io.StringIO | None = None,
) -> MigrationContext:
    options: dict[str, Any] = {
        "fn": guarded(plan, schema),
        "version_table": VERSION_TABLE,
        "version_table_schema": schema,
    }
    if connection is not None:
        return MigrationContext.configure(connection, opts=options)
    options |= {"as_sql": True, "output_buffer": out, "starting_rev": start}
    return MigrationContext.configure(dialect_name="postgresql", opts=options)


def search_path(schema: str = DEFAULT_SCHEMA) -> str:
    """SQL that lets unqualified names of extension types resolve until the transaction ends."""
    return sqlfiles.step("search_path", schema)


def is_embedding_table(kind: str, name: str | None) -> bool:
    """True for a table that a function made for an embedding space: autogenerate skips those."""
    return kind == "table" and bool(re.fullmatch(r"(embedding|sentence)_\d+", name or ""))


def include_name(
    schema: str = DEFAULT_SCHEMA,
) -> Callable[[str | None, str, Any], bool]:
    """For a host's `context.configure(include_schemas=True, include_name=...)`: skip our schema."""
    return lambda name, kind, _parents: not (kind == "schema" and name == schema)


def include_object(
    schema: str = DEFAULT_SCHEMA,
) -> Callable[[Any, str | None, str, bool, Any], bool]:
    """For a host's `context.configure(include_object=...)`: autogenerate skips our tables."""

    # Knowing the types of pgvector keeps the reflection of our tables silent.
    import pgvector.sqlalchemy  # noqa: F401

    def include(item: Any, name: str | None, kind: str, reflected: bool, other: Any) -> bool:
        table = item if kind == "table" else getattr(item, "table", None)
        return getattr(table, "schema", None) != schema

    return include


def guarded(plan: _Plan, schema: str) -> _Plan:
    """A plan that refuses a newer database, and drops the functions before going down."""

    def steps(heads: Any, context: MigrationContext) -> Iterable[Any]:
        if unknown := unknown_revision(heads):
            raise SchemaOutdated(
                f"schema {schema} is at revision {unknown}, which ragpg {__version__} does not know"
                f" (its newest is {head()})",
                hint="A newer ragpg migrated this database: upgrade the package. If the revision is"
                f" another application's, its table {schema}.{VERSION_TABLE} is in our place:"
                " choose another schema.",
            )
        todo = list(plan(heads, context))
        if any(step.is_downgrade for step in todo):
            _emit(context, _drop_code(schema))
        return todo

    return steps


def _drop_code(schema: str, files: Iterable[SqlFile] | None = None) -> str:
    """Drop by the names that the files create: a schema may hold other people's functions too."""
    chosen = sqlfiles.files() if files is None else files
    sql = sqlfiles.step("drop_code", schema)
    for kind in ("routine", "view", "trigger"):
        names = ", ".join(f"'{name}'" for name in sqlfiles.names(kind, chosen))
        sql = sql.replace(f"{{{kind}s}}", f"array[{names}]")
    return sql


def _emit(context: MigrationContext, sql: str) -> None:
    if context.as_sql:
        context.impl.static_output(sql)
        return
    assert context.connection is not None
    context.connection.exec_driver_sql(sql, execution_options={"no_parameters": True})


@contextmanager
def _search_path_restored(connection: Connection) -> Iterator[None]:
    """Give the caller's search path back; after an error the savepoint does that."""
    before = connection.execute(text("select current_setting('search_path')")).scalar_one()
    yield
    connection.execute(text("select set_config('search_path', :before, true)"), {"before": before})


def _resolved(scripts: ScriptDirectory, revision: str) -> str | None:
    try:
        found = scripts.get_revisions(revision)
    except CommandError as error:
        raise ConfigError(f"no revision {revision!r} in ragpg {__version__}: {error}") from error
    return found[0].revision if found else None
