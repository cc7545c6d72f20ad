"""Front matter of a Markdown file: YAML between "---" lines or TOML between "+++" lines."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import yaml

#: The fence lines; "..." may close YAML. Nothing but the file's start opens front matter.
_FLAGS = re.DOTALL | re.MULTILINE
_FENCES = (
    ("yaml", re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", _FLAGS)),
    ("toml", re.compile(r"\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", _FLAGS)),
)
#: More than this is no front matter; it also bounds what a hostile file can cost.
_LIMIT = 100_000


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Safe YAML that keeps a date which is none ("2024-02-30") as the text it is."""


def _timestamp(loader: Any, node: Any) -> Any:
    try:
        return loader.construct_yaml_timestamp(node)
    except ValueError:
        return loader.construct_scalar(node)


_Loader.add_constructor("tag:yaml.org,2002:timestamp", _timestamp)


def split_front_matter(text: str) -> tuple[dict[Any, Any], int, str]:
    """The metadata, the offset where the body starts, and a note.

    Where there is no front matter the metadata is empty and the offset 0; so it is for a block
    that cannot be read as a mapping, which then stays text, and the note tells why.
    """
    for language, fence in _FENCES:
        match = fence.match(text, 0, _LIMIT)
        if not match:
            continue
        try:
            values = _parse(language, match[1])
        except (yaml.YAMLError, tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
            reason = " ".join(str(error).split())
            return {}, 0, f"front matter is not valid {language.upper()}, kept as text: {reason}"
        if values is None:
            return {}, match.end(), ""
        if isinstance(values, dict):
            return values, match.end(), ""
        return {}, 0, ""  # two thematic breaks with a paragraph between them
    return {}, 0, ""


def _parse(language: str, text: str) -> Any:
    if language == "toml":
        return tomllib.loads(text)
    # _Loader is a safe loader: it builds plain values only.
    return yaml.load(text, Loader=_Loader)
