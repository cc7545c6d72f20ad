"""A configuration to start from: what people change first, each key with what it does.

Keys, defaults and explanations are those of the dataclasses, so that it never says anything else
than the reference.
"""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

from ragpg.config.knobs import knobs_of
from ragpg.config.values import SECTIONS, Config, variable

if TYPE_CHECKING:
    from ragpg.config.knobs import Knob

#: What stands in the file, by table; of keys without a default a value to show.
_KEYS: dict[str, dict[str, Any]] = {
    "": {
        "dsn": "postgresql:///mine",
        "embedder": "local",
        "generator": "openai",
        "reranker": "heuristic, late",
    },
    "ingest": {
        "chunker": None,
        "include": ["*.md", "*.pdf"],
        "exclude": ["drafts/*"],
        "language": None,
    },
    "settings": {"usage": None, "search_timeout": None, "vector_retention": None},
    "cache": {"enabled": None},
    "tools": {"namespaces": ["handbook"]},
}
_HEAD = """\
# The configuration of ragpg, for commands that run here or in a folder below, and for
# ragpg.connect(config="ragpg.toml"). Every line that begins with "# key =" shows a default or an
# example: take the # away to change it. `ragpg config show` prints all keys with their values,
# `ragpg config check` what is wrong. What the environment says (as {variable}) wins over
# this file, and the options of a command win over both. Keys of services are best left in the
# environment: OPENAI_API_KEY and others.
"""
_PROFILE = """\
# Which stages a search runs: "measured", "seed", "fast", or a table of knobs over one of them.
# [profile]
# base = "measured"
# parents = 1
"""
_FOLDER = """\
# What `ragpg watch` mirrors: one table a folder, each into a namespace of its own.
{mark}[[folder]]
{mark}path = {path}
{mark}namespace = {namespace}
"""


def starting_config(
    *, folder: str | None = None, namespace: str = "default", embedder: str | None = None
) -> str:
    """A configuration as TOML, with everything but what is given here commented out.

    folder     what `ragpg watch` is to mirror, in which namespace
    embedder   the model of the vectors; None: the default of the command line
    """
    parts = [_HEAD.format(variable=variable("settings", "search_timeout"))]
    for name, keys in _KEYS.items():
        knobs = knobs_of(SECTIONS[name] if name else Config)
        if name:
            said = knobs_of(Config)[name].text
            parts.append("\n".join([*_comment(f"{said[0].upper()}{said[1:]}."), f"[{name}]"]))
        for key, example in keys.items():
            given = embedder if key == "embedder" else None
            parts.append("\n".join(_lines(knobs[key], example, given)) + "\n")
        if not name:
            parts.append(_PROFILE)
    parts.append(
        _FOLDER.format(
            mark="" if folder else "# ",
            path=json.dumps(folder or "docs", ensure_ascii=False),
            namespace=json.dumps(namespace if folder else "handbook", ensure_ascii=False),
        )
    )
    return "\n".join(parts)


def _lines(knob: Knob, example: Any, given: Any) -> list[str]:
    """A comment with what a key does, and the key, in force where something is given."""
    said = _comment(knob.text)
    if given is not None:
        return [*said, f"{knob.name} = {json.dumps(given, ensure_ascii=False)}"]
    value = knob.default if example is None else example
    return [*said, f"# {knob.name} = {json.dumps(value)}"]


def _comment(text: str) -> list[str]:
    """A text as lines of a comment."""
    return textwrap.wrap(
        text, 96, initial_indent="# ", subsequent_indent="# ",
        break_on_hyphens=False, break_long_words=False,
    )  # fmt: skip
