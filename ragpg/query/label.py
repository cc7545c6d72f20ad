"""How a source is written: for a reader `guide.md (lines 3-9) Guide > Install`, as a link
`guide.md#L3-L9`, as a tag `docs:guide.md#L3-L9`; and safe in Markdown, whatever it is called."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from ragpg.types import Hit

#: Addresses that run code where a reader clicks them are written as the paths they are not.
_ADDRESS = re.compile(r"(?!javascript:|data:|vbscript:)[a-z][a-z0-9+.-]*://", re.IGNORECASE)
#: What Markdown takes as markup inside a line, a table cell or the text of a link.
_MARKUP = re.compile(r"([\\`*_\[\]<>|~&])")


def place(hit: Hit) -> str:
    """Where the hit stands in its source: "page 3, lines 4-9", or "" when that is not known."""
    parts = []
    if hit.page is not None:
        parts.append(f"page {hit.page}")
    if hit.lines is not None:
        first, last = hit.lines
        parts.append(f"line {first}" if first == last else f"lines {first}-{last}")
    return ", ".join(parts)


def label(hit: Hit) -> str:
    """Source, place and heading path on one line. A line end in a source or heading becomes a
    blank, so that nothing a document is called can look like the next source."""
    where = place(hit)
    parts = [hit.source, f"({where})" if where else "", hit.breadcrumb or hit.title]
    return " ".join(" ".join(parts).split())


def link(hit: Hit) -> str:
    """A link to the source: its address, or its path with the lines as GitHub and GitLab take
    them; the page of a PDF as browsers take it. Nothing in it ends a Markdown link."""
    if _ADDRESS.match(hit.source):
        target = quote(hit.source, safe=":/?#[]@!$&'*+,;=%~")
        # An address with an anchor already points to its place.
        return target if "#" in target else target + _page(hit)
    path = quote(hit.source, safe="/:@!$'*+,;=~")
    if ":" in path.split("/", 1)[0]:
        path = f"./{path}"
    if page := _page(hit):
        return path + page
    return f"{path}#L{hit.lines[0]}-L{hit.lines[1]}" if hit.lines else path


def provenance(hit: Hit) -> str:
    """Where the text comes from, by kind: "docs:guide.md#L3-L9", "memory:namespace/source", and
    the address itself for what was found elsewhere ("external:name/id" when it has none)."""
    if hit.kind == "memory":
        return f"memory:{quote(hit.namespace, safe='')}/{quote(hit.source, safe='/')}"
    if hit.kind == "external" or hit.chunk_id is None:
        if _ADDRESS.match(hit.source):
            return link(hit)
        return f"external:{quote(hit.namespace, safe='')}/{quote(hit.source, safe='/')}"
    return f"docs:{link(hit)}"


def markdown_text(text: str) -> str:
    """The text on one line, with every character that Markdown would take as markup escaped."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def markdown_target(hit: Hit) -> str:
    """`link` between the brackets of a Markdown link, where "&copy;" would become a sign."""
    return re.sub(r"&(?=#?\w+;)", "&amp;", link(hit))


def bracketed(hit: Hit) -> str:
    """`[guide.md:3-9]`; brackets, bars and backslashes of the source are escaped, so the closing
    bracket is where it seems to be, in a table too."""
    source = re.sub(r"([\\\[\]|])", r"\\\1", " ".join(hit.source.split()))
    return f"[{source}:{hit.lines[0]}-{hit.lines[1]}]" if hit.lines else f"[{source}]"


def _page(hit: Hit) -> str:
    path = hit.source.split("?", 1)[0]
    return f"#page={hit.page}" if hit.page is not None and path.lower().endswith(".pdf") else ""
