"""Which files, which chunker and which fields of a record: as the command line says it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ragpg.cli import failures
from ragpg.errors import ConfigError
from ragpg.ingest.chunkers.named import chunker_named
from ragpg.ingest.loaders import registered
from ragpg.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result


def test_files_chunker_and_fields_are_chosen(
    ragpg_cli: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "a.jsonl").write_text(
        '{"id": 1, "body": "Quays are wet."}\n{"id": 2, "body": "Boats float."}\n'
    )
    (tmp_path / "a.md").write_text("One sentence. " * 60)
    (tmp_path / "b.txt").write_text("no")
    fields = json.dumps({"text": "body", "metadata": ["id"]})
    result = ragpg_cli(
        "ingest", str(tmp_path), "--include", "a.*", "--exclude", "*.xml",
        "--chunker", "heading:100/0", "--fields", fields,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "OK a.md (9 chunks, 0 cached)" in result.stdout
    assert "b.txt" not in result.stdout
    # The map ends with the command.
    assert registered() == []
    found = ragpg_cli("search", "boats", "--filter", '{"id": 2}', "--json")
    [hit] = json.loads(found.stdout)["hits"]
    assert (hit["content"], hit["metadata"]) == (
        "Boats float.",
        {"id": 2, "record": 2, "records": 2},
    )
    plan = ragpg_cli("ingest", str(tmp_path), "--include", "a.md", "--dry-run")
    assert "OK a.md (1 chunk, 0 cached): its chunker, " in plan.stdout
    result = ragpg_cli("ingest", str(tmp_path), "--chunker", "none:3")
    assert result.exit_code == failures.USAGE
    assert "there is no chunker 'none:3'" in result.stderr


@pytest.mark.parametrize(
    ("spec", "settings"),
    [
        ("auto", "auto/1 size=1000 overlap=200 tokens=512"),
        ("heading:500", "heading/1 size=500 overlap=100"),
        ("recursive:800/100", "recursive/1 size=800 overlap=100"),
        ("token:120/0", "token/1 size=120 overlap=0 tokenizer=all-MiniLM-L6-v2 limit=None"),
        ("code:600", "code/1 size=600"),
        ("rows", "rows/1 size=1000"),
        ("separator:\\n--\\n", "separator/1 '\\n--\\n' regex=False size=4000"),
        ("whole", "whole/1 size=200000"),
    ],
)
def test_chunkers_have_names(spec: str, settings: str) -> None:
    assert chunker_named(spec).settings == settings
    assert chunker_named("semantic", HashEmbedder(8)).settings.startswith("semantic/1")
    for wrong in ("semantic", "heading:10/10", "rows:10/2", "auto:x", ""):
        with pytest.raises(ConfigError):
            chunker_named(wrong)
