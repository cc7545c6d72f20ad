"""What a dataclass says of its own fields: type, default and a line of documentation each.

A table of the configuration file is a dataclass. Its fields are the keys, their annotations the
types, and the lines of its docstring, written as `name   what it does`, the documentation; so a new
knob is a new field with a line, and reading, checking, `ragpg config` and docs/configuration.md
know it.
"""

from __future__ import annotations

import json
import os
import re
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from inspect import cleandoc
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from ragpg.errors import ConfigError

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
#: A number, a switch or a table that may be absent is switched off by this word.
NONE = "none"


@dataclass(frozen=True, slots=True)
class Knob:
    """One key of a table.

    name      the key
    hint      its type, without None
    optional  whether it may be None
    default   what it is when nobody says anything
    required  whether somebody must say something
    is_path   whether a relative path counts from the file
    is_model  the same of the folder that a name of a model may have behind path:, onnx: or nli:
    text      what it does, in one line
    """

    name: str
    hint: Any
    optional: bool
    default: Any
    required: bool
    is_path: bool
    is_model: bool
    text: str


def knobs_of(cls: type) -> dict[str, Knob]:
    """The knobs of a dataclass by name, in the order of its fields."""
    hints = get_type_hints(
        cls, localns={"Mapping": Mapping, "Sequence": Sequence}, include_extras=True
    )
    lines = documentation(cls)
    found = {}
    for one in fields(cls):
        hint, optional, marks = _bare(hints[one.name])
        default = one.default if one.default_factory is MISSING else one.default_factory()
        found[one.name] = Knob(
            name=one.name,
            hint=hint,
            optional=optional,
            default=None if default is MISSING else default,
            required=default is MISSING,
            is_path="path" in marks,
            is_model="model" in marks,
            text=lines.get(one.name, ""),
        )
    return found


def documentation(cls: type) -> dict[str, str]:
    """The lines `name   what it does` of a docstring, by name; further lines are indented more."""
    found: dict[str, list[str]] = {}
    names = {one.name for one in fields(cls)}
    current = None
    # Cleaned: Python 3.13 takes the indentation away, earlier ones keep it.
    for line in cleandoc(cls.__doc__ or "").splitlines()[1:]:
        match = re.match(r"(\w+) +(\S.*)", line)
        if match and match[1] in names and match[1] not in found:
            current = found.setdefault(match[1], [match[2]])
        elif current is not None and line.startswith("  "):
            current.append(line.strip())
        else:
            current = None
    return {name: " ".join(lines) for name, lines in found.items()}


def words_for(knob: Knob) -> str:
    """The type of a knob in words."""
    return _words(knob.hint) + (f', or "{NONE}"' if knob.optional and knob.hint is not str else "")


def checked(value: Any, knob: Knob, place: str, base: str = "") -> Any:
    """A value of a file, as its dataclass takes it; paths count from `base`.

    Raises ConfigError that names the place, and never quotes a text: it may be a password.
    """
    hint = knob.hint
    if knob.optional and (value is None or (value == NONE and hint is not str)):
        return None
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            raise _wrong(place, knob, value)
        return value
    kind = get_origin(hint) or hint
    if kind is bool:
        good = isinstance(value, bool)
    elif kind in (int, float):
        good = isinstance(value, (int, float) if kind is float else int) and not isinstance(
            value, bool
        )
    elif kind is str:
        good = isinstance(value, str) and bool(value.strip())
    elif kind in (tuple, Sequence):
        good = isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
        value = tuple(value) if good else value
    elif kind is Mapping:
        good = isinstance(value, Mapping)
    else:
        # Anything that JSON can hold.
        good = True
    if not good:
        raise _wrong(place, knob, value)
    if knob.is_path:
        return _placed(value, base)
    if knob.is_model:
        return placed_model(value, base)
    return value


def parsed(text: str, knob: Knob, place: str) -> Any:
    """A value of the environment: lists by commas, tables as JSON, true or false as 1 or 0."""
    hint = get_origin(knob.hint) or knob.hint
    value: Any = text
    if knob.optional and text.lower() == NONE:
        value = None if hint is not str else text
    elif hint is bool:
        if text.lower() in (*_TRUE, *_FALSE):
            value = text.lower() in _TRUE
    elif hint in (int, float):
        try:
            value = hint(text)
        except ValueError:
            value = text
    elif hint in (tuple, Sequence):
        value = [one.strip() for one in text.split(",") if one.strip()]
    elif hint not in (str, Literal):
        try:
            value = json.loads(text)
        except ValueError:
            value = text
    return checked(value, knob, place)


def placed_model(spec: str, base: str) -> str:
    """A name of a model, or several by commas, with folders behind path:, onnx: and nli: that count
    from `base`."""
    return re.sub(
        r"((?:^|,)\s*(?:path|onnx|nli):)([^,]+)",
        lambda found: found[1] + str(_placed(found[2].strip(), base)),
        spec,
    )


def _bare(hint: Any) -> tuple[Any, bool, set[Any]]:
    """A type without None and without its marks, whether it had None, and the marks."""
    optional, found = False, set()
    while True:
        if get_origin(hint) is Annotated:
            hint, *marks = get_args(hint)
            found.update(marks)
        elif get_origin(hint) in (Union, types.UnionType) and type(None) in get_args(hint):
            optional = True
            [hint] = [one for one in get_args(hint) if one is not type(None)]
        else:
            return hint, optional, found


def _words(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(f'"{one}"' for one in get_args(hint))
    kind = get_origin(hint) or hint
    named = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "a text",
        tuple: "a list of texts",
        Sequence: "a list of texts",
        Mapping: "a table",
    }
    return named.get(kind, "a table or a value")


def _wrong(place: str, knob: Knob, value: Any) -> ConfigError:
    secret = isinstance(value, str) and (knob.hint is str)
    said = type(value).__name__ if secret or isinstance(value, Mapping) else repr(value)[:80]
    if isinstance(value, str) and not value.strip():
        said = "an empty one"
    return ConfigError(f"{place} must be {words_for(knob)}, not {said}")


def _placed(value: Any, base: str) -> Any:
    if isinstance(value, str):
        return os.path.normpath(os.path.join(base, os.path.expanduser(value)))
    return tuple(_placed(one, base) for one in value)
