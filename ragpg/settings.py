"""Settings of a client: an argument wins over the environment, which wins over the default."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ragpg.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping


#: Fields that are texts; all others are numbers.
_TEXTS = ("dsn", "prices", "index")
#: Days that a cached vector outlives its text.
VECTOR_RETENTION = 7.0
#: Fields that may be 0, in days; a longer time than this Postgres need not count.
_FROM_ZERO, _LONGEST = ("vector_retention",), 36_500
#: Fields that are whole numbers; all other numbers are seconds, and Postgres counts their
#: milliseconds in 31 bits.
_SIZES, _LONGEST_WAIT = ("pool_size", "max_file_size"), 2_147_483
#: Fields that are yes or no.
_FLAGS = ("usage", "log_content")


_FLAG_WORDS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits and the address of the database. Times are seconds, sizes bytes.

    Every field may be set as RAGPG_<FIELD> in the environment, e.g. RAGPG_POOL_SIZE=20.

    dsn                address of the database; the argument of `connect` wins
    pool_size          most connections that one client opens
    pool_timeout       how long a call waits for one of them to become free
    connect_timeout    how long opening a connection may take
    search_timeout     how long the SQL of a search may run; a lower statement_timeout of the role
                       stays in force
    budget             after so long no further arm of a search starts
    retriever_timeout  how long an external retriever may take
    judge_timeout      how long a judge of claims may take; then the lexical one takes its place
    claim_ttl          after so long another worker may compute an embedding that was promised
    vector_retention   days for which the vector of a text stays in the cache after the text is
                       gone, so that one that comes back costs nothing; 0: at the next look, and
                       at once when a namespace is dropped
    max_file_size      larger files are not read
    index              the vector index during an ingest: auto, live or after, see docs/ingestion.md
    prices             path of a table of prices over that of the package (ragpg/prices.toml)
    usage              add up in the database what models cost, by day and namespace
    log_content        let queries and the messages of errors into logs and spans
    """

    dsn: str | None = field(default=None, repr=False)
    pool_size: int = 10
    pool_timeout: float = 30.0
    connect_timeout: float = 10.0
    search_timeout: float = 10.0
    budget: float = 5.0
    retriever_timeout: float = 5.0
    judge_timeout: float = 120.0
    claim_ttl: float = 30.0
    vector_retention: float = VECTOR_RETENTION
    max_file_size: int = 50_000_000
    index: Literal["auto", "live", "after"] = "auto"
    prices: Annotated[str, "path"] | None = None
    usage: bool = False
    log_content: bool = False

    def __post_init__(self) -> None:
        for name in _names():
            value = getattr(self, name)
            if name in _FLAGS and not isinstance(value, bool):
                raise ConfigError(f"setting {name} must be true or false, not {value!r}")
            if name in _FROM_ZERO and not 0 <= value < _LONGEST:
                raise ConfigError(f"setting {name} must be from 0 to {_LONGEST}, not {value!r}")
            if name in (*_TEXTS, *_FLAGS, *_FROM_ZERO):
                continue
            if not value > 0:
                raise ConfigError(f"setting {name} must be greater than 0, not {value!r}")
            if name not in _SIZES and value > _LONGEST_WAIT:
                raise ConfigError(
                    f"setting {name} must be at most {_LONGEST_WAIT:,} seconds, not {value!r}"
                )

    @classmethod
    def from_env(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """The defaults with what RAGPG_* variables say. Raises ConfigError for a bad number."""
        environment = os.environ if environment is None else environment
        found: dict[str, Any] = {}
        for name in _names():
            text = environment.get(f"RAGPG_{name.upper()}", "").strip()
            if text:
                found[name] = text if name in _TEXTS else _value(name, text)
        return replace(cls(), **found)


def _names() -> list[str]:
    return [one.name for one in fields(Settings)]


def _value(name: str, text: str) -> float | bool:
    if name not in _FLAGS:
        return _number(name, text)
    if text.lower() not in _FLAG_WORDS:
        raise ConfigError(
            f"RAGPG_{name.upper()} must be true or false, not {text!r}",
            hint="Unset it to use the default.",
        )
    return _FLAG_WORDS[text.lower()]


def _number(name: str, text: str) -> float | int:
    kind = int if name in _SIZES else float
    try:
        return kind(text)
    except ValueError:
        raise ConfigError(
            f"RAGPG_{name.upper()} must be a number, not {text!r}",
            hint="Unset it to use the default.",
        ) from None
