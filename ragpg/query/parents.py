"""Hits read more widely: neighbouring chunks joined around them by ragpg.stitch_chunks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragpg.errors import ConfigError
from ragpg.queries import STITCH
from ragpg.steps import Flow, fetch
from ragpg.types import Core

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ragpg.queries import Run
    from ragpg.types import Hit

#: Between 1 and 2, this kept most of the answers (docs/decisions/context.md).
_ROOM = 1.5


def expand_parents(hits: Sequence[Hit], radius: int = 1) -> Flow[list[Hit]]:
    """Each hit with `radius` chunks on either side, in reading order, no text twice.

    Hits of one document that meet become one, at the place and with the score of the best of
    them; radius 0 only joins hits that adjoin or overlap. Offsets, lines and the first page are
    those of the whole text, `chunk_ids` name the chunks in it and `core` the part that was found.
    A hit stays as it is when its document has changed since it was found, when it was cut or
    widened before, and when it is not from the database. One round trip; ranks count anew from 1.
    Raises ConfigError for a negative radius.
    """
    if radius < 0:
        raise ConfigError(f"the radius of parent expansion cannot be negative: {radius}")
    stored = [place for place, hit in enumerate(hits) if _is_whole_chunk(hit)]
    runs: list[Run] = []
    if stored:
        runs = yield from fetch(
            STITCH,
            {
                "namespaces": [hits[place].namespace for place in stored],
                "chunk_ids": [hits[place].chunk_id for place in stored],
                "versions": [hits[place].version for place in stored],
                "radius": radius,
            },
        )
    wide: dict[int, Hit] = {}
    merged: set[int] = set()
    for run in runs:
        best, *others = (stored[place - 1] for place in sorted(run.places))
        wide[best] = _widened(hits[best], run, [hits[place] for place in others])
        merged.update(others)
    return [
        replace(wide.get(place, hit), rank=rank)
        for rank, (place, hit) in enumerate(
            ((place, hit) for place, hit in enumerate(hits) if place not in merged), start=1
        )
    ]


def expand_within(
    hits: Sequence[Hit], radius: int, budget: int, count_tokens: Callable[[str], int]
) -> Flow[list[Hit]]:
    """`expand_parents` with the largest radius up to `radius` whose texts together are at most
    1.5 times the budget, in tokens: so much can be shortened again. Beyond that neighbours would
    push other hits out of the context; then hits that adjoin are joined and no more."""
    for smaller in range(radius, 0, -1):
        wide = yield from expand_parents(hits, smaller)
        if sum(count_tokens(hit.content) for hit in wide) <= _ROOM * budget:
            return wide
    return (yield from expand_parents(hits, min(radius, 0)))


def _is_whole_chunk(hit: Hit) -> bool:
    """Whether the hit is a chunk as it is stored: a text that was cut has no neighbours."""
    if hit.chunk_id is None or hit.start_char is None or hit.end_char is None or hit.chunk_ids:
        return False
    return hit.end_char - hit.start_char == len(hit.content)


def _widened(hit: Hit, run: Run, others: Sequence[Hit]) -> Hit:
    spans = [
        Core(one.start_char, one.end_char, one.page)
        for one in (hit, *others)
        if one.start_char is not None and one.end_char is not None
    ]
    first = min(spans, key=lambda one: one.start_char)
    return replace(
        hit,
        content=run.content,
        start_line=run.start_line,
        end_line=run.end_line,
        start_char=run.start_char,
        end_char=run.end_char,
        page=run.page,
        chunk_ids=tuple(run.ids),
        core=replace(first, end_char=max(one.end_char for one in spans)),
        duplicates=(*hit.duplicates, *(one for other in others for one in other.duplicates)),
    )
