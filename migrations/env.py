"""alembic's entrance, for work on this repository: the same steps as `ragpg migrate`.

    alembic -x dsn=postgresql:///scratch upgrade head
    alembic -x dsn=postgresql:///scratch check

The database is `-x dsn=...` or RAGPG_DSN, the schema `-x schema=...` or ragpg.
"""

import os
from typing import Any

from alembic import context

from ragpg import migrate, targets
from ragpg.errors import ConfigError
from ragpg.schema import tables

arguments = context.get_x_argument(as_dictionary=True)
schema = arguments.get("schema", "ragpg")
dsn = arguments.get("dsn") or os.environ.get("RAGPG_DSN")


def configure(**options: Any) -> None:
    """Set alembic up twice: what the command wants to do is known after the first time."""
    options |= {
        "version_table": migrate.VERSION_TABLE,
        "version_table_schema": schema,
        "target_metadata": tables(schema),
        "include_schemas": True,
        "include_name": lambda name, kind, _: kind != "schema" or name == schema,
        "include_object": lambda _, name, kind, *rest: not migrate.is_embedding_table(kind, name),
    }
    context.configure(**options)
    plan = context.get_context().opts["fn"]
    context.configure(**options, fn=migrate.guarded(plan, schema))


def goal() -> tuple[bool, str | None]:
    """Whether this command changes the database, and the revision it ends at."""
    try:
        found = context.get_revision_argument()
    except KeyError:
        return False, None
    return True, found if isinstance(found, str) else None


changes, revision = goal()
if context.is_offline_mode():
    configure(dialect_name="postgresql")
    with context.begin_transaction():
        migrate.run(context.get_context(), schema, goal=revision)
elif not dsn:
    raise ConfigError("no database: pass -x dsn=postgresql://... or set RAGPG_DSN")
else:
    with targets.transaction(dsn) as connection:
        configure(connection=connection)
        if changes:
            migrate.run(context.get_context(), schema)
        else:
            connection.exec_driver_sql(migrate.search_path(schema))
            context.run_migrations()
