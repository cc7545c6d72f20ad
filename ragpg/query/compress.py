"""Compression: of each hit the contiguous stretch that speaks to the query.

Each passage (sentence, row, line of code) earns the rarity of the query's words in it; a passage
without any costs its length. The stretch with the largest sum is kept (Kadane's maximum subarray),
with a margin of passages on both sides, because answers stand next to the words of the question
as often as among them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ragpg.query.passages import split_passages
from ragpg.query.shorten import cut, narrow
from ragpg.words import content_words, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.types import Hit

#: Passages kept on either side of the best stretch.
MARGIN = 1
#: What a character costs, in units of the query's whole weight: 1,000 characters without a word
#: of the query cost as much as `COST * 1000` of all its words earn.
COST = 0.0001


def compress(
    query: str,
    hit: Hit,
    *,
    rarity: Mapping[str, float] | None = None,
    margin: int = MARGIN,
    cost: float = COST,
) -> Hit:
    """The hit with the best stretch of its text; offsets and lines are those of the stretch.

    `rarity` weighs the stems of the query's words (see `word_rarity`); without it all count
    alike. A hit without any of the query's words, or of one passage, stays as it is.
    """
    asked = set(content_words(query))
    weights = {word: (rarity or {}).get(word, 1.0) for word in asked}
    total = sum(weights.values())
    if not total:
        return hit
    spans = split_passages(hit.content)
    if len(spans) <= 1 + 2 * margin:
        return hit
    gains = [
        sum(weights[word] for word in asked.intersection(words(hit.content[start:end]))) / total
        for start, end in spans
    ]
    if not any(gains):
        return hit
    first, last = _best_run(
        [gain - cost * (end - start) for gain, (start, end) in zip(gains, spans, strict=True)]
    )
    return cut(hit, spans[max(0, first - margin)][0], spans[min(len(spans) - 1, last + margin)][1])


def compress_all(query: str, hits: Sequence[Hit]) -> list[Hit]:
    """Every hit compressed, with the rarity of words taken from these hits."""
    rarity = word_rarity(query, hits)
    return [compress(query, hit, rarity=rarity) for hit in hits]


def shorten_all(query: str, hits: Sequence[Hit]) -> list[Hit]:
    """Every hit in its short form, for a context that cannot hold all: neighbours go first, then
    what compression leaves out."""
    return compress_all(query, [narrow(hit) for hit in hits])


def word_rarity(query: str, hits: Sequence[Hit]) -> dict[str, float]:
    """BM25's idf of the query's stems with these hits as the collection."""
    asked = set(content_words(query))
    found = [asked.intersection(words(hit.content)) for hit in hits]
    rarity = {}
    for word in asked:
        count = sum(word in one for one in found)
        rarity[word] = math.log(1 + (len(hits) - count + 0.5) / (count + 0.5))
    return rarity


def _best_run(values: Sequence[float]) -> tuple[int, int]:
    """First and last place of the run with the largest sum; the first of equals."""
    best, best_run = -math.inf, (0, 0)
    running, began = 0.0, 0
    for place, value in enumerate(values):
        if running <= 0:
            running, began = 0.0, place
        running += value
        if running > best:
            best, best_run = running, (began, place)
    return best_run
