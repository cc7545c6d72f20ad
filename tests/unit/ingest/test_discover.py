"""Which files are read, under which names, and why others are not."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ragpg.errors import ConfigError, LoadError
from ragpg.ingest.discover import Candidate, Discovery, discover, discover_below, read_file
from ragpg.ingest.load import load
from ragpg.ingest.prune import existing

if TYPE_CHECKING:
    from collections.abc import Iterator


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"Text of {name}.")


def sources(found: Discovery) -> list[str]:
    return [file.source for file in found.files]


def rejected(found: Discovery) -> dict[str, tuple[str, str | None]]:
    return {report.source: (report.status, report.reason) for report in found.rejected}


@contextmanager
def without_rights() -> Iterator[None]:
    """Root may read everything; let go of that for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that other users may look into, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="discover"))
    folder.chmod(0o755)
    yield folder
    (folder / "sub").chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.case("LO-06")
def test_one_unreadable_file_does_not_stop_the_folder_lo_06(folder: Path) -> None:
    write(folder, "a.md", "b.md", "d.md", "e.md", "sub/x.md", "z.md")
    (folder / "e.md").write_text("x" * 200)
    (folder / "c.md").symlink_to(folder / "missing.md")
    (folder / "b.md").chmod(0)
    (folder / "sub").chmod(0)

    with without_rights():
        found = discover(folder, max_bytes=100)
    (folder / "d.md").unlink()
    texts, failed = {}, {}
    for file in found.files:
        try:
            with without_rights():
                texts[file.source] = load(read_file(file), source=file.source).text
        except LoadError as error:
            failed[file.source] = error.message
    assert texts == {"a.md": "Text of a.md.", "z.md": "Text of z.md."}
    assert failed == {
        "b.md": "b.md: permission denied",
        "d.md": "d.md: no such file or directory",
    }
    reports = rejected(found)
    assert reports["e.md"] == ("failed", "200 bytes are over the limit of 100")
    assert reports["sub/"] == ("failed", "permission denied")
    assert reports["c.md"][0] == "failed"
    assert "missing" in str(reports["c.md"][1])
    assert set(reports) == {"c.md", "e.md", "sub/"}
    assert found.vanished(["b.md", "c.md", "e.md", "sub/x.md", "gone.md"]) == ["gone.md"]


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    write(tmp_path, "docs/a.md", "outside/secret.md")
    (tmp_path / "docs/link.md").symlink_to(tmp_path / "outside/secret.md")
    (tmp_path / "docs/dir").symlink_to(tmp_path / "outside")
    (tmp_path / "docs/ok.md").symlink_to(tmp_path / "docs/a.md")
    return tmp_path / "docs"


@pytest.mark.case("OP-03")
def test_links_out_of_the_folder_are_skipped_and_reported_op_03(linked: Path) -> None:
    found = discover(linked)
    assert sources(found) == ["a.md"]
    assert rejected(found) == {
        "dir/": ("skipped", "link out of the folder"),
        "link.md": ("skipped", "link out of the folder"),
        "ok.md": ("skipped", "the same file as a.md"),
    }
    assert sources(discover(f"{linked}/**/*.md")) == ["a.md"]


@pytest.mark.case("OP-03")
def test_links_are_followed_when_asked_to_op_03(linked: Path) -> None:
    found = discover(linked, follow_links=True)
    assert sources(found) == ["a.md", "dir/secret.md"]
    assert rejected(found)["link.md"] == ("skipped", "the same file as dir/secret.md")


@pytest.mark.case("OP-04")
@pytest.mark.parametrize("follow_links", [False, True])
def test_link_loops_end_op_04(tmp_path: Path, follow_links: bool) -> None:
    docs = tmp_path / "docs"
    write(docs, "a.md")
    (docs / "x").mkdir()
    (docs / "z").mkdir()
    (docs / "loop").symlink_to(docs)
    (docs / "x/y").symlink_to(docs / "z")
    (docs / "z/w").symlink_to(docs / "x")
    (docs / "self").symlink_to(docs / "self")
    started = time.process_time()
    assert sources(discover(docs, follow_links=follow_links)) == ["a.md"]
    assert time.process_time() - started < 5


@pytest.mark.case("OP-04")
def test_loops_outside_end_as_well_op_04(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md", "out/one/b.md")
    (tmp_path / "docs/out").symlink_to(tmp_path / "out")
    (tmp_path / "out/back").symlink_to(tmp_path / "docs")
    (tmp_path / "out/one/up").symlink_to(tmp_path / "out")
    found = discover(tmp_path / "docs", follow_links=True)
    assert sources(found) == ["a.md", "out/one/b.md"]


@pytest.mark.case("SY-05")
def test_one_name_in_two_folders_stays_two_sources_sy_05(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a/README.md", "b/README.md")
    monkeypatch.chdir(tmp_path)
    both = ["a/README.md", "b/README.md"]
    assert sources(discover(tmp_path)) == both
    assert sources(discover(["a", "b"])) == both
    assert sources(discover([tmp_path / "a", tmp_path / "b"])) == both
    assert sources(discover(both)) == both
    assert sources(discover("*/README.md")) == both
    assert sources(discover("a")) == ["README.md"]
    write(tmp_path, "c/a/README.md")
    with pytest.raises(ConfigError, match="would both be called 'a'"):
        discover([tmp_path / "a", tmp_path / "c/a"])


def test_hidden_and_ignored_names_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, "a.md", ".env", ".git/config", "node_modules/x.md", ".notes/b.md", "v/lib/c.py")
    write(tmp_path, "v/pyvenv.cfg", "__pycache__/d.txt")
    assert sources(discover(tmp_path)) == ["a.md"]
    assert sources(discover(tmp_path, hidden=True)) == [".env", ".notes/b.md", "a.md"]
    assert sources(discover(tmp_path / ".notes")) == ["b.md"]


def test_patterns_choose_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "docs/a.md", "docs/sub/b.md", "docs/sub/c.txt", "docs/build/d.md")
    monkeypatch.chdir(tmp_path)
    assert sources(discover("docs/*.md")) == ["docs/a.md"]
    assert sources(discover("docs/**/*.md", exclude=["docs/build/"])) == [
        "docs/a.md",
        "docs/sub/b.md",
    ]
    assert sources(discover("docs", include=["*.txt", "a.*"])) == ["a.md", "sub/c.txt"]
    assert sources(discover(["docs/*.md", "docs/**/*.md", "docs/a.md"])) == [
        "docs/a.md",
        "docs/build/d.md",
        "docs/sub/b.md",
    ]
    with pytest.raises(ConfigError, match="malformed"):
        discover("docs", include=["[z-a]"])


def test_given_paths_keep_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "docs/a.md", "other/b.md")
    monkeypatch.chdir(tmp_path / "docs")
    assert sources(discover("./a.md")) == ["a.md"]
    assert sources(discover("../other/b.md")) == ["b.md"]
    assert sources(discover(tmp_path / "other/b.md")) == ["b.md"]
    assert sources(discover([".", "../other"])) == ["a.md", "other/b.md"]


def test_what_is_missing_is_reported_and_nothing_counts_as_gone(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    found = discover([tmp_path / "a.md", tmp_path / "nowhere"])
    assert sources(found) == ["a.md"]
    assert rejected(found)["nowhere"] == ("failed", "no such file or directory")
    assert found.incomplete
    assert found.vanished(["nowhere/b.md"]) == []
    found = discover(f"{tmp_path}/*.rst")
    assert [report.reason for report in found.rejected] == ["no file matches this pattern"]


@pytest.mark.case("LO-03")
def test_file_names_are_clean_text_lo_03(tmp_path: Path) -> None:
    os.close(os.open(os.fsencode(tmp_path) + b"/bad\xff.md", os.O_CREAT))
    write(tmp_path, "e\u0301.md", "two\nlines.md")
    found = discover(tmp_path)
    assert sources(found) == ["bad\ufffd.md", "two lines.md", "\u00e9.md"]
    assert read_file(found.files[0]) == b""


def test_names_that_become_the_same_are_reported(tmp_path: Path) -> None:
    write(tmp_path, "e\u0301.md", "\u00e9.md")
    found = discover(tmp_path)
    assert sources(found) == ["\u00e9.md"]
    assert [report.status for report in found.rejected] == ["failed"]


def test_special_files_are_skipped_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert rejected(discover(tmp_path)) == {"pipe.md": ("skipped", "not a regular file")}
    with pytest.raises(LoadError, match=r"pipe\.md: not a regular file"):
        read_file(Candidate("pipe.md", tmp_path / "pipe.md", 0, 0))


def test_a_file_that_grew_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    [file] = discover(tmp_path).files
    with pytest.raises(LoadError, match=r"a\.md: .* over the limit of 5"):
        read_file(file, max_bytes=5)


def test_a_name_whose_case_changed_is_not_there_any_more(tmp_path: Path) -> None:
    # A hard link stands for a disk that does not tell capitals from small letters.
    (tmp_path / "README.md").write_text("text")
    os.link(tmp_path / "README.md", tmp_path / "Readme.md")
    (tmp_path / "readme.MD").write_text("another file")
    old, new, other = (str(tmp_path / name) for name in ("README.md", "Readme.md", "readme.MD"))
    assert existing([old, other, str(tmp_path / "none.md")], [new]) == {other}
    assert existing([old], [old, new]) == set()
    assert existing([old]) == {old}


def test_looking_at_some_paths_finds_what_looking_at_all_finds(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "deep" / "er", root / ".git", root / ".hidden", root / "venv", outside):
        folder.mkdir(parents=True)
        (folder / "a.md").write_text("text")
    (root / "b.md").write_text("text")
    (root / "venv" / "pyvenv.cfg").write_text("")
    (root / "link").symlink_to(outside)
    (root / "link.md").symlink_to(outside / "a.md")
    (root / "inner.md").symlink_to(root / "deep" / "a.md")
    everything = {file.source: file for file in discover(root).files}
    assert set(everything) == {"b.md", "deep/er/a.md", "deep/a.md"} - {"deep/a.md"}
    paths = [*root.rglob("*"), root / "gone.md", root / "deep" / "gone" / "a.md", outside / "a.md"]
    for path in paths:
        found = {file.source: file for file in discover_below(root, [path]).files}
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else "no"
        assert found == {
            source: file
            for source, file in everything.items()
            if source == name or source.startswith(f"{name}/")
        }
    some = discover_below(root, [root / "deep", root / "b.md"], include=["*.md"], exclude=["b*"])
    assert [file.source for file in some.files] == ["deep/er/a.md"]


def test_a_file_that_changes_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old half, old half")
    [file] = discover([tmp_path]).files
    plain, looks = os.fstat, []

    def fstat(descriptor: int) -> os.stat_result:
        looks.append(descriptor)
        # The first look is for the kind of file, the next two are around the first reading.
        if len(looks) == 3:
            path.write_text("new half, new half!")
        return plain(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr("ragpg.ingest.discover.os.fstat", fstat)
        assert read_file(file) == b"new half, new half!"
    assert len(looks) == 5


def test_a_file_that_changes_all_the_time_is_read_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.log"
    path.write_text("first\n")
    [file] = discover([tmp_path]).files
    plain = os.fstat

    def fstat(descriptor: int) -> os.stat_result:
        with path.open("a") as log:
            log.write("more\n")
        return plain(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr("ragpg.ingest.discover.os.fstat", fstat)
        assert read_file(file).startswith(b"first\nmore\n")
