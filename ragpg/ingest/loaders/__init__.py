"""Loaders by format, and formats by file name extension; both can be extended.

    from ragpg.ingest.loaders import register

    def load_scan(data: bytes, *, source: str) -> Document: ...

    register("pdf", load_scan)

A parser is imported when its first document comes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragpg.protocols import Loader
    from ragpg.types import Document


def _on_demand(module: str, function: str = "load") -> Loader:
    def loader(data: bytes, *, source: str) -> Document:
        load = getattr(import_module(f"{__name__}.{module}"), function)
        document: Document = load(data, source=source)
        return document

    return loader


#: Format -> loader. "text", "code", "markdown", "rst", "csv" and "json" keep the file's text, so
#: that lines are lines of the file; the others extract text, and lines are lines of that.
LOADERS: dict[str, Loader] = {
    "text": _on_demand("text"),
    "code": _on_demand("source_code"),
    "markdown": _on_demand("markdown"),
    "rst": _on_demand("rst"),
    "html": _on_demand("html"),
    "pdf": _on_demand("pdf"),
    "docx": _on_demand("docx"),
    "pptx": _on_demand("pptx"),
    "xlsx": _on_demand("xlsx"),
    "csv": _on_demand("csv_rows"),
    "json": _on_demand("json_records"),
    "epub": _on_demand("epub"),
    "eml": _on_demand("mail"),
    "mbox": _on_demand("mail", "load_mbox"),
}
_BUILT_IN = dict(LOADERS)

#: Lower-case extension with its dot -> format. The extensions of source code are in languages.py.
EXTENSIONS: dict[str, str] = {
    ".txt": "text",
    ".text": "text",
    ".log": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdown": "markdown",
    ".mkd": "markdown",
    ".mdx": "markdown",
    ".qmd": "markdown",
    ".rmd": "markdown",
    ".rst": "rst",
    ".rest": "rst",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}


def register(format: str, loader: Loader, *, extensions: Iterable[str] = ()) -> None:
    """Makes `loader` read documents of a format, in this process; replaces an earlier one.

    Formats that are found by content and have no loader of their own are named in
    ragpg.ingest.loaders.sniff: "odt", "doc", "rtf", ... Documents are read anew when the loaders
    that were registered change: by their `settings`, where they have that attribute, else by name.
    """
    LOADERS[format] = loader
    EXTENSIONS.update({extension.lower(): format for extension in extensions})


def is_built_in(format: str) -> bool:
    """Whether a format is read by the loader that comes with the package."""
    return LOADERS.get(format) is _BUILT_IN.get(format)


def registered() -> list[tuple[str, str]]:
    """The loaders that replace or extend the built-in ones: format and identity, sorted."""
    return sorted(
        (format, str(getattr(loader, "settings", None) or _name(loader)))
        for format, loader in LOADERS.items()
        if _BUILT_IN.get(format) is not loader
    )


def _name(loader: Loader) -> str:
    kind = type(loader)
    named = loader if hasattr(loader, "__qualname__") else kind
    return f"{named.__module__}.{getattr(named, '__qualname__', kind.__name__)}"
