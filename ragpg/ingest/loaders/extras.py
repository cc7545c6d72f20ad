"""Parsers that come with an extra of the package, imported when a document needs them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ragpg.errors import LoadError


def parser_of(module: str, *, package: str, extra: str, what: str) -> Any:
    """A parser's module. Raises LoadError with the command that installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise LoadError(
            f"reading {what} needs the package {package}: pip install 'ragpg[{extra}]'"
        ) from error
