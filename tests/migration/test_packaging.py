"""The wheel carries all SQL, and released revisions are history."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ragpg import sqlfiles

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A wheel built from this checkout, unpacked in an empty folder."""
    builder = pytest.importorskip("hatchling.builders.wheel")
    source = tmp_path / "source"
    source.mkdir()
    for name in ("ragpg", "sql", "migrations"):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, source / name, ignore=ignore)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, source / name)
        else:
            (source / name).touch()
    [built] = builder.WheelBuilder(str(source)).build(
        directory=str(tmp_path / "dist"), versions=["standard"]
    )
    unpacked = tmp_path / "unpacked"
    with zipfile.ZipFile(built) as archive:
        archive.extractall(unpacked)
    shutil.rmtree(source)
    return unpacked


def test_the_wheel_migrates_from_an_empty_folder(
    wheel: Path, database: str, catalog: Callable[..., Any], new_database: Callable[[], str]
) -> None:
    code = f"""
import sys
sys.path.insert(0, {str(wheel)!r})
from ragpg import migrate, sqlfiles
assert str(sqlfiles.sql_folder()).startswith({str(wheel)!r}), sqlfiles.sql_folder()
migrate.upgrade(sys.argv[1])
assert migrate.status(sys.argv[1]).is_current
"""
    folder = wheel.parent / "empty"
    folder.mkdir()
    subprocess.run([sys.executable, "-I", "-c", code, database], check=True, cwd=folder)
    from ragpg import migrate

    checkout = new_database()
    migrate.upgrade(checkout)
    assert catalog(database) == catalog(checkout)
    assert migrate.status(database).is_current


def test_released_revisions_are_history() -> None:
    folder = sqlfiles.migrations_folder()
    assert altered(folder) == []


def test_an_edit_of_a_released_revision_is_found(tmp_path: Path) -> None:
    (tmp_path / "versions").mkdir()
    revision = tmp_path / "versions" / "0001_first.py"
    revision.write_text("revision = '0001'\n")
    digest = hashlib.sha256(revision.read_bytes()).hexdigest()
    (tmp_path / "released.sha256").write_text(f"# a comment\n{digest}  versions/0001_first.py\n")
    assert altered(tmp_path) == []
    revision.write_text("revision = '0001'  # edited\n")
    assert altered(tmp_path) == ["versions/0001_first.py"]
    revision.unlink()
    assert altered(tmp_path) == ["versions/0001_first.py"]


def altered(folder: Path) -> list[str]:
    """The released revisions whose text is no longer what was released, or is gone."""
    found = []
    for line in (folder / "released.sha256").read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        digest, name = line.split()
        path = folder / name
        if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            found.append(name)
    return found
