"""File name patterns: "*" and "?" within a name, "[...]" sets, "**" for any depth of folders."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from ragpg.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAGIC = re.compile(r"[*?\[]")


def is_pattern(path: str) -> bool:
    """Whether a path holds a character that stands for others."""
    return bool(_MAGIC.search(path))


def fixed_part(pattern: str) -> str:
    """The folder in front of the first part with a magic character; "" when that is the first."""
    parts = pattern.split("/")
    fixed = next(at for at, part in enumerate(parts) if is_pattern(part))
    return "/".join(parts[:fixed]) or ("/" if pattern.startswith("/") else "")


def matches(source: str, patterns: Iterable[str]) -> bool:
    """Whether a relative path matches one of the patterns.

    A pattern without a slash is compared with the file name, any other with the whole path; one
    that ends in a slash matches everything below the folder.
    """
    name = source.rpartition("/")[2]
    for pattern in patterns:
        whole = f"{pattern}**" if pattern.endswith("/") else pattern
        if _compiled(whole).fullmatch(source if "/" in whole else name):
            return True
    return False


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = pattern.removeprefix("./").split("/")
    expression = []
    for at, part in enumerate(parts):
        last = at == len(parts) - 1
        if part == "**":
            expression.append(".*" if last else "(?:[^/]+/)*")
        else:
            expression.append(_name(part) + ("" if last else "/"))
    try:
        return re.compile("".join(expression), re.DOTALL)
    except re.error as error:
        raise ConfigError(f"the file name pattern {pattern!r} is malformed: {error}") from error


def _name(part: str) -> str:
    """The expression of one name; unlike fnmatch, nothing in it crosses a slash."""
    expression = re.sub(r"\\\*(?:\\\*)*", "[^/]*", re.escape(part)).replace(r"\?", "[^/]")
    return re.sub(r"\\\[(\\?!)?((?:\\?[^/\]])+?)\\\]", _set, expression)


def _set(match: re.Match[str]) -> str:
    members = match[2].replace(r"\-", "-")
    return f"[^/{members}]" if match[1] else f"[{members}]"
