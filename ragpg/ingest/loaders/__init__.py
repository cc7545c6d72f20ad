"""Loaders by format, and formats by file name extension; both can be extended.

    from ragpg.ingest.loaders import register

    def load_pdf(data: bytes, *, source: str) -> Document: ...

    register("pdf", load_pdf, extensions=[".pdf"])

A parser is imported when its first document comes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragpg.protocols import Loader
    from ragpg.types import Document


def _on_demand(module: str) -> Loader:
    def loader(data: bytes, *, source: str) -> Document:
        document: Document = import_module(f"{__name__}.{module}").load(data, source=source)
        return document

    return loader


#: Format -> loader. "text", "code" and "markdown" keep the file's text, so that lines are lines of
#: the file; "rst" too; "html" extracts text.
LOADERS: dict[str, Loader] = {
    "text": _on_demand("text"),
    "code": _on_demand("source_code"),
    "markdown": _on_demand("markdown"),
    "rst": _on_demand("rst"),
    "html": _on_demand("html"),
}

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
}


def register(format: str, loader: Loader, *, extensions: Iterable[str] = ()) -> None:
    """Makes `loader` read documents of a format, in this process; replaces an earlier one.

    Formats that are found by content and have no loader of their own are named in
    ragpg.ingest.loaders.sniff: "pdf", "docx", "xlsx", "pptx", "odt", "epub", ...
    """
    LOADERS[format] = loader
    EXTENSIONS.update({extension.lower(): format for extension in extensions})
