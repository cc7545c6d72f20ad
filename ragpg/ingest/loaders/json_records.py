"""JSON and JSON lines: as they are, or by a map of fields to text, title and metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError, LoadError
from ragpg.ingest.clean import clean_metadata, clean_name
from ragpg.ingest.loaders.compose import Composer
from ragpg.ingest.loaders.decode import read_text
from ragpg.types import Document, Section

if TYPE_CHECKING:
    from ragpg.types import Json

_KEYS = ("records", "text", "title", "metadata")


@dataclass(frozen=True, slots=True)
class FieldMap:
    """Which fields of a record are what. A field is a dotted path ("author.name", "tags.0").

    records   the list of records inside of a JSON document; "" is the document itself
    text      fields whose values make up the text, in order, apart by blank lines
    title     the field that heads a record
    metadata  fields that become metadata of the record's chunks, by their path, or a mapping of
              metadata key to field
    """

    text: tuple[str, ...]
    title: str = ""
    metadata: tuple[tuple[str, str], ...] = ()
    records: str = ""

    @classmethod
    def parse(cls, value: Mapping[str, Any]) -> FieldMap:
        """From {"text": "body" or [...], "title": ..., "metadata": [...] or {...}, "records": ...}.

        Raises ConfigError for an unknown key or a map without text.
        """
        unknown = sorted(set(value) - set(_KEYS))
        if unknown:
            raise ConfigError(
                f"a field map has no key {unknown[0]!r}", hint=f"Use {', '.join(_KEYS)}."
            )
        text = value.get("text") or ()
        fields = (text,) if isinstance(text, str) else tuple(text)
        if not fields:
            raise ConfigError('a field map needs "text", the field that holds the text')
        given = value.get("metadata") or {}
        pairs = given.items() if isinstance(given, Mapping) else ((name, name) for name in given)
        return cls(fields, value.get("title") or "", tuple(pairs), value.get("records") or "")


@dataclass(frozen=True, slots=True)
class JsonLoader:
    """Loads JSON and JSON lines. With `fields`, every record is a section with its own metadata;
    lines then count lines of the extracted text. Without, the file's text is kept as it is."""

    fields: FieldMap | None = None

    @property
    def settings(self) -> str:
        """Identifies the map: when it changes, documents are read anew."""
        return f"json/1 {self.fields!r}"

    def __call__(self, data: bytes, *, source: str) -> Document:
        """Raises LoadError when a map is given and the data is no JSON, or no record has text."""
        text, notes = read_text(data)
        if self.fields is None:
            return _verbatim(text, source, notes)
        out, sections = Composer(), []
        missing = 0
        for number, record in enumerate(_records(text, self.fields.records), 1):
            words = "\n\n".join(_words(_at(record, field)) for field in self.fields.text)
            if not words.strip():
                missing += 1
                continue
            start = out.length + 2 if out.length else 0
            title = clean_name(_words(_at(record, self.fields.title))) if self.fields.title else ""
            if title:
                out.paragraph(title)
            out.paragraph(words)
            values = {name: _at(record, path) for name, path in self.fields.metadata}
            metadata, _ = clean_metadata({k: v for k, v in values.items() if v is not None})
            path = (title or f"record {number}",)
            sections.append(Section(start, out.length, path, {**metadata, "record": number}))
        if missing and not sections:
            raise LoadError(f"none of {missing} records has text in {', '.join(self.fields.text)}")
        if missing:
            notes = (*notes, f"{missing} records without text left out")
        return Document(
            source=source,
            text=out.text(),
            format="json",
            metadata={"records": len(sections)},
            sections=_partition(sections, len(out.text())),
            notes=(*notes, *out.notes),
        )


load = JsonLoader()


def _verbatim(text: str, source: str, notes: tuple[str, ...]) -> Document:
    return Document(
        source=source, text=text, format="code", metadata={"language": "json"}, notes=notes
    )


def _records(text: str, path: str) -> Sequence[Json]:
    try:
        found = _at(json.loads(text), path) if path else json.loads(text)
    except (ValueError, RecursionError) as error:
        if path:
            raise LoadError(f"it is no JSON: {error}") from error
        return _lines(text)
    if isinstance(found, list):
        return found
    if found is None:
        raise LoadError(f"it has no field {path}")
    return [found]


def _lines(text: str) -> list[Json]:
    records = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                records.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise LoadError(f"line {number} is no JSON: {error}") from error
    return records


def _at(value: Json, path: str) -> Json:
    """The value at a dotted path, or None."""
    if isinstance(value, Mapping) and path in value:
        return value[path]
    for part in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def _words(value: Json) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "\n".join(value)
    return json.dumps(value, ensure_ascii=False)


def _partition(sections: list[Section], length: int) -> tuple[Section, ...]:
    """The sections, each up to where the next begins."""
    ends = [section.start for section in sections[1:]] + [length]
    return tuple(
        Section(section.start, end, section.path, section.metadata)
        for section, end in zip(sections, ends, strict=True)
    )
