"""Files that commands write: all of a file, or a message and what was there before."""

from __future__ import annotations

import resource
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
import pytest

from ragpg.cli.files import check_places, write_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """A disk that is full after so many bytes."""
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, former[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, former)


@pytest.mark.parametrize("before", [None, "the former page"])
def test_a_full_disk_leaves_what_was_there(tmp_path: Path, before: str | None) -> None:
    file = tmp_path / "page.html"
    if before is not None:
        file.write_text(before)
    with no_file_above(4096), pytest.raises(click.UsageError, match=r"cannot write .*page.html: "):
        write_file(str(file), "x" * 100_000)
    assert [one.name for one in tmp_path.iterdir()] == ([] if before is None else ["page.html"])
    if before is not None:
        assert file.read_text() == before


def test_a_place_that_is_none_is_named(tmp_path: Path) -> None:
    folder, missing = tmp_path / "folder", tmp_path / "missing" / "page.html"
    folder.mkdir()
    for path, said in ((folder, "it is a folder"), (missing, "there is no folder")):
        with pytest.raises(click.UsageError, match=said):
            check_places(None, "-", str(path))
        with pytest.raises(click.UsageError, match="cannot write"):
            write_file(str(path), "text")
    assert not list(folder.iterdir())
    assert not missing.parent.exists()
    with pytest.raises(click.UsageError, match="No space left"):
        write_file("/dev/full", "text")


def test_a_file_is_replaced_with_its_rights_and_through_links(tmp_path: Path) -> None:
    file, link = tmp_path / "page.html", tmp_path / "link.html"
    file.write_text("the former page")
    file.chmod(0o640)
    link.symlink_to(file)
    check_places(str(link), str(tmp_path / "new.html"))
    write_file(str(link), "half of a pair: \ud800")
    assert link.is_symlink()
    assert file.read_text() == "half of a pair: \\ud800"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    write_file("/dev/null", "text")
