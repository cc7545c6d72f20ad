"""Checks of arguments, so that a wrong one is named before anything is done with it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

#: An integer of the database holds no more.
MOST = 2_147_483_647


def text(name: str, value: Any) -> str:
    """A text. Raises ConfigError for anything else."""
    if not isinstance(value, str):
        raise ConfigError(f"{name} must be a text, not {value!r}")
    return value


def whole(name: str, value: Any, *, least: int = 0, most: int = MOST) -> int:
    """A whole number from `least` to `most`. Raises ConfigError for anything else."""
    number = isinstance(value, Integral) and not isinstance(value, bool)
    if not number or not least <= value <= most:
        raise ConfigError(f"{name} must be a whole number from {least} to {most:,}, not {value!r}")
    return int(value)


def share(name: str, value: Any, *, least: int = 0) -> float:
    """A number from `least` to 1. Raises ConfigError for anything else."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not least <= value <= 1:
        raise ConfigError(f"{name} must be a number from {least} to 1, not {value!r}")
    return float(value)


def seconds(name: str, value: Any, *, most: float) -> float:
    """A length of time above 0 s, up to `most`. Raises ConfigError for anything else."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0 < value <= most:
        raise ConfigError(f"{name} must be above 0 and at most {most:g} seconds, not {value!r}")
    return float(value)


def items(name: str, value: Any, hint: str | None = None) -> list[Any]:
    """A collection as a list. Raises ConfigError for a single text and for what is none."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise ConfigError(f"{name} must be a collection, not {value!r}", hint=hint)
    return list(value)


def patterns(name: str, value: Any) -> Sequence[str]:
    """Texts in a collection. Raises ConfigError for anything else."""
    return [text(f"each of {name}", one) for one in items(name, value)]


def table(name: str, value: Any) -> dict[str, Any]:
    """A mapping as a dict, None as an empty one. Raises ConfigError for anything else."""
    if value is not None and not isinstance(value, Mapping):
        raise ConfigError(f"{name} must be a mapping, not {value!r}")
    return dict(value or {})


def paths(value: Any) -> list[str]:
    """One path or several, as texts. Raises ConfigError for what no file can be called."""
    single = isinstance(value, str | os.PathLike)
    found = []
    for one in [value] if single else items("paths", value):
        if not isinstance(one, str | os.PathLike):
            raise ConfigError(f"a path must be a text or a Path, not {one!r}")
        path = os.fspath(one)
        try:
            bad = not isinstance(path, str) or b"\0" in os.fsencode(path)
        except UnicodeEncodeError:
            bad = True
        if bad:
            raise ConfigError(f"no file is called {path!r}")
        found.append(path)
    return found


def texts(value: Any) -> list[Any]:
    """Texts to be stored, each as (source, text), a Document or a mapping."""
    return items("texts", value, hint='Write texts=[("source", "text")].')
