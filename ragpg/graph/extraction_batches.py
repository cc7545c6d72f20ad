"""Chunks on their way to a model: what of them is sent, and how many go together.

Pure functions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragpg.graph import extraction
from ragpg.types import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ragpg.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Pending:
    """A chunk that an extractor has not read, and what it said of the same text before."""

    chunk: int
    hash: bytes
    title: str
    breadcrumb: str
    content: str
    known: str | None

    @property
    def passage(self) -> str:
        """The text with the place where it stands, which often names what "it" is."""
        place = self.breadcrumb or self.title
        return f"{place}\n\n{self.content}" if place else self.content


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an extraction would take: chunks to be read, those known from before, requests, and the
    tokens of these requests. What the model writes comes on top, usually about as much again."""

    chunks: int = 0
    known: int = 0
    requests: int = 0
    input_tokens: int = 0

    def plus(self, batches: Iterable[list[Pending]], prompt: str, count: TokenCounter) -> Estimate:
        """With further batches."""
        total = self
        for batch in batches:
            asked = extraction.messages([one.passage for one in batch], prompt)
            total = replace(
                total,
                chunks=total.chunks + len(batch),
                requests=total.requests + 1,
                input_tokens=total.input_tokens + sum(count(one["content"]) for one in asked),
            )
        return total


def batches(
    chunks: Iterable[Pending], *, most: int, tokens: int, count: TokenCounter
) -> Iterator[list[Pending]]:
    """Chunks in groups of at most `most`, and of at most `tokens` unless one alone is longer."""
    group: list[Pending] = []
    used = 0
    for one in chunks:
        size = count(one.passage)
        if group and (len(group) >= most or used + size > tokens):
            yield group
            group, used = [], 0
        group.append(one)
        used += size
    if group:
        yield group


def add_usage(one: Usage, other: Usage) -> Usage:
    """Tokens and costs together; a cost that is not known counts as none."""
    costs = [cost for cost in (one.cost_usd, other.cost_usd) if cost is not None]
    return Usage(
        one.input_tokens + other.input_tokens,
        one.output_tokens + other.output_tokens,
        sum(costs) if costs else None,
    )
