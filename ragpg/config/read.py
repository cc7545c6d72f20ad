"""Reads a configuration file: TOML, YAML or JSON, with the environment over it.

# ragpg.toml
dsn = "postgresql:///shop"
embedder = "local"

[profile]
base = "measured"
parents = 1

[settings]
pool_size = 20

[[folder]]
path = "docs"
namespace = "handbook"
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragpg.config.folders import Folder, tables_of
from ragpg.config.knobs import checked, knobs_of, parsed, placed_model
from ragpg.config.nearest import hint_for
from ragpg.config.sections import Namespace
from ragpg.config.values import ELSEWHERE, KEYS, PLAIN, SECTIONS, Config, variable
from ragpg.errors import ConfigError
from ragpg.query.profile import Profile, profile_of, read_profile
from ragpg.sqlfiles import check_schema
from ragpg.table_files import read_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ragpg.config.knobs import Knob

#: Looked for where no file is named, in the working directory and then in those above it.
NAMES = ("ragpg.toml", "ragpg.yaml", "ragpg.yml", "ragpg.json")


def find(environment: Mapping[str, str] | None = None) -> str | None:
    """The file that RAGPG_CONFIG names, else ragpg.toml, .yaml or .json here or further up; None
    without one. A file above the working directory counts only if it belongs to this user or to
    root: anybody may write into /tmp. Raises ConfigError where several stand side by side."""
    environment = os.environ if environment is None else environment
    named = environment.get("RAGPG_CONFIG", "").strip()
    if named:
        return named
    try:
        here = Path.cwd()
    except OSError:
        # The working directory was deleted under us.
        return None
    for place in (here, *here.parents):
        # A link that leads nowhere counts: whoever made it wants to hear of it.
        found = [name for name in NAMES if os.path.lexists(place / name)]
        if place != here:
            found = [name for name in found if _is_ours(place / name)]
        if len(found) > 1:
            raise ConfigError(
                f"there are {' and '.join(found)} in {place}, and only one can be meant",
                hint=f"Remove one, or name the file: --config {found[0]}, or RAGPG_CONFIG.",
            )
        if found:
            return found[0] if place == here else str(place / found[0])
    return None


def read_config(
    path: str | os.PathLike[str] | None = None, environment: Mapping[str, str] | None = None
) -> Config:
    """A configuration with the environment over the file over the defaults.

    path  None: what `find` finds; without a file the environment and the defaults alone

    Raises ConfigError for a file that cannot be read, and for an unknown key or a wrong value,
    which is named together with its place and the nearest known key.
    """
    environment = os.environ if environment is None else environment
    found = os.fspath(path) if path is not None else find(environment)
    given = {} if found is None else read_tables(found)
    return _Reader(given, found, environment).config()


def _is_ours(file: Path) -> bool:
    """Whether a file, and the link that leads to it, belong to this user or to root."""
    user = getattr(os, "getuid", None)
    if user is None:
        return True
    owners = {file.lstat().st_uid} | ({file.stat().st_uid} if file.exists() else set())
    return owners <= {user(), 0}


def _refusal(cls: type, key: str, value: Any) -> str | None:
    """What a table says against a value that stands alone."""
    try:
        cls(**{key: value})
    except ConfigError as error:
        return error.message
    return None


class _Reader:
    """One reading of one file under one environment."""

    def __init__(
        self, given: Mapping[str, Any], path: str | None, environment: Mapping[str, str]
    ) -> None:
        self.given = given
        self.path = path
        self.environment = environment
        self.base = os.path.dirname(os.path.expanduser(path)) if path else ""
        self.origins: dict[str, str] = {}

    def config(self) -> Config:
        self._refuse_unknown(self.given, KEYS, "")
        knobs = knobs_of(Config)
        plain = self._values({key: knobs[key] for key in PLAIN}, self.given, None)
        if "schema" in plain:
            self._told(
                self._place("schema", variable(None, "schema")), check_schema, plain["schema"]
            )
        sections = {name: self._section(name, cls) for name, cls in SECTIONS.items()}
        sections["settings"] = replace(sections["settings"], dsn=plain.get("dsn"))
        for key in ("namespaces", "folder"):
            self.origins[key] = "file" if key in self.given else "default"
        return Config(
            **plain,
            **sections,
            profile=self._profile(),
            namespaces=self._namespaces(),
            folder=self._folders(),
            origins=self.origins,
            path=self.path,
        )

    def _section(self, name: str, cls: type) -> Any:
        """A table of knobs: what its dataclass refuses is named with its place."""
        given = self._table(self.given.get(name, {}), name)
        knobs = {
            key: one for key, one in knobs_of(cls).items() if key not in ELSEWHERE.get(name, ())
        }
        self._refuse_unknown(given, knobs, name)
        values = self._values(knobs, given, name)
        return self._built(cls, values, name)

    def _built(self, cls: type, values: Mapping[str, Any], name: str) -> Any:
        try:
            return cls(**values)
        except ConfigError as error:
            for key, value in values.items():
                # What no value is wrong for alone, two together may be.
                if _refusal(cls, key, value) == error.message:
                    place = self._place(f"{name}.{key}", variable(name, key))
                    raise ConfigError(f"{place}: {error.message}", hint=error.hint) from error
            place = f"{self.path}: {name}" if self.path else name
            raise ConfigError(f"{place}: {error.message}", hint=error.hint) from error

    def _values(
        self, knobs: Mapping[str, Knob], given: Mapping[str, Any], section: str | None
    ) -> dict[str, Any]:
        found = {}
        for key, knob in knobs.items():
            place = key if section is None else f"{section}.{key}"
            name = variable(section, key)
            text = self.environment.get(name, "").strip()
            if text:
                found[key] = parsed(text, knob, name)
                self.origins[place] = "environment"
            elif key in given:
                found[key] = checked(given[key], knob, self._in_file(place), self.base)
                self.origins[place] = "file"
            else:
                self.origins[place] = "default"
        return found

    def _profile(self) -> Profile:
        override = self.environment.get("RAGPG_PROFILE", "").strip()
        chosen = self.given.get("profile")
        self.origins["profile"] = (
            "environment" if override else "default" if chosen is None else "file"
        )
        if override:
            return self._of_profile(override, self._told("RAGPG_PROFILE", read_profile, override))
        if chosen is None:
            return self._of_profile("measured", read_profile("measured"))
        place = self._in_file("profile")
        if isinstance(chosen, str):
            near = os.path.join(self.base, chosen)
            found = self._told(place, read_profile, near if os.path.isfile(near) else chosen)
            return self._of_profile(chosen, found)
        table = self._table(chosen, "profile")
        self._refuse_unknown(table, ["base", *knobs_of(Profile)], "profile")
        if isinstance(judge := table.get("judge"), str):
            table = {**table, "judge": self._judge(judge)}
        made = self._told(place, profile_of, table, "configured")
        return self._of_profile(str(table.get("base") or "measured"), made, {"name", *table})

    def _judge(self, name: str) -> str:
        """The name of a judge; of one that is a folder, its place."""
        near = os.path.join(self.base, os.path.expanduser(name))
        plain = name in ("", "lexical", "embedding", "llm") or not os.path.exists(near)
        return placed_model(name, self.base) if plain else os.path.normpath(near)

    def _of_profile(self, name: str, profile: Profile, given: Iterable[str] = ()) -> Profile:
        """A profile with the environment over it; of each knob it is noted who says it: the
        environment, the file, or the profile that the file is based on."""
        told = "default" if self.origins["profile"] == "default" else f"profile {name}"
        for key, knob in knobs_of(Profile).items():
            self.origins[f"profile.{key}"] = "file" if key in given else told
            place = variable("profile", key)
            text = self.environment.get(place, "").strip()
            if text:
                value = parsed(text, knob, place)
                profile = self._told(place, replace, profile, **{key: value})
                self.origins[f"profile.{key}"] = "environment"
        return profile

    def _namespaces(self) -> dict[str, Namespace]:
        named = self._table(self.given.get("namespaces", {}), "namespaces")
        return {
            str(name): self._one(Namespace, one, f"namespaces.{name}")
            for name, one in named.items()
        }

    def _folders(self) -> list[Folder]:
        if "folder" not in self.given:
            return []
        tables = tables_of(self.given["folder"], self._in_file("folder"))
        return [self._one(Folder, one, f"folder[{at}]") for at, one in enumerate(tables)]

    def _one(self, cls: type, value: Any, place: str) -> Any:
        """One of several tables of a kind, which the environment cannot change."""
        given, knobs = self._table(value, place), knobs_of(cls)
        self._refuse_unknown(given, knobs, place)
        for key, knob in knobs.items():
            if knob.required and key not in given:
                raise ConfigError(f"{self._in_file(place)} needs its {key}")
        values = {
            key: checked(one, knobs[key], self._in_file(f"{place}.{key}"), self.base)
            for key, one in given.items()
        }
        return self._told(self._in_file(place), cls, **values)

    def _table(self, value: Any, place: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise ConfigError(f"{self._in_file(place)} must be a table, not {value!r}")
        return value

    def _refuse_unknown(self, given: Mapping[str, Any], known: Iterable[str], place: str) -> None:
        """Raise ConfigError for a key that means nothing, with the nearest one that does."""
        known = list(known)
        for key in given:
            if key not in known:
                raise ConfigError(
                    f"{self._in_file(f'{place}.{key}' if place else str(key))} is unknown",
                    hint=hint_for(str(key), known, place),
                )

    def _in_file(self, key: str) -> str:
        return f"{self.path}: {key}"

    def _place(self, key: str, name: str) -> str:
        return name if self.origins.get(key) == "environment" else self._in_file(key)

    @staticmethod
    def _told(place: str, make: Any, *arguments: Any, **values: Any) -> Any:
        """What is made, or the error of making it with its place in front."""
        try:
            return make(*arguments, **values)
        except ConfigError as error:
            raise ConfigError(f"{place}: {error.message}", hint=error.hint) from error
