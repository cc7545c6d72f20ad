"""Prices of embedding models: a table that comes with the package, and the user's over it."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path

from ragpg.errors import ConfigError
from ragpg.types import Usage

TABLE = Path(__file__).with_name("prices.toml")


def cost_of(model: str, tokens: int, table: str | None = None) -> Usage:
    """Tokens of a model with what they cost, None where no table has its price.

    `table` is the path of a file like prices.toml, whose prices win. Raises ConfigError when it
    cannot be read.
    """
    known = {**_read(str(TABLE)), **(_read(table) if table else {})}
    price = known.get(model)
    return Usage(input_tokens=tokens, cost_usd=None if price is None else tokens * price / 1e6)


@lru_cache(maxsize=8)
def _read(path: str) -> dict[str, float]:
    try:
        found = tomllib.loads(Path(path).expanduser().read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"the table of prices {path} cannot be read: {error}") from error
    prices = found.get("embeddings", {})
    wrong = [name for name, price in prices.items() if not _is_price(price)]
    if wrong or set(found) - {"embeddings"}:
        raise ConfigError(
            f"the table of prices {path} has something else than prices: "
            f"{', '.join([*sorted(set(found) - {'embeddings'}), *wrong])}",
            hint='Write [embeddings], then lines as "model" = 0.02: USD per million tokens.',
        )
    return {name: float(price) for name, price in prices.items()}


def _is_price(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0
