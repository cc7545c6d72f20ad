"""Links as they are written -> links between sources."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote, urljoin

from ragpg.ingest.clean import clean_name
from ragpg.types import Link

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_KEPT = ("http://", "https://", "ftp://")


def resolve_link(href: str, source: str, text: str = "") -> Link | None:
    """The link of a document, or None where it leads to no document.

    A relative path is URL-decoded and joined to the folder of `source`; "/path" counts from the
    root of the sources. The anchor is kept apart, a query is dropped. http, https and ftp
    addresses stay as they are; other schemes (mailto:, javascript:, data:) and paths that leave
    the sources by ".." give None.
    """
    href = clean_name(href)
    if source.startswith(_KEPT) and href:
        href = urljoin(source, href)
    if href.startswith("//"):
        href = f"https:{href}"
    target, _, anchor = href.partition("#")
    anchor, text = clean_name(unquote(anchor)), clean_name(text)
    if target.lower().startswith(_KEPT):
        return Link(target, anchor, text)
    if _SCHEME.match(target):
        return None
    path = clean_name(unquote(target.partition("?")[0]))
    if not path:
        return Link(source, anchor, text) if anchor else None
    if path.startswith("/"):
        path = posixpath.normpath(path).lstrip("/")
    else:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    if not path or path == "." or path == ".." or path.startswith("../"):
        return None
    return Link(path, anchor, text)


def unique_links(links: list[Link]) -> tuple[Link, ...]:
    """The links without repeats of target and anchor, in the order they came."""
    first: dict[tuple[str, str], Link] = {}
    for link in links:
        first.setdefault((link.target, link.anchor), link)
    return tuple(first.values())
