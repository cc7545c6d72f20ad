"""Cuts a stretch of text into spans of a limited size, at the best border there is.

A span is (start, end) in characters of the whole text. Spans are greedy: each takes as much as
fits and ends at the last paragraph border of its window, or else line, sentence, word or visible
character, so that every step looks at one window only and any input ends in linear time.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ragpg.ingest.borders import (
    grapheme_border_before,
    is_grapheme_border,
    last_between,
    line_start_before,
    paragraph_starts,
    sentence_starts,
    word_start_after,
    word_start_before,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Span = tuple[int, int]

#: A border is taken when the span is filled to this part of its window; below, the next finer kind
#: of border is tried. One third keeps paragraphs together without leaving slivers.
_LEAST_FILL = 1 / 3
#: Indentation up to this width stays at the start of a span, so that code keeps its shape.
_INDENT = 64


class Ruler(Protocol):
    """Measures spans in another unit than characters."""

    def reach(self, start: int) -> int:
        """The furthest end of a span from `start` on; beyond it the span is too long."""
        ...

    def back(self, end: int) -> int:
        """The earliest start of an overlap that ends at `end`."""
        ...

    def earliest(self, end: int) -> int:
        """The earliest start of a span that ends at `end` and is not too long."""
        ...


@dataclass(frozen=True, slots=True)
class CharacterRuler:
    """Spans of `size` characters with an overlap of `overlap`."""

    size: int
    overlap: int

    def reach(self, start: int) -> int:
        return start + self.size

    def back(self, end: int) -> int:
        return end - self.overlap

    def earliest(self, end: int) -> int:
        return end - self.size


def skip_blank(text: str, start: int, end: int, indent: int = _INDENT) -> int:
    """The first place at or after start that is not white space, or `end`.

    Where that is the first ink of a line indented by at most `indent`, its indentation is kept.
    """
    first = start
    while first < end and text[first].isspace():
        first += 1
    if first == end:
        return end
    line = text.rfind("\n", start, first) + 1
    if not line:
        line = start if start == 0 or text[start - 1] == "\n" else first
    return line if first - line <= indent else first


def trim_blank(text: str, start: int, end: int) -> int:
    """The end without trailing white space, not before start."""
    while end > start and text[end - 1].isspace():
        end -= 1
    return end


def split(
    text: str,
    start: int,
    end: int,
    *,
    size: int,
    overlap: int,
    blocks: Sequence[Span] = (),
    ruler: Ruler | None = None,
) -> Iterator[Span]:
    """Spans of at most `size` characters that together cover all of [start, end) but white space.

    Neighbours share up to `overlap` characters, from a line, sentence or word start on. A block
    (code fence, table, list) that fits into `size` is never cut. Starts and ends increase strictly.
    With a `ruler`, sizes are what it says.
    """
    # A window must hold more than indentation, or it would bring nothing new.
    indent = min(_INDENT, (size - overlap) // 4)
    start = skip_blank(text, start, end, indent)
    end = trim_blank(text, start, end)
    ruler = ruler or CharacterRuler(size, overlap)
    if end <= ruler.reach(start):
        if start < end:
            yield start, end
        return
    yield from _Splitter(text, start, end, ruler, indent, blocks).spans()


class _Splitter:
    """The borders of one stretch, found once, and the walk over it."""

    def __init__(
        self,
        text: str,
        start: int,
        end: int,
        ruler: Ruler,
        indent: int,
        blocks: Sequence[Span],
    ) -> None:
        self.text, self.start, self.end = text, start, end
        self.ruler, self.indent = ruler, indent
        inside = [block for block in blocks if block[0] < end and block[1] > start]
        self.whole = _outermost([block for block in inside if block[1] <= ruler.reach(block[0])])
        self.whole_starts = [block[0] for block in self.whole]
        paragraphs = paragraph_starts(text, start, end)
        edges = {edge for block in inside for edge in block if start < edge < end}
        #: Borders at the left margin come first: they do not cut a list item or a function.
        self.major = sorted(edges.union(p for p in paragraphs if not text[p].isspace()))
        self.minor = paragraphs

    def spans(self) -> Iterator[Span]:
        text, end = self.text, self.end
        start = floor = self.start  # `floor` is where the new text of this span begins
        while end > self.ruler.reach(start):
            cut = self.cut(start, floor)
            if cut < 0:
                # The overlap leaves no room for the next visible character: do without it.
                start = floor
                continue
            stop = trim_blank(text, floor, cut)
            if stop > floor:
                yield start, stop
            floor = skip_blank(text, cut, end, self.indent)
            if floor >= end:
                return
            start = self.overlap_start(start, floor)
        yield start, end

    def cut(self, start: int, floor: int) -> int:
        """Where the span that starts at `start` ends: in (floor, its reach], or -1."""
        text, limit = self.text, self.ruler.reach(start)
        block = self.block_at(limit)
        if block and floor < block[0]:
            return block[0]
        low = floor + int((limit - floor) * _LEAST_FILL)
        for cut in (
            last_between(self.major, low, limit),
            last_between(self.minor, low, limit),
            line_start_before(text, low, limit),
        ):
            if cut > low:
                return cut
        sentences = sentence_starts(text, low, min(limit + 1, self.end))
        if sentences:
            return sentences[-1]
        cut = word_start_before(text, low, limit)
        if cut > low:
            return cut
        cut = grapheme_border_before(text, floor, limit)
        if cut < 0 and start == floor:
            return limit  # one visible character larger than a span: nothing else is left
        return cut

    def overlap_start(self, previous: int, floor: int) -> int:
        """Where the span with new text from `floor` on starts: at most `overlap` before it."""
        low = max(self.ruler.back(floor), previous + 1)
        following = self.block_at(floor + 1)
        if following and following[0] >= floor:
            low = max(low, self.ruler.earliest(following[1]))
        while low < floor:
            start = self.first_border(low, floor)
            block = self.block_at(start)
            if not block:
                return start
            # Half a block is no context: take all of it, or start after it.
            if block[0] >= low:
                return block[0]
            low = block[1]
        return floor

    def first_border(self, low: int, floor: int) -> int:
        """The earliest line or sentence start in [low, floor), else word, else character."""
        text = self.text
        newline = text.find("\n", low - 1, floor - 1) if low else -1
        starts = [newline + 1] if newline >= 0 else []
        starts += sentence_starts(text, low, floor)[:1]
        if starts:
            return skip_blank(text, min(starts), floor, self.indent)
        word = word_start_after(text, low, floor)
        if word >= 0:
            return word
        while low < floor and not is_grapheme_border(text, low, self.start):
            low += 1
        return low

    def block_at(self, position: int) -> Span | None:
        """The block to keep whole that a cut at `position` would cut in two."""
        index = bisect_right(self.whole_starts, position - 1) - 1
        if index >= 0 and self.whole[index][0] < position < self.whole[index][1]:
            return self.whole[index]
        return None


def _outermost(blocks: Sequence[Span]) -> list[Span]:
    """Sorted blocks without those inside another, without overlaps."""
    kept: list[Span] = []
    for block in sorted(blocks, key=lambda block: (block[0], -block[1])):
        if not kept or block[0] >= kept[-1][1]:
            kept.append(block)
    return kept
