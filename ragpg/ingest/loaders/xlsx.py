"""Excel workbooks: a sheet is a page and a section, its rows a table with row numbers."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING, Any

from ragpg.errors import LoadError
from ragpg.ingest.loaders.archive import markup_size, open_container
from ragpg.ingest.loaders.compose import Composer, pipe_table
from ragpg.ingest.loaders.extras import parser_of
from ragpg.types import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    Grid = list[tuple[int, list[str]]]

#: With more XML than this, in bytes, a workbook is read row by row and its merged cells unknown.
_WHOLE = 30_000_000
_LITERAL = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
_MAX_MERGED = 200


def load(data: bytes, *, source: str) -> Document:
    """All visible sheets. A cell reads as it is shown where that says more than its number: per
    cent, dates; "N/A", "NULL" and "007" stay what they are. The first row that is not empty names
    the columns; a merged cell counts for every column it covers. `page` of a chunk is the sheet.
    """
    openpyxl = parser_of("openpyxl", package="openpyxl", extra="office", what="workbooks")
    with open_container(data) as container:
        large = markup_size(container) > _WHOLE
    notes: tuple[str, ...] = ()
    if large:
        notes = ("a large workbook: merged cells count for their first column only",)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # styles and validations that it does not know
            book = openpyxl.load_workbook(
                io.BytesIO(data), data_only=True, read_only=large, keep_links=False
            )
            out, sheets = Composer(), []
            for sheet in book.worksheets:
                if sheet.sheet_state != "visible":
                    continue
                sheets.append(sheet.title)
                out.page()
                out.heading(sheet.title, 1)
                out.block(_table(list(_rows(sheet, {} if large else _merged(sheet)))))
            book.close()
    except LoadError:
        raise
    except Exception as error:
        raise LoadError(f"the workbook cannot be read: {error}") from error
    facts = book.properties
    metadata: dict[str, Any] = {"sheets": sheets}
    if facts.creator and facts.creator != "openpyxl":
        metadata["author"] = facts.creator
    return Document(
        source=source,
        text=out.text(),
        title=facts.title or "",
        format="xlsx",
        metadata=metadata,
        sections=out.sections(),
        blocks=tuple(out.blocks),
        pages=out.page_starts(),
        notes=(*notes, *out.notes),
    )


def _merged(sheet: Any) -> dict[tuple[int, int], Any]:
    """The cell that is shown at places which a merged cell covers, by row and column."""
    covered: dict[tuple[int, int], Any] = {}
    for area in sheet.merged_cells.ranges:
        first = sheet.cell(area.min_row, area.min_col)
        if area.size["rows"] * area.size["columns"] <= _MAX_MERGED:
            for row, column in area.cells:
                covered[row, column] = first
    return covered


def _rows(sheet: Any, merged: dict[tuple[int, int], Any]) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not empty with their numbers, as texts."""
    for number, row in enumerate(sheet.iter_rows(), 1):
        texts = [_shown(merged.get((number, at), cell)) for at, cell in enumerate(row, 1)]
        if any(texts):
            yield number, texts


def _table(rows: Grid) -> str:
    width = max((len(row) for _, row in rows), default=0)
    used = [at for at in range(width) if any(at < len(row) and row[at] for _, row in rows)]
    table = [
        [str(number) if place else "Row", *(row[at] if at < len(row) else "" for at in used)]
        for place, (number, row) in enumerate(rows)
    ]
    return pipe_table(table)


def _shown(cell: Any) -> str:
    value, format = cell.value, cell.number_format if cell.value is not None else ""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, float)):
        return _number(value, format)
    if hasattr(value, "isoformat"):
        text: str = (
            value.isoformat(sep=" ")
            if hasattr(value, "hour") and hasattr(value, "year")
            else value.isoformat()
        )
        return text.removesuffix(" 00:00:00")
    return str(value)


def _number(value: float, format: str) -> str:
    if "%" in _LITERAL.sub("", format):
        return f"{_plain(round(value * 100, 10))}%"
    return _plain(value)


def _plain(value: float) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)
