"""A source as a page with a number and an anchor for every line, from the chunks stored of it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg import Hit


def link_to(hit: Hit) -> str:
    """Where a hit is to be read, its lines marked."""
    first, last = hit.lines or (1, 1)
    place = f"/sources/{quote(hit.namespace, safe='')}/{quote(hit.source)}"
    return f"{place}?first={first}&last={last}#L{first}"


def lines_of(chunks: Sequence[Hit]) -> list[tuple[int, str]]:
    """Numbers and texts of the lines of a document. Chunks overlap, and white space between them
    is not stored; line numbers say how much there was."""
    if not chunks:
        return []
    first = chunks[0].start_line or 1
    text, end = "", 0
    for chunk in chunks:
        start = end if chunk.start_char is None else chunk.start_char
        if start >= end:
            missing = (chunk.start_line or 1) - first - text.count("\n")
            text += "\n" * missing if missing > 0 else " " * (start > end)
        text += chunk.content[max(end - start, 0) :]
        end = max(end, start + len(chunk.content))
    return list(enumerate(text.split("\n"), first))


def page_of(title: str, lines: Sequence[tuple[int, str]], first: int, last: int) -> str:
    """The page, with the lines of a citation marked."""
    rows = "\n".join(
        f'<li id="L{number}" value="{number}"{_mark(first <= number <= last)}>'
        f"<code>{escape(text) or ' '}</code></li>"
        for number, text in lines
    )
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)}</title>"
        "<style>li{white-space:pre-wrap}li[aria-current]{background:#ff9}</style>"
        f"<h1>{escape(title)}</h1><ol>\n{rows}\n</ol></html>"
    )


def _mark(inside: bool) -> str:
    return ' aria-current="true"' if inside else ""
