"""Files of keys and values in TOML, YAML or JSON, where no key may stand twice in one table."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError

if TYPE_CHECKING:
    import os

#: Strings, with the colon that makes a key of one, and the ends of tables, in valid JSON.
_JSON = re.compile(r'(?P<text>"(?:[^"\\]|\\.)*")(?P<colon>\s*:)?|[{}]')


def read_tables(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The tables of a file by its ending; TOML where it says nothing else.

    Raises ConfigError for a file that cannot be read, that is no table, or in which a key stands
    twice; the error has the line, and never a value: it may be a password.
    """
    place = Path(path).expanduser()
    kind = place.suffix.lower()
    found: Any
    try:
        text = place.read_text(encoding="utf-8-sig")
        if kind in (".yaml", ".yml"):
            found = _yaml(text)
        elif kind == ".json":
            found = json.loads(text)
            _refuse_twice(text)
        else:
            # With a last line end the parser names lines to the last.
            found = tomllib.loads(f"{text}\n")
    except Exception as error:  # YAML has errors of its own, and is imported only where needed
        reason = error.strerror if isinstance(error, OSError) else error
        mark = getattr(error, "problem_mark", None)
        if mark is not None:
            # YAML quotes the line, which may hold a password.
            reason = f"{getattr(error, 'problem', 'no YAML')} in line {mark.line + 1}"
        raise ConfigError(f"{path} cannot be read: {reason}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{path} must be a table, not a {type(found).__name__}")
    return found


def _yaml(text: str) -> Any:
    import yaml

    class Loader(yaml.SafeLoader):
        """Refuses a key that stands twice, before merges (<<) put others beside it."""

        def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
            node: yaml.MappingNode = super().compose_mapping_node(anchor)
            seen = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode):
                    if key.value in seen:
                        raise yaml.constructor.ConstructorError(
                            None, None, f"the key {key.value} stands twice", key.start_mark
                        )
                    seen.add(key.value)
            return node

    # A SafeLoader too, so it makes nothing but plain values.
    found = yaml.load(text, Loader)
    return {} if found is None else found


def _refuse_twice(text: str) -> None:
    """Raise ValueError for a key of valid JSON that stands twice in its object."""
    tables: list[set[str]] = []
    for token in _JSON.finditer(text):
        if token[0] == "{":
            tables.append(set())
        elif token[0] == "}":
            tables.pop()
        elif token["colon"]:
            key = json.loads(token["text"], strict=False)
            if key in tables[-1]:
                line = text.count("\n", 0, token.start()) + 1
                raise ValueError(f"the key {key} stands twice in line {line}")
            tables[-1].add(key)
