"""A text as passages that may stand alone: sentences of prose, lines of code and tables."""

from __future__ import annotations

import re

from ragpg.sentences import split_sentences

_FENCE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}(?!`)|~{3,}(?!~))[^\n]*\n.*?(?:^ {0,3}(?P=fence)[^\n]*$|\Z)",
    re.M | re.S,
)
#: A row of a table, a tab-separated row, an indented code line.
_ROW = re.compile(r"^(?:[ ]{0,3}\|.*|[^\n|]*\|[^\n|]*\|.*|[^\n\t]+\t[^\n]*|(?: {4}|\t)\S.*)$", re.M)
_CODE_LINE = re.compile(
    r"[;{}(\[,:\\]\s*$|^\s*(?:def|class|return|import|from|if|for|while|function|const|let|var|"
    r"public|private|static|func|fn|use|#include|select|@|//|#|/?\*|[\])}])(?=\W|$)"
)
#: A chunk is code when this part of its lines looks like it.
_CODE_SHARE = 0.5


def split_passages(text: str, language: str = "en") -> list[tuple[int, int]]:
    """Start and end of each passage, without the white space around it, in order.

    Prose is cut at sentences. Code (a fence, an indented line, a text most of whose lines look
    like code) and rows of tables are only cut at line ends, so that no row and no statement on
    one line comes in halves.
    """
    spans = [(0, len(text))] if _is_code(text) else _line_spans(text)
    if not spans:
        return split_sentences(text, language)
    passages: list[tuple[int, int]] = []
    at = 0
    for start, end in spans:
        passages += _shifted(split_sentences(text[at:start], language), at)
        passages += _lines(text, start, end)
        at = end
    return passages + _shifted(split_sentences(text[at:], language), at)


def _is_code(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    return len(lines) > 1 and sum(bool(_CODE_LINE.search(line)) for line in lines) > (
        _CODE_SHARE * len(lines)
    )


def _line_spans(text: str) -> list[tuple[int, int]]:
    """Fences and rows, which are cut at line ends only; sorted, apart from each other."""
    spans = [found.span() for found in _FENCE.finditer(text)]
    for found in _ROW.finditer(text):
        if not any(start <= found.start() < end for start, end in spans):
            spans.append(found.span())
    return sorted(spans)


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Lines with ink; indentation belongs to its line."""
    found = re.compile(r"^[^\n]*\S", re.M)
    return [match.span() for match in found.finditer(text, start, end)]


def _shifted(spans: list[tuple[int, int]], by: int) -> list[tuple[int, int]]:
    return [(start + by, end + by) for start, end in spans]
