"""Cypher over the AGE mirror of a namespace's graph, as flows.

The driver apache-age-python is not used: it needs psycopg2. All that is needed is SQL, because
ragpg.cypher() returns jsonb.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragpg import arguments
from ragpg.errors import ConfigError, CypherError, DatabaseError, ExtensionMissing, SchemaOutdated
from ragpg.steps import Query, all_columns, fetch, fetch_one

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragpg.steps import Flow
    from ragpg.types import Json


@dataclass(frozen=True, slots=True)
class LabelChange:
    """What a sync did to one label: rows brought, rows taken away, rows now."""

    label: str
    added: int
    removed: int
    total: int


@dataclass(frozen=True, slots=True)
class LabelState:
    """One label of a namespace's graph: rows there, and rows that should be there.

    `label` is None where the namespace has no graph, or one that a restored dump has broken.
    """

    namespace: str
    mode: str
    graph: str | None
    label: str | None
    rows: int | None
    wanted: int | None

    @property
    def is_current(self) -> bool:
        """Whether the label has as many rows as its tables."""
        return self.label is not None and self.rows == self.wanted


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether this database has the extension and ragpg's functions for it, and may have it."""

    installed: bool
    applied: bool
    available: bool


#: Its own limit, five seconds later, is at most ten minutes.
MOST_SECONDS = 595

AVAILABLE = Query(
    """
select exists (select from pg_catalog.pg_extension where extname = 'age'),
       to_regprocedure('ragpg.sync_cypher_graph(text)') is not null,
       exists (select from pg_catalog.pg_available_extensions where name = 'age')
""",
    Availability,
    reads=True,
)
CYPHER = Query(
    """
select (select to_jsonb(plan.columns)::text from ragpg.cypher_plan(%(query)s) as plan), found::text
  from ragpg.cypher(%(query)s, %(params)s::jsonb, %(namespace)s, %(limit)s) as found
""",
    all_columns,
    reads=True,
)
COLUMNS = Query(
    "select to_jsonb(plan.columns)::text from ragpg.cypher_plan(%(query)s) as plan",
    all_columns,
    reads=True,
)
SYNC = Query(
    "select label, added, removed, total from ragpg.sync_cypher_graph(%(namespace)s)", LabelChange
)
DROP = Query("select ragpg.drop_cypher_graph(%(namespace)s)", bool)
MODE = Query("select ragpg.set_cypher_mode(%(namespace)s, %(mode)s)", all_columns)
STATUS = Query(
    "select namespace, mode, graph, label, rows, wanted from ragpg.cypher_status()",
    LabelState,
    reads=True,
)


def available() -> Flow[Availability]:
    """Whether Cypher can be had in this database."""
    found: Availability = yield from fetch_one(AVAILABLE)
    return found


def cypher(
    query: str,
    params: Mapping[str, Json] | None = None,
    *,
    namespace: str = "default",
    timeout: float = 10.0,
) -> Flow[list[dict[str, Any]]]:
    """Rows of a Cypher query over a namespace's graph, each a dictionary in the order of RETURN.

    params   values for $name in the query
    timeout  seconds, up to 595, after which the statement ends with SearchTimeout

    Raises ConfigError for arguments of a wrong type and for another timeout, CypherError where the
    query is refused or wrong, ExtensionMissing without AGE.
    """
    arguments.seconds("timeout", timeout, most=MOST_SECONDS)
    arguments.text("query", query)
    try:
        bound = json.dumps(arguments.table("params", params), ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"params cannot be written as JSON: {error}") from error
    yield from _require()
    values = {
        "query": query,
        "params": bound,
        "namespace": namespace,
        # The statement timeout comes first and ends the statement alone.
        "limit": int(timeout * 1000) + 5000,
    }
    try:
        rows = yield from fetch(CYPHER, values, timeout=timeout)
    except DatabaseError as error:
        # Syntax, an unknown variable or function, a division by zero: the query's, not ours.
        if error.sqlstate and error.sqlstate[:2] in ("42", "22") and error.sqlstate != "42501":
            raise CypherError(f"Cypher: {error.message}", hint=error.hint) from error
        raise
    found = []
    for columns, text in rows:
        row = json.loads(text)
        found.append({name: row[name] for name in json.loads(columns)})
    return found


def columns(query: str) -> Flow[list[str]]:
    """The names of the columns that a Cypher query returns."""
    [[text]] = yield from fetch(COLUMNS, {"query": query})
    names: list[str] = json.loads(text)
    return names


def sync(namespace: str = "default") -> Flow[list[LabelChange]]:
    """Bring a namespace's graph to its tables, and make it where there is none."""
    yield from _require()
    return (yield from fetch(SYNC, {"namespace": namespace}, timeout=0))


def drop(namespace: str = "default") -> Flow[bool]:
    """Drop a namespace's graph, whose tables stay; False where there is none."""
    yield from _require()
    dropped: bool = yield from fetch_one(DROP, {"namespace": namespace})
    return dropped


def rebuild(namespace: str = "default") -> Flow[list[LabelChange]]:
    """Drop a namespace's graph and make it anew."""
    yield from drop(namespace)
    return (yield from sync(namespace))


def set_mode(mode: str, namespace: str = "default") -> Flow[None]:
    """Choose when a namespace's graph is written: transaction, manual or off."""
    yield from _require()
    yield from fetch(MODE, {"namespace": namespace, "mode": mode})


def status() -> Flow[list[LabelState]]:
    """The labels of all namespaces' graphs; nothing where AGE is absent."""
    found = yield from available()
    if not (found.installed and found.applied):
        return []
    return (yield from fetch(STATUS, timeout=0))


def _require() -> Flow[None]:
    found = yield from available()
    if not found.installed:
        raise ExtensionMissing(
            "Cypher needs the extension age, which this database lacks; everything else works",
            hint="An administrator runs in this database: CREATE EXTENSION age; then: ragpg migrate"
            if found.available
            else "The server has no AGE: install its package (postgresql-NN-age), or use "
            "`ragpg db up` or docker/.",
        )
    if not found.applied:
        raise SchemaOutdated(
            "extension age came to this database after ragpg's functions",
            hint="Run: ragpg migrate. If that changes nothing, the owner of AGE runs: "
            "GRANT USAGE ON SCHEMA ag_catalog TO the role that migrates.",
        )
