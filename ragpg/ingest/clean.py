"""Cleans text and metadata once, at the gate, so that no later stage has to.

Everything behind this module may rely on: NFC, no NUL and no other C0 control but tab and line
feed, no lone surrogate, no U+FEFF, lines that end in "\\n" only.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from numbers import Integral
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ragpg.errors import LoadError

if TYPE_CHECKING:
    from ragpg.types import Json

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
#: Vertical tab and form feed part words, so they become a blank; the other controls vanish.
_REMOVED_CONTROLS: dict[int, str | None] = {
    **{code: None for code in range(32) if code not in (9, 10, 13)},
    0x0B: " ",
    0x0C: " ",
}
#: Characters without ink that str.isspace() does not know: zero-width, direction marks, fillers.
_INVISIBLE = dict.fromkeys(
    [
        *(0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x2800, 0x3164, 0xFEFF, 0xFFA0),
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        *range(0xFE00, 0xFE10),
    ]
)

_MAX_DEPTH = 64
_MAX_VALUES = 100_000
#: Postgres' numeric holds 131,072 digits; nobody means more than this.
_MAX_INTEGER_BITS = 4096


def clean_text(text: str) -> tuple[str, tuple[str, ...]]:
    """The text as ragpg stores it, and notes of what was dropped or replaced.

    Valid surrogate pairs are joined, lone halves become U+FFFD. CRLF and CR become "\\n", which
    keeps line numbers. Composing to NFC and new line ends lose nothing and are not noted.
    """
    notes: list[str] = []
    if not text.isascii():
        text = _clean_wide(text, notes)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    controls = _CONTROL.findall(text)
    if controls:
        nuls = controls.count("\x00")
        if nuls:
            notes.append(_count(nuls, "NUL character") + " removed")
        if len(controls) > nuls:
            notes.append(_count(len(controls) - nuls, "control character") + " removed")
        text = text.translate(_REMOVED_CONTROLS)
    # Removing a control may have brought a letter and its accent together: compose last.
    if not text.isascii() and not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    return text, tuple(notes)


def _clean_wide(text: str, notes: list[str]) -> str:
    """Joins and replaces surrogates and drops byte-order marks."""
    if _SURROGATE.search(text):
        known = text.count("\ufffd")
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        lone = text.count("\ufffd") - known
        if lone:
            notes.append(_count(lone, "lone surrogate") + " replaced by U+FFFD")
    if "\ufeff" in text:
        inner = text.count("\ufeff", 1)
        if inner:
            notes.append(_count(inner, "byte-order mark") + " inside the text removed")
        text = text.replace("\ufeff", "")
    return text


def clean_name(name: str) -> str:
    """A source, title or heading as one clean line: white space runs become one blank."""
    return " ".join(clean_text(name)[0].split())


def is_blank(text: str) -> bool:
    """Whether nothing in the text would leave ink: only white space and zero-width characters."""
    if "!" <= text.lstrip()[:1] <= "~":
        return False
    return not text or text.isspace() or not text.translate(_INVISIBLE).strip()


def clean_metadata(metadata: Mapping[Any, Any]) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Metadata as JSON that Postgres can hold, cleaned at every depth, keys included.

    Converted: datetime, date and time to ISO 8601 text; Decimal, UUID and paths to text; an enum
    to its value; tuples to lists; sets to sorted lists; int, float, bool and None keys to the text
    JSON would write. Integers stay exact up to 4,096 bits.
    Refused with a LoadError that names the key: NaN and infinity, bytes, any other type, two keys
    that become the same, more than 64 levels or 100,000 values.
    """
    cleaner = _MetadataCleaner()
    cleaned = cleaner.mapping(metadata, "", 0)
    return cleaned, tuple(dict.fromkeys(cleaner.notes))


class _MetadataCleaner:
    """Walks metadata once; carries the notes and the number of values seen."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.values = 0

    def mapping(self, mapping: Mapping[Any, Any], path: str, depth: int) -> dict[str, Json]:
        cleaned: dict[str, Json] = {}
        for key, value in mapping.items():
            name = self.key(key, path)
            here = f"{path}.{name}" if path else name
            if name in cleaned:
                raise _refuse(here, "it is there twice once keys are clean text")
            cleaned[name] = self.value(value, here, depth + 1)
        return cleaned

    def key(self, key: Any, path: str) -> str:
        if isinstance(key, str):
            return self.text(key, f"{path}.{key!r}" if path else repr(key))
        if key is None:
            return "null"
        if isinstance(key, bool):
            return "true" if key else "false"
        if isinstance(key, (Integral, float, Decimal, UUID, date)):
            return str(self.value(key, f"{path}.{key}" if path else str(key), 0))
        raise _refuse(f"{path}.{key!r}" if path else repr(key), f"a key of type {_type(key)}")

    def text(self, text: str, path: str) -> str:
        cleaned, notes = clean_text(str(text))
        self.notes.extend(f"metadata {clean_name(path)}: {note}" for note in notes)
        return cleaned

    def value(self, value: Any, path: str, depth: int) -> Json:
        self.values += 1
        if self.values > _MAX_VALUES:
            raise _refuse(path, f"there are more than {_MAX_VALUES:,} values")
        if depth > _MAX_DEPTH:
            raise _refuse(path, f"it is nested more than {_MAX_DEPTH} levels deep")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, Enum):
            return self.value(value.value, path, depth + 1)
        if isinstance(value, str):
            return self.text(value, path)
        if isinstance(value, (Integral, float, Decimal)):
            return _number(value, path)
        if isinstance(value, (datetime, date, time)):
            return value.isoformat()
        if isinstance(value, (UUID, PurePath)):
            return self.text(value.as_posix() if isinstance(value, PurePath) else str(value), path)
        if isinstance(value, Mapping):
            return self.mapping(value, path, depth)
        if isinstance(value, (list, tuple)):
            return [self.value(item, f"{path}[{at}]", depth + 1) for at, item in enumerate(value)]
        if isinstance(value, AbstractSet):
            items = [self.value(item, f"{path}{{}}", depth + 1) for item in value]
            return sorted(items, key=_set_order)
        raise _refuse(path, f"{_type(value)} has no form in JSON")


def _set_order(item: Json) -> tuple[str, float, str]:
    """Numbers by value, then everything else by its text; sets have no order of their own."""
    if isinstance(item, (int, float)) and not isinstance(item, bool) and abs(item) < 2**53:
        return ("", float(item), "")
    return (type(item).__name__, 0.0, repr(item))


def _number(value: Any, path: str) -> Json:
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise _refuse(path, f"{value} is not a JSON number")
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _refuse(path, f"{value} is not a JSON number")
        return float(value)
    number = int(value)
    if number.bit_length() > _MAX_INTEGER_BITS:
        raise _refuse(path, f"the integer has {number.bit_length():,} bits")
    return number


def _refuse(path: str, reason: str) -> LoadError:
    return LoadError(
        f"metadata key {clean_name(path)!r} cannot be stored: {reason}",
        hint="Convert it to text, a number, a boolean, a list or an object, or leave the key out.",
    )


def _type(value: object) -> str:
    return type(value).__name__


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
