"""Asking a chat model for text to search with: prompts, and what its answers really hold.

Prompts are filled by plain replacement of their placeholders in one pass, so braces in a query
reach the model byte for byte.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError
from ragpg.model_json import THOUGHT, json_values
from ragpg.query.prompt import is_refusal
from ragpg.words import fold

if TYPE_CHECKING:
    from collections.abc import Mapping

_FENCE = re.compile(r"```[\w-]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_NUMBERED = re.compile(r"^\s*(?:(?:\d{1,2}[.):]|\(\d{1,2}\)|[-*•–])\s*)+")
_LABEL = re.compile(
    r"^(?:\**(?:query|question|variant|variation|rewrite|search query"
    r"|hypothetical (?:answer|passage)|passage|answer)(?:\s*\d+)?\**\s*[:：]\s*)",
    re.IGNORECASE,
)
_INTRODUCTION = re.compile(r"[:：]\s*$")
_CHATTER = re.compile(
    r"^(?:sure|certainly|of course|here (?:are|is)|okay|ok|i hope|hope (?:this|it)|let me know"
    r"|note)\b",
    re.IGNORECASE,
)
_NOTHING = ("null", "none", "n/a")
_EDGES = " \t\r\n\"'“”‘’«»`*_,"
_REFUSAL = re.compile(
    r"^(?:i(?:'|’)?m sorry|sorry|i apologi[sz]e|unfortunately|as an ai\b"
    r"|i (?:can(?:not|'t|’t)|am unable|am not able|won't|won’t))",
    re.IGNORECASE,
)


def filled(template: str, values: Mapping[str, str]) -> str:
    """The template with every {name} of `values` replaced; other braces stay. Raises ConfigError
    where the template lacks {query}."""
    if "{query}" not in template:
        raise ConfigError("the prompt has no {query}", hint="Put {query} where the query belongs.")
    pattern = re.compile("|".join(re.escape("{" + name + "}") for name in values))
    return pattern.sub(lambda found: values[found[0][1:-1]], template)


def refuses(text: str) -> bool:
    """Whether a model says that it will not or cannot answer."""
    plain = text.strip(_EDGES)
    return bool(_REFUSAL.match(plain)) or is_refusal(plain)


def without_thoughts(text: object) -> str:
    """The answer without thinking aloud, NUL and halves of surrogate pairs; "" for no text."""
    if not isinstance(text, str):
        return ""
    kept = THOUGHT.sub("", text).replace("\0", "")
    return kept.encode("utf-8", "ignore").decode("utf-8").strip()


def listed(text: object, *, most: int, longest: int) -> list[str]:
    """Texts of an answer that was to be a list: JSON, numbered lines, bullets or plain lines.

    Introductions, labels, quotes, refusals, repetitions and lines over `longest` characters are
    left out; at most `most` are returned.
    """
    answer = without_thoughts(text)
    fenced = _FENCE.search(answer)
    found = _from_json(answer) or (_from_json(fenced[1]) if fenced else [])
    if not found:
        found = _from_lines(fenced[1] if fenced else answer)
    chosen: dict[str, str] = {}
    for item in found:
        plain = " ".join(_LABEL.sub("", item.strip(_EDGES)).strip(_EDGES).split())
        if not any(mark.isalnum() for mark in plain) or plain.lower() in _NOTHING:
            continue
        if len(plain) <= longest and not refuses(plain):
            chosen.setdefault(fold(plain).rstrip(" .?!"), plain)
    return list(chosen.values())[:most]


def _from_lines(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.strip()]
    marked = [line for line in lines if _NUMBERED.match(line)]
    if marked:
        return [_NUMBERED.sub("", line) for line in marked]
    return [
        line
        for line in lines
        if not _INTRODUCTION.search(line) and not _CHATTER.match(line.strip(_EDGES))
    ]


def _from_json(text: str) -> list[str]:
    """The texts of the first JSON list or object in an answer, prose around it or not."""
    for value in json_values(text, inside=True):
        if found := _texts(value):
            return found
    return []


def _texts(value: Any, depth: int = 0) -> list[str]:
    if isinstance(value, str):
        return [value]
    if depth > 3:
        return []
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [text for one in value for text in _texts(one, depth + 1)]
    return []
