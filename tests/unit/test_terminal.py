"""Names that hold line breaks, controls, quotes or dashes: on a terminal, and in commands to paste."""

from __future__ import annotations

import subprocess

import pytest

from ragpg.cli import output
from ragpg.terminal import shell_argument, shell_word, visible, visible_lines

NAMES = (
    "handbook", "a b", "it's", 'a"b', "a\nb", "\x1b[31mred", "back\\slash", "tab\there",
    "$(rm -rf x)", "`x`", "a;b", "-x", "ünï", "\u202egnp", "c1\x85\x9b", "\u2028", "'\n\\",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_command_that_is_pasted_gets_the_name_back(name: str) -> None:
    told = f"printf '%s\\0' {shell_argument(name)}"
    assert told == visible(told), "it stays on one line, and as it is where it is printed"
    # printf takes its own --, as ragpg does.
    told = told.replace("'%s\\0' -- ", "-- '%s\\0' ")
    done = subprocess.run(["bash", "-c", told], capture_output=True, check=True)
    assert done.stdout.decode() == name + "\0"


def test_what_is_printed_has_no_controls_and_no_further_lines() -> None:
    assert visible("a\nb\x1b[2J\u202e\x9b") == "a\\nb\\x1b[2J\\u202e\\u009b"
    assert visible_lines("a\n\tb\x1b[2J") == "a\n\tb\\x1b[2J"
    assert visible("שלום 👩\u200d💻 नमस्ते") == "שלום 👩\u200d💻 नमस्ते"
    assert shell_word("handbook") == "handbook"


def test_a_table_has_a_line_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [("a\nb", 1), ("\x1b[31m", 22)]
    assert output.table(("name", "n"), rows).splitlines() == [
        "name       n",
        "a\\nb       1",
        "\\x1b[31m  22",
    ]
    output.say("OK a\nOK b")
    output.note("OK a\nOK b")
    seen = capsys.readouterr()
    assert (seen.out, seen.err) == ("OK a\\nOK b\n", "note: OK a\\nOK b\n")
