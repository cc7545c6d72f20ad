"""JSON inside of what a chat model wrote: between prose, in fences, or cut off in the middle.

Pure functions. Nothing here raises on any text; what cannot be read is left out.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: What a model thinks aloud before it answers, closed or not.
THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
#: What is read of an answer at most, in characters, and in the search for the beginning: a text of
#: brackets alone would be read once for every bracket.
_LONGEST, _WORK = 1_000_000, 4_000_000

_DECODER = json.JSONDecoder()
_BRACKET = re.compile(r"[{\[]")


def json_values(text: str, *, inside: bool = False) -> Iterator[Any]:
    """The lists and objects of an answer in order; with `inside` those within another too. Prose,
    code fences and thoughts are passed over, and of a list that was cut off its items come.
    """
    text = _readable(text)
    at = work = 0
    while work < _WORK and (start := _BRACKET.search(text, at)):
        at = start.start() + 1
        try:
            value, end = _DECODER.raw_decode(text, start.start())
        except json.JSONDecodeError as error:
            work += error.pos - start.start() + 100
        # Too deep, or too many digits.
        except (ValueError, RecursionError):
            work += 50_000
        else:
            work += end - start.start() + 100
            at = at if inside else end
            yield value


def as_whole(value: Any) -> int | None:
    """A number as models write it: 3, 3.0 or "3"; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, str):
        value = value.strip()
        return int(value) if value.isascii() and value.isdigit() and len(value) < 12 else None
    return int(value) if math.isfinite(value) and value == int(value) else None


def find_items(answer: str, key: str) -> list[dict[str, Any]]:
    """The objects of the list under `key`, or of a bare list; [] where there is none.

    Of a list that breaks off, the objects before the break.
    """
    answer = _readable(answer)
    for value in json_values(answer, inside=True):
        items = value.get(key) if isinstance(value, dict) else None
        if isinstance(items, list) and (found := _objects(items)):
            return found
    for begun in re.finditer(rf'"{re.escape(key)}"\s*:\s*\[', answer):
        return _objects(_until_broken(answer, begun.end()))
    for value in json_values(answer, inside=True):
        if isinstance(value, list) and (found := _objects(value)):
            return found
    bare = answer.find("[")
    return _objects(_until_broken(answer, bare + 1)) if bare >= 0 else []


def find_fields(answer: str, keys: Sequence[str]) -> dict[str, Any]:
    """The fields of the first object that has the first of the keys; {} where there is none.

    Of an object that breaks off, the fields before the break, and what is there of a list.
    """
    answer = _readable(answer)
    for value in json_values(answer, inside=True):
        if isinstance(value, dict) and keys[0] in value:
            return {key: value[key] for key in keys if key in value}
    found: dict[str, Any] = {}
    for key in keys:
        for begun in re.finditer(rf'"{re.escape(key)}"\s*:\s*', answer):
            whole = _decoded(answer, begun.end())
            if whole is not None:
                found[key] = whole[0]
                break
            if answer.startswith("[", begun.end()):
                found[key] = list(_until_broken(answer, begun.end() + 1))
                break
    return found


def one_line(value: Any, length: int) -> str:
    """A text as one line that Postgres can hold, at most so long; "" for anything else."""
    if not isinstance(value, str):
        return ""
    line = " ".join(value.replace("\0", " ").split())
    return line.encode("utf-8", "replace").decode()[:length].strip()


def strings(value: Any, length: int, most: int) -> list[str]:
    """The texts of a list, one line each; of an object its texts joined, of a text its lines."""
    given: list[Any] = value if isinstance(value, list) else []
    if isinstance(value, str):
        given = [line.lstrip("-*• ") for line in value.splitlines()]
    lines = [one_line(_joined(one), length) for one in given]
    return list(dict.fromkeys(line for line in lines if line))[:most]


def fenced(text: str, *tags: str) -> str:
    """A text that cannot close the tags that it is put between, nor open further ones."""
    return re.sub(rf"<(/?\s*(?:{'|'.join(tags)})\b)", r"(\1", text, flags=re.IGNORECASE)


def _readable(answer: str) -> str:
    return THOUGHT.sub(" ", answer[:_LONGEST])


def _decoded(answer: str, start: int) -> tuple[Any, int] | None:
    try:
        return _DECODER.raw_decode(answer, start)
    except (ValueError, RecursionError):
        return None


def _until_broken(answer: str, at: int) -> Iterator[Any]:
    while found := _decoded(answer, _past_commas(answer, at)):
        value, at = found
        yield value


def _past_commas(answer: str, at: int) -> int:
    while at < len(answer) and answer[at] in " \t\r\n,":
        at += 1
    return at


def _objects(values: Any) -> list[dict[str, Any]]:
    return [one for one in values if isinstance(one, dict)]


def _joined(value: Any) -> Any:
    if isinstance(value, dict):
        parts: Mapping[str, Any] = value
        return ". ".join(part.rstrip(". ") for part in parts.values() if isinstance(part, str))
    return value
