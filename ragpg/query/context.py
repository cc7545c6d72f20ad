"""The numbered context block of a prompt, within a token budget.

    Sources (cite as [n]):

    [1] guide.md (lines 3-9) Guide > Install
    the chunk's text, byte for byte

    [2] ...

The text of a hit is never formatted, escaped or trimmed, only cut at its end when even the best
hit alone is longer than the budget.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from ragpg.query.label import label
from ragpg.sentences import split_sentences
from ragpg.types import Citation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ragpg.types import Hit

HEADER = "Sources (cite as [n]):"
DEFAULT_BUDGET = 4096

_PIECE = re.compile(r"[A-Za-z]+|[0-9]+|[ \t]+|\n|[\x21-\x7e]|[^\x00-\x7f]|.", re.S)


@dataclass(frozen=True, slots=True)
class Context:
    """A context block. `citations` are the hits in it, numbered as in the text.

    `tokens` is the size by the counter in use. `dropped` hits did not fit: always the worst ones.
    `truncated` is True when the best hit alone was too long and its end was cut off.
    """

    text: str
    citations: Sequence[Citation] = ()
    tokens: int = 0
    dropped: int = 0
    truncated: bool = False


def estimate_tokens(text: str) -> int:
    """More tokens than common tokenizers count for prose and code, from the text alone.

    The rule: a run of ASCII letters is one token for every 3 begun, and one for every 2 begun
    beyond the 12th letter; a run of digits one for every 2 begun; a blank before a word nothing, a
    longer run of blanks one for every 8 begun; every other ASCII character and line end one; every
    other character two. English prose comes out at twice a WordPiece count,
    German at about the same. Give the model's own counter to use a budget to the full.
    """
    return sum(map(_weight, _PIECE.findall(text)))


@lru_cache(maxsize=16_384)
def _weight(piece: str) -> int:
    first = piece[0]
    if not first.isascii():
        return 2
    if first.isalpha():
        return -(-min(len(piece), 12) // 3) + -(-max(len(piece) - 12, 0) // 2)
    if first.isdigit():
        return -(-len(piece) // 2)
    if first in " \t":
        return 0 if piece == " " else -(-len(piece) // 8)
    return 1


def build_context(
    hits: Sequence[Hit],
    *,
    budget: int = DEFAULT_BUDGET,
    count_tokens: Callable[[str], int] | None = None,
) -> Context:
    """Number the hits and write as many as fit into `budget` tokens, best first.

    `count_tokens` is the model's own counter; without it `estimate_tokens` is used. The budget is
    never exceeded: the first hit that does not fit ends the block. Where the best hit alone does
    not fit, it is cut at the end of a sentence, or of a word. Text is empty when nothing fits.
    """
    count = count_tokens or estimate_tokens
    blocks = [HEADER]
    citations: list[Citation] = []
    tokens = estimate_tokens(HEADER)
    for number, hit in enumerate(hits, start=1):
        block = _block(number, hit)
        if count_tokens is None:
            # No piece of the estimate goes beyond a line end, so the whole is a sum of parts.
            whole = tokens + 2 + estimate_tokens(block)
        else:
            # Tokenizers join across pieces.
            whole = count("\n\n".join([*blocks, block]))
        if whole > budget:
            break
        blocks.append(block)
        citations.append(Citation(number, hit))
        tokens = whole
    if citations or not hits:
        text = "\n\n".join(blocks) if citations else ""
        return Context(text, citations, tokens if citations else 0, len(hits) - len(citations))
    return _cut(hits[0], len(hits) - 1, budget, count)


def _block(number: int, hit: Hit) -> str:
    return f"[{number}] {label(hit)}\n{hit.content}"


def _cut(hit: Hit, others: int, budget: int, count: Callable[[str], int]) -> Context:
    """The longest beginning of the only hit that fits, ending with a sentence if any fits."""

    def write(end: int) -> str:
        return f"{HEADER}\n\n{_block(1, replace(hit, content=hit.content[:end]))}"

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
        while low and count(text := write(ends[low - 1])) > budget:
            low -= 1
        if low:
            end = ends[low - 1]
            text = write(end)
            return Context(text, [Citation(1, _shorter(hit, end))], count(text), others, True)
    return Context("", (), 0, others + 1, True)


def _shorter(hit: Hit, end: int) -> Hit:
    """The hit with the text the model was shown; its offsets and lines follow."""
    content = hit.content[:end]
    cut_lines = hit.content.count("\n", end)
    return replace(
        hit,
        content=content,
        end_char=None if hit.start_char is None else hit.start_char + end,
        end_line=None if hit.end_line is None else hit.end_line - cut_lines,
    )
