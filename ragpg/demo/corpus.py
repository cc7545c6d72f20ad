"""The corpus of the demo, which comes with the package, as a folder of Markdown files."""

from __future__ import annotations

import gzip
import json
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def sections() -> Iterator[tuple[str, str]]:
    """Path and Markdown text of every section, in order of path."""
    packed = resources.files("ragpg.demo").joinpath("manual.jsonl.gz").read_bytes()
    for row in gzip.decompress(packed).decode().splitlines():
        section = json.loads(row)
        yield section["source"], section["text"]


def write_corpus(folder: Path) -> int:
    """Write the sections below a folder, with their licence; how many there are.

    A file that is there with the same text is left alone.
    """
    count = 0
    for source, text in sections():
        path = folder / source
        if not path.exists() or path.read_text("utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8", newline="\n")
        count += 1
    licence = resources.files("ragpg.demo").joinpath("LICENSE-PostgreSQL.txt").read_text("utf-8")
    folder.parent.joinpath("LICENSE-PostgreSQL.txt").write_text(licence, "utf-8")
    return count
