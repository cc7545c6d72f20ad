"""Prices of models: a table that comes with the package, and the user's over it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ragpg.errors import ConfigError
from ragpg.types import Usage

TABLE = Path(__file__).with_name("prices.toml")
_TABLES = ("embeddings", "chat", "rerank")


class Price(NamedTuple):
    """USD per million tokens in and out, and per thousand searches of a reranker."""

    input: float = 0.0
    output: float = 0.0
    searches: float | None = None


def cost_of(model: str, tokens: int, table: str | None = None) -> Usage:
    """Tokens that went into a model with what they cost, None where no table has its price.

    `table` is the path of a file like prices.toml, whose prices win. Raises ConfigError when it
    cannot be read.
    """
    return priced(model, Usage(input_tokens=tokens), table)


def priced(model: str, usage: Usage, table: str | None = None, *, searches: int = 0) -> Usage:
    """A usage with its cost where it has none and a table knows the model; `searches` are those of
    a reranker that is paid by the search. Raises as cost_of."""
    if usage.cost_usd is not None:
        return usage
    price = price_of(model, table)
    if price is None:
        return usage
    if price.searches is not None:
        return replace(usage, cost_usd=searches * price.searches / 1e3)
    cost = (usage.input_tokens * price.input + usage.output_tokens * price.output) / 1e6
    return replace(usage, cost_usd=cost)


def price_of(model: str, table: str | None = None) -> Price | None:
    """The price of a model, the user's before the package's; None where neither knows it."""
    if table and (own := _read(table).get(model)) is not None:
        return own
    return _read(str(TABLE)).get(model)


@lru_cache(maxsize=8)
def _read(path: str) -> dict[str, Price]:
    try:
        found = tomllib.loads(Path(path).expanduser().read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"the table of prices {path} cannot be read: {error}") from error
    prices: dict[str, Price] = {}
    wrong = sorted(set(found) - set(_TABLES))
    for kind in _TABLES:
        given = found.get(kind, {})
        if not isinstance(given, dict):
            wrong.append(kind)
            continue
        for name, value in given.items():
            price = _price(kind, value)
            if price is None:
                wrong.append(name)
            else:
                prices[name] = price
    if wrong:
        raise ConfigError(
            f"the table of prices {path} has something else than prices: {', '.join(wrong)}",
            hint='Write [embeddings] "model" = 0.02 and [chat] "model" = {input = 0.15, output = '
            '0.6}, USD per million tokens, and [rerank] "model" = 2.0, USD per thousand searches.',
        )
    return prices


def _price(kind: str, value: Any) -> Price | None:
    if kind == "chat":
        known = isinstance(value, Mapping) and set(value) == {"input", "output"}
        return Price(**value) if known and all(map(_is_price, value.values())) else None
    if not _is_price(value):
        return None
    return Price(float(value)) if kind == "embeddings" else Price(searches=float(value))


def _is_price(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0
