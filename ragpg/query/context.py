"""The numbered context block of a prompt, within a token budget.

    Sources (cite as [n]):

    [1] guide.md (lines 3-9) Guide > Install
    the chunk's text, byte for byte

    [2] ...

The text of a hit is never formatted or escaped. When not all hits fit, the worst are shortened to
what speaks to the query, then as many of the others as it takes, and only then the worst are
dropped; the end of the best one is cut off when even it alone is longer than the budget.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragpg.query.label import label
from ragpg.query.shorten import cut
from ragpg.sentences import split_sentences
from ragpg.tokens import estimate_tokens
from ragpg.types import Citation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ragpg.types import Hit

HEADER = "Sources (cite as [n]):"
DEFAULT_BUDGET = 4096


@dataclass(frozen=True, slots=True)
class Context:
    """A context block. `citations` are the hits in it, numbered as in the text.

    `tokens` is the size by the counter in use. `dropped` hits did not fit: always the worst ones.
    `shortened` hits are there in part, and their citations say which. `truncated` is True when the
    best hit alone was too long and its end was cut off.
    """

    text: str
    citations: Sequence[Citation] = ()
    tokens: int = 0
    dropped: int = 0
    truncated: bool = False
    shortened: int = 0


def build_context(
    hits: Sequence[Hit],
    *,
    budget: int = DEFAULT_BUDGET,
    count_tokens: Callable[[str], int] | None = None,
    shorten: Callable[[Sequence[Hit]], Sequence[Hit]] | None = None,
) -> Context:
    """Number the hits and write as many as fit into `budget` tokens, best first.

    `count_tokens` is the model's own counter (see ragpg.tokens); without it the estimate is used.
    `shorten` gives the hits with less text, in the same order, and is called when not all fit
    whole: `lambda hits: shorten_all(query, hits)`. The budget is never exceeded, and no hit is
    left out while a worse one stays. Where the best hit alone does not fit, it is cut at the end
    of a sentence, or of a word. Text is empty when nothing fits.
    """
    count = count_tokens or estimate_tokens
    if not hits or budget <= 0:
        return Context("", dropped=len(hits))
    whole = [_block(number, hit) for number, hit in enumerate(hits, start=1)]
    sizes = [count(f"\n\n{block}") for block in whole]
    room = budget - count(HEADER)
    chosen, blocks = list(hits), list(whole)
    if sum(sizes) > room and shorten is not None:
        chosen, blocks, sizes = _shortened(hits, whole, sizes, room, count, shorten)
    kept = 0
    while kept < len(sizes) and sizes[kept] <= room:
        room -= sizes[kept]
        kept += 1
    # Tokenizers may join across blocks or not: only the count of the whole text decides.
    while kept:
        text = "\n\n".join([HEADER, *blocks[:kept]])
        tokens = count(text)
        if tokens <= budget:
            citations = [Citation(at, hit) for at, hit in enumerate(chosen[:kept], start=1)]
            fewer = sum(chosen[at] is not hits[at] for at in range(kept))
            return Context(text, citations, tokens, len(hits) - kept, shortened=fewer)
        kept -= 1
    return _cut_best(chosen[0], len(hits) - 1, budget, count)


def _shortened(
    hits: Sequence[Hit],
    whole: Sequence[str],
    sizes: Sequence[int],
    room: int,
    count: Callable[[str], int],
    shorten: Callable[[Sequence[Hit]], Sequence[Hit]],
) -> tuple[list[Hit], list[str], list[int]]:
    """Short forms from the worst hit up, until all fit; where they do not even then, those that
    stay get their whole text back from the best down, as far as there is room."""
    short = list(shorten(hits))
    short_blocks = [_block(number, hit) for number, hit in enumerate(short, start=1)]
    short_sizes = [count(f"\n\n{block}") for block in short_blocks]
    stay, total = 0, 0
    while stay < len(hits) and total + short_sizes[stay] <= room:
        total += short_sizes[stay]
        stay += 1
    chosen, blocks, used = list(short), list(short_blocks), list(short_sizes)
    for at in range(stay):
        more = sizes[at] - short_sizes[at]
        if total + more > room:
            break
        total += more
        chosen[at], blocks[at], used[at] = hits[at], whole[at], sizes[at]
    return chosen, blocks, used


def _block(number: int, hit: Hit) -> str:
    return f"[{number}] {label(hit)}\n{hit.content}"


def _cut_best(hit: Hit, others: int, budget: int, count: Callable[[str], int]) -> Context:
    """The longest beginning of the only hit that fits, ending with a sentence if any fits."""

    def write(end: int) -> str:
        return f"{HEADER}\n\n{_block(1, cut(hit, 0, end))}"

    sentences = [end for _, end in split_sentences(hit.content)]
    word_ends = [found.end() for found in re.finditer(r"\S+", hit.content)]
    for ends in (sentences, word_ends):
        low, high = 0, len(ends)
        while low < high:
            middle = (low + high + 1) // 2
            if count(write(ends[middle - 1])) <= budget:
                low = middle
            else:
                high = middle - 1
        # A counter that is not monotonous could mislead the bisection; step back until it fits.
        while low and count(write(ends[low - 1])) > budget:
            low -= 1
        if low:
            shown = cut(hit, 0, ends[low - 1])
            text = write(ends[low - 1])
            return Context(text, [Citation(1, shown)], count(text), others, True, 1)
    return Context("", (), 0, others + 1, True)
