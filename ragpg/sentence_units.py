"""The pieces of a text that get a vector each for late interaction: sentences of a fair size.

A sentence splitter gives fragments ("3.") and, in code and tables, pages without an end. A
fragment's vector says nothing and a page's says everything, so short pieces join their neighbours
and long ones are cut.
"""

from __future__ import annotations

from ragpg.sentences import split_sentences

#: Pieces shorter than this are joined to the next one; longer than LONGEST are cut. Characters.
SHORTEST, LONGEST = 40, 400
#: Pieces of one text; a longer text has longer pieces.
MOST = 48


def sentence_units(text: str, most: int = MOST) -> list[tuple[int, int]]:
    """Start and end of each piece in characters of `text`, in order, without overlap.

    Every sentence is in exactly one piece. There are at most `most` of them, whatever the length
    of the text; a blank text has none.
    """
    pieces = [part for span in split_sentences(text) for part in _cut(text, *span)]
    units = _joined(pieces, SHORTEST)
    if len(units) > most:
        units = _joined(pieces, max(SHORTEST, 1 + (units[-1][1] - units[0][0]) // most))
    if len(units) > most:
        units[most - 1 :] = [(units[most - 1][0], units[-1][1])]
    return units


def _cut(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A long piece cut at line ends, else at blanks, else in mid-word."""
    parts: list[tuple[int, int]] = []
    while end - start > LONGEST:
        window = text[start : start + LONGEST]
        at = max(window.rfind("\n"), 0)
        if at < LONGEST // 4:
            at = max(window.rfind(" "), 0)
        if at < LONGEST // 4:
            at = LONGEST
        parts.append((start, start + at))
        start += at
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        parts.append((start, end))
    return parts


def _joined(pieces: list[tuple[int, int]], shortest: int) -> list[tuple[int, int]]:
    """Neighbours joined until each is long enough; what is left over joins the last one."""
    units: list[tuple[int, int]] = []
    start: int | None = None
    for first, last in pieces:
        if start is None:
            start = first
        if last - start >= shortest:
            units.append((start, last))
            start = None
    if start is not None:
        last = pieces[-1][1]
        if units:
            units[-1] = (units[-1][0], last)
        else:
            units.append((start, last))
    return units
