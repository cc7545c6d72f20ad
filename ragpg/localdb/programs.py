"""The programs of one PostgreSQL version, wherever they came from."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragpg.localdb.account import make_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Programs:
    """A bin folder and the folder of its extensions' control files."""

    bin: Path
    extension: Path
    major: str

    def path(self, name: str) -> Path:
        return self.bin / name

    def extensions(self) -> set[str]:
        return {path.stem for path in self.extension.glob("*.control")}

    def libraries(self) -> set[str]:
        """Names of everything that can be preloaded."""
        folders = [self.bin.parent / "lib", self.bin.parent / "lib/postgresql"]
        return {path.stem for folder in folders for path in folder.glob("*.*") if path.is_file()}


@contextlib.contextmanager
def alone(folder: Path, name: str = "lock") -> Iterator[None]:
    """One caller at a time in a folder: the second waits, then finds the work done."""
    # Absent on Windows, where `ragpg` must still import.
    import fcntl

    make_folder(folder)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n")
    with open(folder / name, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
