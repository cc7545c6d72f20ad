"""Markdown by its tokens (markdown-it): CommonMark and tables, never by lines that look like it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt

from ragpg.ingest.clean import clean_metadata, clean_name
from ragpg.ingest.loaders.decode import read_text
from ragpg.ingest.loaders.front_matter import split_front_matter
from ragpg.ingest.loaders.links import resolve_link, unique_links
from ragpg.ingest.loaders.outline import Heading, sections_of
from ragpg.types import Document, Link

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

_WHOLE = frozenset(
    ["fence", "code_block", "html_block", "table_open", "bullet_list_open", "ordered_list_open"]
)
#: Inline text longer than this is data, and its brackets would cost time without end.
_INLINE_LIMIT = 20_000


def load(data: bytes, *, source: str) -> Document:
    """The file's text without front matter, which becomes metadata; sections by heading.

    The title is the front matter's, or else the first heading of level 1. Headings inside quotes
    and lists are text. Offsets count from the end of the front matter, lines from the file's top.
    """
    text, notes = read_text(data)
    values, start, note = split_front_matter(text)
    metadata, metadata_notes = clean_metadata(values)
    body = text[start:]
    headings, blocks, links = _read(body, source)
    title = metadata.get("title")
    if not isinstance(title, str) or not title.strip():
        title = next((heading.text for heading in headings if heading.level == 1), "")
    return Document(
        source=source,
        text=body,
        title=clean_name(title),
        format="markdown",
        metadata=metadata,
        sections=sections_of(headings, len(body)),
        blocks=blocks,
        links=links,
        notes=(*notes, *metadata_notes, *([note] if note else [])),
        line_offset=text.count("\n", 0, start),
    )


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    # Most inline text holds no link: it is parsed one by one, where it may.
    parser.core.ruler.disable("inline")
    return parser


def _read(text: str, source: str) -> tuple[list[Heading], list[tuple[int, int]], tuple[Link, ...]]:
    """Headings, blocks to keep whole, and links."""
    line_starts = [0]
    for line in text.split("\n"):
        line_starts.append(line_starts[-1] + len(line) + 1)
    line_starts[-1] = len(text)
    env: dict[str, Any] = {}
    headings: list[Heading] = []
    blocks: list[tuple[int, int]] = []
    links: list[Link] = []
    heading: Token | None = None
    for token in _parser().parse(text, env):
        if token.type == "inline":
            if heading and heading.map:
                start = line_starts[heading.map[0]]
                headings.append(Heading(start, int(heading.tag[1]), _plain(token.content, env)))
            if "[" in token.content or "<" in token.content:
                links.extend(_links(_inline(token.content, env), source))
            heading = None
        elif token.type == "heading_open" and token.level == 0:
            heading = token
        elif token.map and token.type in _WHOLE:
            first, last = token.map
            blocks.append((line_starts[first], min(line_starts[last], len(text))))
    return headings, blocks, unique_links(links)


def _inline(content: str, env: dict[str, Any]) -> list[Token]:
    if len(content) > _INLINE_LIMIT:
        return []
    parser = _parser()
    tokens: list[Token] = []
    parser.inline.parse(content, parser, env, tokens)
    return tokens


def _plain(content: str, env: dict[str, Any]) -> str:
    """The words of inline Markdown without its marks."""
    if not any(mark in content for mark in "*_`[<&\\"):
        return content
    return _words(_inline(content, env)) or content


def _words(tokens: Sequence[Token]) -> str:
    words = []
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            words.append(" ")
        elif token.type == "image":
            words.append(_words(token.children or []) or token.content)
        elif token.type in ("text", "code_inline", "text_special"):
            words.append(token.content)
    return "".join(words)


def _links(tokens: Sequence[Token], source: str) -> Iterator[Link]:
    opened = -1
    for index, token in enumerate(tokens):
        if token.type == "link_open":
            opened = index
        elif token.type == "link_close" and opened >= 0:
            href = str(tokens[opened].attrs.get("href", ""))
            link = resolve_link(href, source, _words(tokens[opened + 1 : index]))
            opened = -1
            if link:
                yield link
