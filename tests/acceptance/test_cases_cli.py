"""Faults reported elsewhere that show at the command line only."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from ragpg.cli import failures
from ragpg.ingest import loaders
from ragpg.types import Document

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

FILES = Path(__file__).parents[1] / "cases" / "files"
NAMES = ["MyDocs", "my-docs", "user:42", "a.b", "select", "1st", "café", 'say "hi"', "semi;colon",
         "space name", "-n", "a,b", "%s"]  # fmt: skip


def _json(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
def stored(database: str) -> Callable[[], dict[str, int]]:
    """A function that counts the documents of every namespace."""

    def count() -> dict[str, int]:
        with psycopg.connect(database) as connection:
            rows = connection.execute("select name, documents from ragpg.namespaces").fetchall()
        return dict(rows)

    return count


@pytest.mark.case("SC-06")
def test_any_text_is_a_name_of_a_namespace_in_every_command_sc_06(
    ragpg_cli: Callable[..., Result], tmp_path: Path
) -> None:
    _json(ragpg_cli("namespaces", "create", "--json", "--", NAMES[0]))
    for name in NAMES:
        (tmp_path / "secret.md").write_text(f"The secret of {name}.")
        counts = _json(ragpg_cli("ingest", str(tmp_path), f"--namespace={name}", "--json"))[
            "counts"
        ]
        assert counts["stored"] == 1
    listed = _json(ragpg_cli("namespaces", "list", "--json"))
    assert {one["name"]: one["documents"] for one in listed} == dict.fromkeys(NAMES, 1)
    for name in NAMES:
        found = _json(ragpg_cli("search", "secret", f"--namespace={name}", "--json"))
        assert [hit["content"] for hit in found["hits"]] == [f"The secret of {name}."]
        question = ("--question", "secret", f"--namespace={name}", "--json")
        _json(ragpg_cli("ground", f"The secret of {name}.", *question))
    for name in NAMES:
        assert _json(ragpg_cli("namespaces", "drop", "--yes", "--json", "--", name))["dropped"]
    assert _json(ragpg_cli("namespaces", "list", "--json")) == []
    for name in ("", "  "):
        for command in (["namespaces", "create", name], ["ingest", str(tmp_path), "-n", name]):
            result = ragpg_cli(*command)
            assert result.exit_code == failures.USAGE, result.output
            assert "blank" in result.stderr
    assert _json(ragpg_cli("namespaces", "list", "--json")) == []


@pytest.mark.case("SC-06")
@pytest.mark.parametrize("name", ["My-Schema", "a.b", "semi;colon", 'say "hi"', "", "  "])
def test_a_schema_name_that_needs_quotes_is_refused_by_every_command_sc_06(
    ragpg_cli: Callable[..., Result], name: str
) -> None:
    for command in (["migrate"], ["search", "x"], ["namespaces", "list"], ["doctor"]):
        result = ragpg_cli(*command, f"--schema={name}")
        assert result.exit_code == failures.USAGE, (command, result.output)
        assert "schema name" in result.stderr


@pytest.mark.case("TN-04")
def test_an_empty_variable_deletes_nothing_tn_04(
    ragpg_cli: Callable[..., Result],
    stored: Callable[[], dict[str, int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "a.md").write_text("One.")
    (tmp_path / "b.md").write_text("Two.")
    (tmp_path / "one").mkdir()
    (tmp_path / "one/c.md").write_text("Three.")
    _json(ragpg_cli("ingest", str(tmp_path), "--json"))
    _json(ragpg_cli("ingest", str(tmp_path / "one"), "-n", "other", "--json"))
    before = stored()
    assert before == {"default": 3, "other": 1}
    monkeypatch.chdir(tmp_path)
    shutil.rmtree(tmp_path / "one")
    os.remove(tmp_path / "a.md")
    for command in (
        ["namespaces", "drop", "", "--yes"],
        ["namespaces", "drop", "--yes"],
        ["ingest", "", "--prune"],
        ["ingest", "", "--prune", "-n", "other"],
        ["ingest", "--prune"],
        ["ingest", str(tmp_path / "one"), "--prune", "-n", "other"],
    ):
        assert ragpg_cli(*command).exit_code != 0, command
        assert stored() == before, command


@pytest.mark.case("LO-05")
def test_a_pdf_without_text_is_visible_and_tried_again_lo_05(
    ragpg_cli: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(FILES / "load/no_text_layer.pdf", tmp_path)
    (tmp_path / "a.md").write_text("Readable.")
    result = ragpg_cli("ingest", str(tmp_path))
    assert result.exit_code == 0
    assert "EMPTY no_text_layer.pdf  [no text found in 1 page: " in result.stdout
    assert "OCR" in result.stdout
    assert "1 stored, 1 empty" in result.stdout.splitlines()[-1]

    def recognised(data: bytes, *, source: str) -> Document:
        return Document(source, "What the scan says.", format="pdf")

    # A loader that can read it makes the next run read it again, and nothing else.
    monkeypatch.setitem(loaders.LOADERS, "pdf", recognised)
    result = ragpg_cli("ingest", str(tmp_path))
    assert "OK no_text_layer.pdf (1 chunk" in result.stdout
    listed = _json(ragpg_cli("namespaces", "list", "--json"))
    assert [(one["documents"], one["failed"]) for one in listed] == [(2, 0)]


@pytest.mark.case("LO-09")
def test_a_spreadsheet_keeps_what_its_cells_say_lo_09(
    ragpg_cli: Callable[..., Result], tmp_path: Path
) -> None:
    shutil.copy(FILES / "load/costs.xlsx", tmp_path)
    assert ragpg_cli("ingest", str(tmp_path)).exit_code == 0
    [hit] = _json(ragpg_cli("search", "NaNo lamp", "--json"))["hits"]
    lines = hit["content"].split("\n")
    assert "| Row | Item | Direct cost | Direct cost | Rate | State |" in lines
    assert "| 2 | NaNo lamp | 120 | 130 | 35% | N/A |" in lines
    assert "| 3 | 007 | 0 |  | 100% | NULL |" in lines
    assert (hit["breadcrumb"], hit["page"]) == ("costs.xlsx > Costs", 1)
