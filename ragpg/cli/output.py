"""What the command line prints: JSON, tables, hits."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ragpg.cli.failures import FAILED, without_secrets
from ragpg.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ragpg.types import ArmReport, Hit, SearchResult
    from ragpg.vector_index import IndexProgress

__all__ = [
    "FAILED",
    "IndexLine",
    "hit_json",
    "note",
    "place",
    "print_json",
    "result_json",
    "say",
    "show_hits",
    "show_report",
    "table",
]


def print_json(value: Any) -> None:
    """One JSON value on one line of standard output."""
    click.echo(json.dumps(value, ensure_ascii=False, default=str))


def note(text: str) -> None:
    """A remark on standard error, where it cannot spoil the output."""
    click.echo(f"note: {visible(without_secrets(text))}", err=True)


def say(text: str, *, err: bool = False) -> None:
    """One line, whatever the names in it hold: see `ragpg.terminal`."""
    click.echo(visible(text), err=err)


class IndexLine:
    """Shows on standard error how far the build of an index is: one line that changes on a
    terminal, else one for every phase."""

    def __init__(self) -> None:
        self.phase = ""

    def __call__(self, progress: IndexProgress) -> None:
        """Show a state of the build."""
        if sys.stderr.isatty():
            text = f"vector index: {progress.phase} {progress.percent:.0f} %"
            click.echo(f"\r\x1b[K{text}", nl=False, err=True)
        elif progress.phase != self.phase:
            note(f"vector index: {progress.phase}")
        self.phase = progress.phase

    def end(self) -> None:
        """Clear the line."""
        if self.phase and sys.stderr.isatty():
            click.echo("\r\x1b[K", nl=False, err=True)


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows under a head, in columns; numbers to the right, None as "-", one line a row."""
    cells = [["-" if cell is None else visible(str(cell)) for cell in row] for row in rows]
    numeric = [
        all(re.fullmatch(r"-|[\d.,]+", row[column]) for row in cells) and bool(cells)
        for column in range(len(head))
    ]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ).rstrip()
        for row in [list(head), *cells]
    )


def place(hit: Hit) -> str:
    """Where a hit is, as an editor takes it: source:first-last."""
    source = visible(hit.source)
    return f"{source}:{hit.lines[0]}-{hit.lines[1]}" if hit.lines else source


def show_hits(hits: Sequence[Hit], *, lines: int = 4) -> str:
    """Hits for a terminal: place, heading, the rank in each arm, and the first lines of text."""
    width = min(shutil.get_terminal_size().columns, 100)
    blocks = []
    for hit in hits:
        arms = "  ".join(
            f"{name} #{arm.rank} ({arm.score:.4g})" for name, arm in sorted(hit.arms.items())
        )
        body = visible(" ".join(_body(hit.content).split()))
        text = textwrap.wrap(body, width - 4, max_lines=lines, placeholder=" …")
        heading = f"  {visible(hit.breadcrumb)}" if hit.breadcrumb else ""
        head = f"{hit.rank:>2}. {place(hit)}{heading}"
        blocks.append("\n    ".join([head, f"score {hit.score:.4f}  {arms}".rstrip(), *text]))
    return "\n\n".join(blocks)


def _body(text: str) -> str:
    """The text without the Markdown headings on top, which the breadcrumb shows already."""
    return re.sub(r"\A(?:#{1,6} [^\n]*\s+)+(?=\S)", "", text)


def show_report(report: Mapping[str, ArmReport]) -> str:
    """What each arm and stage did, one line each."""
    rows = [
        (name, arm.rows, f"{arm.ms:.1f}", arm.mode or "", arm.error or arm.skipped or "")
        for name, arm in report.items()
    ]
    return table(("arm", "rows", "ms", "mode", "remark"), rows)


def hit_json(hit: Hit) -> dict[str, Any]:
    """A hit in the documented form; see docs/cli.md."""
    return {
        "rank": hit.rank,
        "score": hit.score,
        "namespace": hit.namespace,
        "source": hit.source,
        "chunk_id": hit.chunk_id,
        "chunk_index": hit.chunk_index,
        "lines": list(hit.lines) if hit.lines else None,
        "content": hit.content,
        "metadata": dict(hit.metadata),
        "arms": {
            name: {"rank": arm.rank, "score": arm.score} | ({"mode": arm.mode} if arm.mode else {})
            for name, arm in hit.arms.items()
        },
        "document_id": hit.document_id,
        "title": hit.title,
        "breadcrumb": hit.breadcrumb,
        "chars": [hit.start_char, hit.end_char] if hit.start_char is not None else None,
        "page": hit.page,
        "version": hit.version,
        "score_kind": hit.score_kind,
        "kind": hit.kind,
        "duplicates": [asdict(one) for one in hit.duplicates],
    }


def result_json(result: SearchResult) -> dict[str, Any]:
    """A search result in the documented form; see docs/cli.md."""
    return {
        "query": result.query,
        "hits": [hit_json(hit) for hit in result.hits],
        "report": {
            name: {
                "rows": arm.rows,
                "ms": round(arm.ms, 3),
                "error": arm.error,
                "skipped": arm.skipped,
                "mode": arm.mode,
            }
            for name, arm in result.report.items()
        },
        "fusion": None if result.fusion is None else asdict(result.fusion),
        "confidence": result.confidence,
        "notes": list(result.notes),
    }
