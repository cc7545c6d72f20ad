"""A file that is read in windows gives what it gives when it is read at once."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from ragpg.errors import LoadError
from ragpg.ingest import windows
from ragpg.ingest.chunkers import AutoChunker, RecursiveChunker
from ragpg.ingest.discover import Candidate, discover
from ragpg.ingest.load import load

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "LARGE", 1000)
    monkeypatch.setattr(windows, "WINDOW", 3000)
    monkeypatch.setattr(windows, "_STEP", 702)


def written(tmp_path: Path, name: str, data: bytes) -> Candidate:
    (tmp_path / name).write_bytes(data)
    [file] = discover(tmp_path, include=[name]).files
    return file


def prose(seed: int, lines: int) -> str:
    words = [
        "the",
        "harbour",
        "of",
        "Gdańsk,",
        "naïve",
        "猫",
        "boats",
        "👩\u200d💻",
        "and",
        "é",
        "12.5",
        "knots",
    ]
    chosen = random.Random(seed)
    return "".join(
        " ".join(chosen.choices(words, k=chosen.randint(0, 20))) + "\n" for _ in range(lines)
    )


@pytest.mark.parametrize(
    ("name", "encoding", "text"),
    [
        ("a.txt", "utf-8", prose(1, 400)),
        ("a.txt", "utf-8-sig", prose(2, 400).replace("\n", "\r\n")),
        ("a.txt", "utf-16", prose(3, 400)),
        ("a.txt", "utf-16-le", "plain ascii words " * 900),
        ("a.txt", "utf-8", "x" * 20_000),
        ("a.py", "utf-8", "def f():\n    return 'größe'\n\n\n" * 400),
        ("a.jsonl", "utf-8", '{"a": "text"}\n' * 900),
        ("a.md", "utf-8", "---\ntitle: Pilot\n---\n# Head\n\n" + "---\na: b\n---\ntext\n" * 500),
    ],
)
def test_windows_give_the_text_of_the_whole(
    tmp_path: Path, name: str, encoding: str, text: str
) -> None:
    file = written(tmp_path, name, text.encode(encoding))
    whole = load(file.path.read_bytes(), source=name)
    found = windows.windows_of(file, {})
    assert found is not None
    parts = list(found.documents())
    assert len(parts) > 2
    assert "".join(document.text for document, _, _ in parts) == whole.text
    chunks = list(found.chunks(AutoChunker(300, 60)))
    assert [one.ordinal for one in chunks] == list(range(len(chunks)))
    end = 0
    for one in chunks:
        assert whole.text[one.start_char : one.end_char] == one.content
        assert not whole.text[end : one.start_char].strip()
        end = one.end_char
        start = whole.text.count("\n", 0, one.start_char)
        assert one.start_line == start + 1 + whole.line_offset
        assert one.end_line == start + one.content.count("\n") + 1 + whole.line_offset
    assert not whole.text[end:].strip()
    assert {one.breadcrumb.partition(" > ")[0] for one in chunks} == {whole.title or name}


def test_records_keep_their_header_in_every_window(tmp_path: Path) -> None:
    data = "id,name\n" + "".join(f'{n},"boat\n{n}"\n' for n in range(900))
    found = windows.windows_of(written(tmp_path, "a.csv", data.encode()), {})
    assert found is not None
    chunks = list(found.chunks(AutoChunker(300)))
    assert {one.prefix for one in chunks[1:]} == {"id,name\n"}
    assert "\n".join(one.content for one in chunks) + "\n" == data


def test_headings_reach_over_windows(tmp_path: Path) -> None:
    text = "# Top\n\n## Long\n\n" + "Some words here.\n\n" * 600 + "## Next\n\nEnd.\n"
    found = windows.windows_of(written(tmp_path, "a.md", text.encode()), {})
    assert found is not None
    crumbs = [one.breadcrumb for one in found.chunks(AutoChunker(300, 0))]
    assert set(crumbs[:-1]) == {"Top > Long"}
    assert crumbs[-1].endswith("Next")


def test_an_encoding_is_guessed_where_the_bytes_tell(tmp_path: Path) -> None:
    text = "plain line\n" * 500 + "Die Größe der Häfen ist schön.\n" * 100
    found = windows.windows_of(written(tmp_path, "a.txt", text.encode("cp1252")), {})
    assert found is not None
    assert "".join(document.text for document, _, _ in found.documents()) == text
    assert "not UTF-8; decoded as cp1252, a guess" in found.notes


def test_what_is_not_text_or_small_is_read_whole(tmp_path: Path) -> None:
    assert windows.windows_of(written(tmp_path, "a.txt", b"small"), {}) is None
    assert windows.windows_of(written(tmp_path, "b.txt", bytes(5000)), {}) is None
    assert windows.windows_of(written(tmp_path, "c.html", b"<html>" + b"<p>a" * 900), {}) is None


def test_a_file_that_changes_meanwhile_is_noticed(tmp_path: Path) -> None:
    file = written(tmp_path, "a.txt", b"some text\n" * 900)
    found = windows.windows_of(file, {})
    assert found is not None
    file.path.write_bytes(b"other text\n" * 900)
    with pytest.raises(LoadError, match="changed while it was read"):
        list(found.chunks(RecursiveChunker()))
