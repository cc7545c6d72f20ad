"""PowerPoint presentations: a slide is a page and a section."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from ragpg.errors import LoadError
from ragpg.ingest.clean import clean_name
from ragpg.ingest.loaders.archive import check_markup
from ragpg.ingest.loaders.compose import Composer, pipe_table
from ragpg.ingest.loaders.extras import parser_of
from ragpg.types import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEPTH = 20


def load(data: bytes, *, source: str) -> Document:
    """Titles, texts, tables and speaker notes of all slides, in the order of the slides.

    `page` of a chunk is the number of its slide."""
    pptx = parser_of("pptx", package="python-pptx", extra="office", what="presentations")
    check_markup(data)
    try:
        show = pptx.Presentation(io.BytesIO(data))
    except Exception as error:
        raise LoadError(f"the presentation cannot be read: {error}") from error
    out = Composer()
    for number, slide in enumerate(show.slides, 1):
        out.page()
        title = slide.shapes.title
        words = clean_name(title.text_frame.text) if title is not None else ""
        out.heading(words or f"Slide {number}", 1)
        for shape in _shapes(slide.shapes):
            if title is None or shape.shape_id != title.shape_id:
                _write(shape, out)
        notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
        if notes is not None and notes.text.strip():
            out.paragraph(f"Notes: {notes.text}")
    facts = show.core_properties
    metadata: dict[str, Any] = {"slides": len(show.slides)}
    if facts.author:
        metadata["author"] = facts.author
    return Document(
        source=source,
        text=out.text(),
        title=_title(facts.title, out),
        format="pptx",
        metadata=metadata,
        sections=out.sections(),
        blocks=tuple(out.blocks),
        pages=out.page_starts(),
        notes=tuple(out.notes),
    )


def _title(title: str, out: Composer) -> str:
    # The property of a file that was never given a title names the program's default.
    named = clean_name(title or "")
    if named and named != "PowerPoint Presentation":
        return named
    return out.headings[0].text if out.headings else ""


def _shapes(shapes: Any, depth: int = 0) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes") and depth < _DEPTH:
            yield from _shapes(shape.shapes, depth + 1)
        else:
            yield shape


def _write(shape: Any, out: Composer) -> None:
    if getattr(shape, "has_table", False):
        rows = [[cell.text_frame.text for cell in row.cells] for row in shape.table.rows]
        out.block(pipe_table(rows))
    elif getattr(shape, "has_text_frame", False):
        gap = 2
        for paragraph in shape.text_frame.paragraphs:
            text = paragraph.text.replace("\v", "\n")
            if text.strip():
                out.paragraph("  " * paragraph.level + text, gap=gap)
                gap = 1
