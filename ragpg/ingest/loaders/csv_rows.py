"""CSV and TSV: the file's text, with its records as blocks that are cut between records only."""

from __future__ import annotations

import csv
from posixpath import splitext

from ragpg.ingest.loaders.decode import read_text
from ragpg.types import Document

_SAMPLE = 50_000


def load(data: bytes, *, source: str) -> Document:
    """The text as it is, so that lines are lines of the file; `columns` of the first record are
    metadata. A file that has no columns is plain text of this format."""
    text, notes = read_text(data)
    delimiter = delimiter_of(text, source)
    metadata: dict[str, object] = {}
    if delimiter:
        first = next(csv.reader(text[:_SAMPLE].splitlines(), delimiter=delimiter), [])
        metadata = {"columns": [name.strip() for name in first][:200]}
    return Document(source=source, text=text, format="csv", metadata=metadata, notes=notes)


def delimiter_of(text: str, source: str) -> str:
    """What parts the columns, or "" where nothing does."""
    if splitext(source.lower())[1] == ".tsv":
        return "\t"
    head = text[:_SAMPLE]
    try:
        return csv.Sniffer().sniff(head, delimiters=",;\t|").delimiter
    except csv.Error:
        line = head.partition("\n")[0]
        best = max(",;\t|", key=line.count)
        return best if line.count(best) else ""
