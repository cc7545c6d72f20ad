"""What models return and what they cost."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


class Embedding(list[float]):
    """The vector of a query, with the `tokens` that the service counted for it."""

    tokens: int = 0


class Embeddings(list[list[float]]):
    """Vectors, one a text, with the `tokens` that the service counted for them. `overlong` are the
    positions of texts that the model takes in parts only: their vectors are means over these."""

    tokens: int = 0
    overlong: Collection[int] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them, and cost in USD where the price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None

    def __add__(self, other: Usage) -> Usage:
        """Both together; the cost is known as far as either is."""
        costs = [one.cost_usd for one in (self, other) if one.cost_usd is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            sum(costs) if costs else None,
        )
