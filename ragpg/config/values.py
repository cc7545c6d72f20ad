"""What a configuration file may hold, and the checks of its values."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError
from ragpg.query.profile import Profile
from ragpg.settings import Settings

if TYPE_CHECKING:
    from ragpg.watch import Folder


@dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace as a file describes it; its values are checked, nothing is made of them.

    kind       knowledge or memory
    language   a text search configuration
    """

    kind: str = "knowledge"
    language: str = "english"


@dataclass(frozen=True, slots=True)
class Config:
    """A configuration, read and checked.

    dsn         address of the database [RAGPG_DSN]
    schema      schema of the tables [RAGPG_SCHEMA]
    embedder    hash, local, openai, openai:MODEL, path:FOLDER or none [RAGPG_EMBEDDER]
    profile     which stages a search runs: a table of knobs, a built-in name or the path of a file
                [RAGPG_PROFILE]
    settings    limits, as ragpg.Settings [RAGPG_<NAME>]
    namespaces  by name, with kind and language
    folder      what `ragpg watch` mirrors: path, namespace, include, exclude, metadata, ...

    `origins` says of each value where it comes from: default, file or environment.
    """

    dsn: str | None = field(default=None, repr=False)
    schema: str = "ragpg"
    embedder: str | None = None
    profile: Profile = field(default_factory=Profile)
    settings: Settings = field(default_factory=Settings)
    namespaces: Mapping[str, Namespace] = field(default_factory=dict)
    folder: Sequence[Folder] = ()
    origins: Mapping[str, str] = field(default_factory=dict)
    path: str | None = None


#: The tables and keys of a file; the rest of Config says how it was read.
KEYS = ("dsn", "schema", "embedder", "profile", "settings", "namespaces", "folder")


def refuse_unknown(given: Mapping[str, Any], known: Sequence[str], place: str) -> None:
    """Raise ConfigError for a key that means nothing, with the nearest one that does."""
    for key in given:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            raise ConfigError(
                f"{place}: {key!r} is unknown",
                hint=f"Did you mean {near[0]}?" if near else f"Known: {', '.join(known)}.",
            )


def table(value: Any, place: str) -> Mapping[str, Any]:
    """A table of the file. Raises ConfigError naming the place."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"{place} must be a table, not {value!r}")
    return value


def text(value: Any, place: str) -> str:
    """A text of the file. Raises ConfigError naming the place, never the value of an address."""
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{place} must be a text, not a {type(value).__name__}")
    return value


def namespace(name: str, value: Any) -> Namespace:
    """A namespace of the file."""
    place = f"namespaces.{name}"
    given = table(value, place)
    refuse_unknown(given, [one.name for one in fields(Namespace)], place)
    made = Namespace(**{key: text(one, f"{place}.{key}") for key, one in given.items()})
    if made.kind not in ("knowledge", "memory"):
        raise ConfigError(f"{place}.kind must be knowledge or memory, not {made.kind!r}")
    return made


def settings(value: Any, environment: Mapping[str, str]) -> tuple[Settings, dict[str, str]]:
    """Settings with what the environment says over the file, and where each comes from."""
    given = table(value, "settings")
    known = [one.name for one in fields(Settings) if one.name != "dsn"]
    refuse_unknown(given, known, "settings")
    whole = ("pool_size", "max_file_size")
    for key, one in given.items():
        kinds: tuple[type, ...] = (int,) if key in whole else (int, float)
        if isinstance(one, bool) or not isinstance(one, kinds):
            wanted = "a whole number" if key in whole else "a number"
            raise ConfigError(f"settings.{key} must be {wanted}, not {one!r}")
    from_env = Settings.from_env({k: v for k, v in environment.items() if k != "RAGPG_DSN"})
    origins = {}
    values: dict[str, Any] = {}
    for key in known:
        if environment.get(f"RAGPG_{key.upper()}", "").strip():
            values[key], origins[f"settings.{key}"] = getattr(from_env, key), "environment"
        elif key in given:
            values[key], origins[f"settings.{key}"] = given[key], "file"
        else:
            origins[f"settings.{key}"] = "default"
    return Settings(**values), origins
