"""Follows the tags of a page and writes what a reader would see."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser

from ragpg.ingest.loaders.html_table import Table
from ragpg.ingest.loaders.html_text import TextWriter

_DROPPED_NAMES = (
    "script style noscript template nav footer svg canvas iframe object "
    "button select textarea datalist dialog"
)
_DROPPED = frozenset(_DROPPED_NAMES.split())
_VOID_NAMES = "area base br col embed hr img input link meta param source track wbr"
_VOID = frozenset(_VOID_NAMES.split())
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
#: Elements with a blank line around them, and those on lines of their own.
_PARAGRAPH_NAMES = "p blockquote table figure dl hr h1 h2 h3 h4 h5 h6"
_PARAGRAPHS = frozenset(_PARAGRAPH_NAMES.split())
_LINE_NAMES = (
    "div section article main header aside tr dt dd br address details summary form fieldset "
    "legend figcaption caption body"
)
_LINES = frozenset(_LINE_NAMES.split())
#: Classes and ids of what surrounds a page's text, as documentation tools and site kits name them.
_AROUND_NAMES = (
    "sphinxsidebar navheader navfooter navbar navigation breadcrumb breadcrumbs skip-link skiplink "
    "site-header site-footer page-footer cookie-banner cookie-consent newsletter-signup "
    "social-share share-buttons related-posts advertisement"
)
_AROUND = frozenset(_AROUND_NAMES.split())
#: Start tag -> the open elements it ends, and the elements beyond which it ends none.
_ENDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "li": (frozenset(["li"]), frozenset(["ul", "ol", "table"])),
    "dt": (frozenset(["dt", "dd"]), frozenset(["dl", "table"])),
    "dd": (frozenset(["dt", "dd"]), frozenset(["dl", "table"])),
    "td": (frozenset(["td", "th"]), frozenset(["tr", "table"])),
    "th": (frozenset(["td", "th"]), frozenset(["tr", "table"])),
    "tr": (frozenset(["tr"]), frozenset(["table"])),
    "p": (frozenset(["p"]), frozenset(["div", "li", "td", "th", "section", "blockquote"])),
    "a": (frozenset(["a"]), frozenset(["table", "div"])),
    **{name: (frozenset(["p", *_HEADINGS]), frozenset(["div", "td", "li"])) for name in _HEADINGS},
}
#: How far up an implied end is looked for; keeps hostile nesting linear.
_REACH = 32
#: Tables nested deeper than this are read as running text.
_TABLES = 6
#: The text of a link that only marks a heading as linkable.
_PERMALINKS = frozenset(["¶", "#", "§", "🔗"])


class Page(HTMLParser):
    """Reads one page into `writer`, `links` (address and text), `title` and `notes`.

    With `only`, nothing outside elements of that name is written. Raises AssertionError where the
    parser gives up on a declaration.
    """

    def __init__(self, only: str = "") -> None:
        super().__init__(convert_charrefs=True)
        self.writer = TextWriter()
        self.links: list[tuple[str, str]] = []
        self.title = ""
        self.notes: list[str] = []
        self._only = only
        self._open: list[tuple[str, int]] = []  # name, and where the element's text starts
        self._counts: Counter[str] = Counter()
        self._dropping = 0  # depth of `_open` at which the dropped element stands
        self._tables: list[Table] = []
        self._pre: list[str] | None = None
        self._href = ""
        self._words: list[str] = []

    def read(self, markup: str) -> None:
        """Reads all of a page."""
        self.feed(_without_open_ends(markup))
        self.close()
        if self._dropping:
            name = self._open[self._dropping - 1][0]
            self.notes.append(f"<{name}> is never closed: what follows it was not read")
        while self._open:
            self._pop()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self._dropping and tag in _ENDS:
            self._end_implied(*_ENDS[tag])
        start = self._start(tag, dict(attrs))
        if tag in _VOID:
            return
        self._open.append((tag, start))
        self._counts[tag] += 1
        hidden = tag in _DROPPED or any(_is_around(name, value) for name, value in attrs)
        if hidden and not self._dropping:
            self._dropping = len(self._open)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # "<div/>" opens a div in HTML; in SVG and XHTML leftovers nothing is lost by a close.
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._counts[tag]:
            return
        # An end tag closes what is open inside, but not the dropped element around it.
        if self._dropping and not any(name == tag for name, _ in self._open[self._dropping - 1 :]):
            return
        while self._pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1][0] == "title" and not self._counts["svg"]:
            self.title += data
        elif self._is_silent() or (self._href and data.strip() in _PERMALINKS):
            return
        elif self._pre is not None:
            self._pre.append(data)
        else:
            self.writer_now().inline(data)
        if self._href:
            self._words.append(data)

    def writer_now(self) -> TextWriter:
        """Where text goes: the innermost open cell, or the page."""
        for table in reversed(self._tables):
            if table.cell:
                return table.cell
        return self.writer

    def _is_silent(self) -> bool:
        return bool(self._dropping or (self._only and not self._counts[self._only]))

    def _start(self, tag: str, attributes: dict[str, str | None]) -> int:
        """What a start tag writes; gives the place where the element's text will be."""
        if self._is_silent():
            return 0
        if self._pre is not None:
            if tag == "br":
                self._pre.append("\n")
            return 0
        writer = self.writer_now()
        if tag == "a" and attributes.get("href"):
            self._href, self._words = attributes["href"] or "", []
        elif tag == "pre":
            self._pre = []
        elif tag == "table" and len(self._tables) < _TABLES:
            writer.break_line(2)
            self._tables.append(Table(len(self._open)))
        elif tag in ("td", "th", "tr") and self._tables:
            self._tables[-1].start(tag, attributes)
        elif tag == "li":
            writer.break_line(1)
            writer.item()
        elif tag in ("ul", "ol"):
            writer.break_line(1 if writer.lists else 2)
            writer.lists.append(1 if tag == "ol" else 0)
        elif tag == "img":
            writer.inline(f" {attributes.get('alt') or ''} ")
        else:
            _break(tag, writer)
        return writer.place()

    def _end_implied(self, ended: frozenset[str], border: frozenset[str]) -> None:
        for back in range(1, min(_REACH, len(self._open)) + 1):
            name = self._open[-back][0]
            if name in ended:
                for _ in range(back):
                    self._pop()
                return
            if name in border:
                return

    def _pop(self) -> str:
        """Closes the innermost element."""
        silent = self._is_silent()
        tag, start = self._open.pop()
        self._counts[tag] -= 1
        if len(self._open) < self._dropping:
            self._dropping = 0
        elif not silent:
            self._end(tag, start)
        return tag

    def _end(self, tag: str, start: int) -> None:
        if tag == "a" and self._href:
            self.links.append((self._href, "".join(self._words)))
            self._href = ""
        if self._pre is not None:
            if tag == "pre":
                text, self._pre = "".join(self._pre), None
                self.writer_now().block(text)
            return
        if tag in ("td", "th", "tr") and self._tables:
            self._tables[-1].end()
            return
        if tag == "table" and self._tables and self._tables[-1].depth == len(self._open):
            table = self._tables.pop()
            table.end()
            table.write(self.writer_now())
            return
        writer = self.writer_now()
        if tag in _HEADINGS:
            writer.heading(start, _HEADINGS[tag])
        elif tag in ("ul", "ol"):
            writer.close_list(start)
        _break(tag, writer)


def _is_around(name: str, value: str | None) -> bool:
    """Whether an attribute says that its element is hidden, or no part of the page's text."""
    if name in ("class", "id"):
        return not _AROUND.isdisjoint((value or "").lower().split())
    if name == "role":
        return value in ("navigation", "search")
    return name == "hidden" or (name, value) == ("aria-hidden", "true")


def _without_open_ends(markup: str) -> str:
    """Markup whose unfinished comments and tags are text: the parser is quadratic in those."""
    comments_end = markup.rfind("-->") + 1
    markup = markup[:comments_end] + markup[comments_end:].replace("<!--", "&lt;!--")
    tags_end = markup.rfind(">") + 1
    return markup[:tags_end] + markup[tags_end:].replace("<", "&lt;")


def _break(tag: str, writer: TextWriter) -> None:
    if tag in _PARAGRAPHS:
        writer.break_line(2)
    elif tag in _LINES:
        writer.break_line(1)
