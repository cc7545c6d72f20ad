"""What a database holds of ragpg, read beside what this package brings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from ragpg import __version__, sqlfiles, targets
from ragpg.errors import ConfigError
from ragpg.sqlfiles import DEFAULT_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragpg.targets import Target

VERSION_TABLE = "alembic_version"


@dataclass(frozen=True, slots=True)
class Status:
    """What a database holds, beside what this package brings."""

    schema: str
    revision: str | None
    head: str
    pending: tuple[str, ...]
    installed_version: str | None
    package_version: str
    code_is_current: bool

    @property
    def is_current(self) -> bool:
        """True when `upgrade` would change nothing."""
        return self.revision == self.head and self.code_is_current


def status(target: Target, schema: str = DEFAULT_SCHEMA) -> Status:
    """Compare a database with this package; reads only."""
    sqlfiles.check_schema(schema)
    with targets.transaction(target) as connection:
        heads = _heads(connection, schema)
        pending = () if unknown_revision(heads) else tuple(_pending(heads))
        installed = None
        if has_table(connection, schema, "install"):
            # The name has passed check_schema, so it needs no quotes.
            installed = connection.execute(
                text(f"select version, digest from {schema}.install")
            ).one_or_none()
        complete = _has_conditional_code(connection, schema)
    return Status(
        schema=schema,
        revision=", ".join(heads) or None,
        head=head(),
        pending=pending,
        installed_version=installed.version if installed else None,
        package_version=__version__,
        code_is_current=installed is not None
        and installed.digest == sqlfiles.digest()
        and complete,
    )


def current(target: Target, schema: str = DEFAULT_SCHEMA) -> str | None:
    """The revision that the database is at, or None where nothing is installed."""
    return status(target, schema).revision


def pending(target: Target, schema: str = DEFAULT_SCHEMA) -> tuple[str, ...]:
    """The revisions that `upgrade` would run, oldest first."""
    return status(target, schema).pending


def head() -> str:
    """The newest revision of this package."""
    found = revisions().get_current_head()
    if found is None:
        raise ConfigError(f"no revisions in {sqlfiles.migrations_folder()}: install ragpg again")
    return found


def revisions() -> ScriptDirectory:
    """The revisions of this package, as alembic's object."""
    return ScriptDirectory(str(sqlfiles.migrations_folder()))


def unknown_revision(found: Iterable[str]) -> str | None:
    """The first of these revisions that this package does not have."""
    known = {script.revision for script in revisions().walk_revisions()}
    return next((revision for revision in found if revision not in known), None)


def has_table(connection: Connection, schema: str, table: str) -> bool:
    """Whether the schema has a table of that name."""
    found = connection.execute(
        text("select to_regclass(:name) is not null"), {"name": f"{schema}.{table}"}
    )
    return bool(found.scalar_one())


def _has_conditional_code(connection: Connection, schema: str) -> bool:
    """Whether the functions for optional extensions are there exactly where those are.

    An extension that came after the last migration is used from the next one on.
    """
    files = [file for file in sqlfiles.files(schema) if file.extension]
    for extension in {file.extension for file in files}:
        names = sqlfiles.names("routine", [file for file in files if file.extension == extension])
        row = connection.execute(
            text(
                "select (select count(*) from pg_proc where proname = any (:names)"
                "   and pronamespace = to_regnamespace(:schema)) as present,"
                " (select has_schema_privilege(extnamespace, 'usage') from pg_extension"
                "   where extname = :extension) as usable"
            ),
            {"names": names, "schema": schema, "extension": extension},
        ).one()
        if row.usable is None and row.present > 0:
            return False
        if row.usable and row.present < len(names):
            return False
    return True


def _pending(heads: tuple[str, ...]) -> list[str]:
    lower = heads[0] if heads else "base"
    found = [script.revision for script in revisions().iterate_revisions("head", lower)]
    return list(reversed(found))


def _heads(connection: Connection, schema: str) -> tuple[str, ...]:
    if not has_table(connection, schema, VERSION_TABLE):
        return ()
    rows = connection.execute(
        text(f"select version_num from {schema}.{VERSION_TABLE} order by version_num")
    )
    return tuple(rows.scalars())
