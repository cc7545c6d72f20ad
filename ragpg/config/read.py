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

import json
import os
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragpg.config import values
from ragpg.config.values import KEYS, Config
from ragpg.errors import ConfigError
from ragpg.query.profile import profile_of, read_profile
from ragpg.sqlfiles import check_schema
from ragpg.watch import folders_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragpg.client import Client

#: Looked for in the working directory where no file is named.
NAMES = ("ragpg.toml", "ragpg.yaml", "ragpg.yml", "ragpg.json")


def find(environment: Mapping[str, str] | None = None) -> str | None:
    """The file that RAGPG_CONFIG names, else ragpg.toml, .yaml or .json here; None without one."""
    environment = os.environ if environment is None else environment
    named = environment.get("RAGPG_CONFIG", "").strip()
    return named or next((name for name in NAMES if Path(name).is_file()), None)


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
    given = {} if found is None else parse(found)
    values.refuse_unknown(given, KEYS, found or "the configuration")
    origins: dict[str, str] = {}
    plain: dict[str, Any] = {}
    for key in ("dsn", "schema", "embedder"):
        override = environment.get(f"RAGPG_{key.upper()}", "").strip()
        origins[key] = "environment" if override else "file" if key in given else "default"
        if override or key in given:
            plain[key] = override or values.text(given[key], key)
    base = Path(found).parent if found else Path()
    profile, origins["profile"] = _profile(given, environment, base)
    settings, more = values.settings(given.get("settings", {}), environment)
    named = values.table(given.get("namespaces", {}), "namespaces")
    for key in ("namespaces", "folder"):
        origins[key] = "file" if key in given else "default"
    if "schema" in plain:
        check_schema(plain["schema"])
    return Config(
        **plain,
        profile=profile,
        settings=replace(settings, dsn=plain.get("dsn")),
        namespaces={name: values.namespace(name, one) for name, one in named.items()},
        folder=folders_of(given["folder"], base=str(base)) if "folder" in given else (),
        origins=origins | more,
        path=found,
    )


def client_of(config: Config, **options: Any) -> Client:
    """A client as configured; options are those of `ragpg.connect`, and win."""
    import ragpg

    given: dict[str, Any] = {
        "schema": config.schema,
        "settings": config.settings,
        "profile": config.profile,
    }
    return ragpg.connect(**(given | options))


def parse(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The tables of a file by its ending; TOML where it says nothing else."""
    place = Path(path).expanduser()
    kind = place.suffix.lower()
    found: Any
    try:
        text = place.read_text(encoding="utf-8")
        if kind in (".yaml", ".yml"):
            import yaml

            found = yaml.safe_load(text)
        elif kind == ".json":
            found = json.loads(text)
        else:
            found = tomllib.loads(text)
    except Exception as error:  # YAML has errors of its own, and is imported only where needed
        raise ConfigError(f"{path} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{path} must be a table, not a {type(found).__name__}")
    return found


def _profile(
    given: Mapping[str, Any], environment: Mapping[str, str], base: Path
) -> tuple[Any, str]:
    override = environment.get("RAGPG_PROFILE", "").strip()
    if override:
        return read_profile(override), "environment"
    chosen = given.get("profile")
    if chosen is None:
        return read_profile("measured"), "default"
    if isinstance(chosen, str):
        near = base / chosen
        return read_profile(near if near.is_file() else chosen), "file"
    return profile_of(values.table(chosen, "profile"), "configured"), "file"
