"""What a person sees on a terminal: a pty of its own, read as the bytes come."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pty = pytest.importorskip("pty")


def on_a_terminal(
    environment: dict[str, str], *arguments: str, both: bool = True
) -> tuple[int, str, str]:
    """Run `ragpg ARGUMENTS` with standard error on a pty, and standard output too where `both`:
    exit code, what the terminal was sent, and what went to a pipe instead."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "ragpg.cli.main", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs if both else subprocess.PIPE,
        stderr=theirs,
        env=environment | {"TERM": "xterm", "COLUMNS": "100"},
    ) as process:
        os.close(theirs)
        sent = b""
        try:
            while part := os.read(ours, 65536):
                sent += part
        except OSError:
            # Linux says so when the last one who could write has gone.
            pass
        finally:
            os.close(ours)
        piped = b"" if process.stdout is None else process.stdout.read()
        return process.wait(60), sent.decode(), piped.decode()


def drawn(sent: str) -> list[str]:
    """What is left to see on the screen: a carriage return goes back, and erases by \\x1b[K alone."""
    rows = []
    for line in sent.replace("\r\n", "\n").split("\n"):
        row = ""
        for piece in line.split("\r"):
            erases = piece.startswith("\x1b[K")
            text = re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", piece)
            row = text if erases else text + row[len(text) :]
        rows.append(row.rstrip())
    return rows


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Five files, of which one is broken."""
    for number in range(4):
        (tmp_path / f"{number}.md").write_text(f"# Title {number}\n\nText {number}.\n")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nothing behind")
    return tmp_path


def test_a_bar_goes_on_below_the_lines_of_the_files(
    environment: dict[str, str], folder: Path
) -> None:
    code, sent, _ = on_a_terminal(environment, "ingest", str(folder))
    assert code == 1
    steps = re.findall(r"(\d)/5", sent)
    assert steps[0] == "0"
    assert steps[-1] == "5"
    assert steps == sorted(steps)
    assert set(steps) == set("012345")
    rows = drawn(sent)
    # No line of a file has a piece of the bar in it.
    assert [row for row in rows if row.startswith("OK")] == [
        f"OK {number}.md (1 chunk, 0 cached)" for number in range(4)
    ]
    assert sum(row.startswith("FAILED broken.pdf: ") for row in rows) == 1
    assert any(row.startswith("default: 4 stored, 1 failed") for row in rows)


def test_the_bar_never_gets_into_a_pipe(environment: dict[str, str], folder: Path) -> None:
    code, sent, piped = on_a_terminal(environment, "ingest", str(folder), "-q", both=False)
    assert code == 1
    assert "5/5" in sent
    lines = piped.splitlines()
    assert [line.split()[0] for line in lines] == ["FAILED", "default:"]
    assert "\r" not in piped
    assert "\x1b" not in piped
