"""Every error that ragpg raises on purpose.

RagpgError
├── ConfigError                 an argument, setting or file is wrong
│   ├── FilterError             a metadata filter cannot be understood (RG003)
│   └── CypherError             a Cypher query is wrong or refused (RG006)
├── DatabaseError               Postgres refused or is not reachable
│   ├── SchemaMissing           the ragpg schema is not installed
│   ├── SchemaOutdated          the installed schema and this package differ
│   ├── ExtensionMissing        an administrator must install an extension (RG004)
│   ├── NamespaceNotFound       no namespace of that name (RG001)
│   ├── DimensionMismatch       a vector has another length than its space (RG002)
│   ├── SearchTimeout           the statement ran into its time limit
│   ├── PoolExhausted           no connection became free in time
│   ├── DiskFull                the server of the database has no room left (53100)
│   ├── ReadOnlyDatabase        a write on a replica or under a read-only role
│   └── JobLost                 a worker's jobs were taken away from it (RG007)
├── LocalDatabaseError          the private Postgres of `ragpg db` cannot run
├── LoadError                   a file or text cannot be read as a document
│   └── NotText                 it is binary, of a kind that holds no text
├── ProviderError               an embedding, chat or rerank service failed
│   ├── RateLimited             the service asked to wait longer than allowed
│   ├── ContextTooLong          the input is longer than the model takes
│   └── BadEmbedding            wrong count, order, length, NaN or zero vector
└── GroundingError              an answer cannot be checked
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Scope = Literal["input", "service", "unknown"]


class RagpgError(Exception):
    """Root of all errors of this package. `hint` names the next action, where there is one."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nHint: {self.hint}" if self.hint else self.message


class ConfigError(RagpgError):
    """An argument, a setting or a configuration file is wrong."""


class FilterError(ConfigError):
    """A metadata filter cannot be understood."""


class CypherError(ConfigError):
    """A Cypher query is wrong, or of a form that is refused."""


class DatabaseError(RagpgError):
    """Postgres refused a statement, or cannot be reached.

    `sqlstate` is the server's code; None when no server answered.
    """

    sqlstate: str | None = None


class SchemaMissing(DatabaseError):
    """The ragpg schema is not installed in this database."""


class SchemaOutdated(DatabaseError):
    """The schema in the database and this package are of different versions."""


class ExtensionMissing(DatabaseError):
    """An extension is not installed and this role may not install it."""


class NamespaceNotFound(DatabaseError):
    """No namespace of that name exists."""


class DimensionMismatch(DatabaseError):
    """A vector has another length than the embedding space of its namespace."""


class SearchTimeout(DatabaseError):
    """A statement ran into its time limit."""


class PoolExhausted(DatabaseError):
    """No connection became free within the configured time."""


class DiskFull(DatabaseError):
    """The server of the database has no room left on a disk."""


class ReadOnlyDatabase(DatabaseError):
    """A write was tried on a replica or under a role that may only read."""


class JobLost(DatabaseError):
    """A worker was too late: its lease ran out and another one has its jobs, or nobody."""


class LocalDatabaseError(RagpgError):
    """The private Postgres server of `ragpg db` cannot be installed, started or stopped."""


class LoadError(RagpgError):
    """A file or a text cannot be read as a document."""


class NotText(LoadError):
    """A picture, an archive, a program: there is no text in it to read."""


class ProviderError(RagpgError):
    """An embedding, chat or rerank service failed.

    `scope` says what the failure is about: "input" (one of the texts: the others would pass),
    "service" (any request would fail alike) or "unknown". `partial` maps positions of the texts
    to vectors that did arrive before the failure, so that nobody pays for them twice.
    """

    default_scope: ClassVar[Scope] = "unknown"

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        scope: Scope | None = None,
        partial: Mapping[int, list[float]] | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.scope: Scope = scope or self.default_scope
        self.partial: Mapping[int, list[float]] = partial or {}


class RateLimited(ProviderError):
    """A service asked to wait longer than the configured limit; `after` is how many seconds it
    asked for, where it said so."""

    default_scope = "service"
    after: float | None = None


class ContextTooLong(ProviderError):
    """An input is longer than the model accepts."""

    default_scope = "input"


class BadEmbedding(ProviderError):
    """A service returned vectors that do not fit the texts: count, order, length, NaN or zero."""


class GroundingError(RagpgError):
    """An answer cannot be checked against its evidence."""


#: SQLSTATEs raised by the functions in sql/, and some of Postgres' own, as the class they become.
BY_SQLSTATE: dict[str, type[RagpgError]] = {
    "RG001": NamespaceNotFound,
    "RG002": DimensionMismatch,
    "RG003": FilterError,
    "RG004": ExtensionMissing,
    "RG005": ConfigError,
    "RG006": CypherError,
    "RG007": JobLost,
    "53100": DiskFull,
    "57014": SearchTimeout,
    "25006": ReadOnlyDatabase,
    "42501": DatabaseError,
    "3F000": SchemaMissing,
    "42P01": SchemaMissing,
    "42883": SchemaOutdated,
}
