"""The namespaces that the statements of a client may use, said to the database in each transaction.

The setting ragpg.allowed_namespaces is what the SQL functions and the policies keep to. It is set
for a transaction and never for a session, so neither a pool nor a transaction pooler hands it on
to the next user. Where the caller or the role has narrowed it already, it is only narrowed further.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragpg import arguments
from ragpg.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: One statement with one row. What stood before is kept for RESTORE, because a savepoint that is
#: released leaves the setting to the caller's transaction.
NARROW = """
with had as materialized (
  select coalesce(pg_catalog.current_setting('ragpg.allowed_namespaces', true), '') as names)
select pg_catalog.set_config('ragpg.allowed_before', had.names, true),
       pg_catalog.set_config('ragpg.allowed_namespaces', (case
         when had.names = '' then %(ragpg_allowed)s::text[]
         else array(select pg_catalog.unnest(had.names::text[])
                    intersect select pg_catalog.unnest(%(ragpg_allowed)s::text[])) end)::text, true)
  from had;"""

RESTORE = """
select pg_catalog.set_config('ragpg.allowed_namespaces',
  pg_catalog.current_setting('ragpg.allowed_before', true), true)"""


def allowed_names(value: Any) -> tuple[str, ...]:
    """The namespaces of an allow-list; an empty one allows nothing. Raises ConfigError."""
    hint = "Write allowed_namespaces=['handbook']."
    found = [
        arguments.text("each of allowed_namespaces", one)
        for one in arguments.items("allowed_namespaces", value, hint)
    ]
    if bad := [one for one in found if "\0" in one]:
        raise ConfigError(f"no namespace is called {bad[0]!r}")
    return tuple(dict.fromkeys(found))


def narrower(outer: tuple[str, ...] | None, value: Any) -> tuple[str, ...]:
    """What two allow-lists both allow, in the order of the second."""
    inner = allowed_names(value)
    return inner if outer is None else tuple(one for one in inner if one in outer)


def with_allowed(parameters: Mapping[str, Any], allowed: Sequence[str] | None) -> Mapping[str, Any]:
    """The parameters of a statement with those of NARROW."""
    return parameters if allowed is None else {**parameters, "ragpg_allowed": list(allowed)}


def refuse_limited(allowed: Sequence[str] | None, what: str) -> None:
    """Raise ConfigError for what looks at the whole database, where a client may not."""
    if allowed is not None:
        raise ConfigError(
            f"{what} looks at the whole database, and this client is limited to some namespaces",
            hint="Use a client without allowed_namespaces.",
        )
