"""Walks folders: sorted, every folder once, never out by a link unless told to."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from ragpg.ingest.clean import clean_name
from ragpg.ingest.patterns import matches
from ragpg.types import FileReport, IngestStatus

#: Folders that hold no documents of the user's, with or without `hidden`.
_IGNORED = frozenset(
    [
        ".git",
        ".hg",
        ".svn",
        ".venv",
        ".tox",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        "node_modules",
        "__pycache__",
    ]
)


@dataclass(frozen=True, slots=True)
class Found:
    """A regular file: where it is, what it is called, where its links end."""

    source: str
    path: str
    real: str
    size: int
    modified_ns: int
    is_link: bool


class Walk:
    """Collects files and reports over any number of folders and files."""

    def __init__(self, *, follow_links: bool, hidden: bool) -> None:
        self.found: list[Found] = []
        self.reports: list[FileReport] = []
        self._follow_links = follow_links
        self._hidden = hidden

    def report(self, source: str, status: IngestStatus, reason: str) -> None:
        """Something that is not read, and why."""
        self.reports.append(FileReport(source=source, status=status, reason=reason))

    def file(self, path: str, source: str, *, is_link: bool = False) -> None:
        """A file by its path; what is missing or no regular file is reported."""
        try:
            status = os.stat(path)
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            if os.path.islink(path):
                reason = f"link to a missing or unreachable target ({reason})"
            self.report(clean_name(source), "failed", reason)
            return
        if not stat.S_ISREG(status.st_mode):
            self.report(clean_name(source), "skipped", "not a regular file")
            return
        real = os.path.realpath(path)
        self.found.append(
            Found(source, path, real, status.st_size, status.st_mtime_ns, is_link=is_link)
        )

    def below(self, path: str, name: str) -> None:
        """What `folder(path, "")` finds under one name: a file, all of a folder, or nothing where
        it is not there or would not be entered."""
        folder, reached = path, ""
        for part in name.split("/") if name else ():
            entry = next(
                (one for one in self._entries(folder, "", reached) if one.name == part), None
            )
            if entry is None:
                return
            reached += part
            if not os.path.isdir(entry.path):
                if reached == name:
                    self._entry(entry, os.path.realpath(path), name)
                return
            if not self._may_enter(entry, os.path.realpath(path), reached):
                return
            folder, reached = entry.path, f"{reached}/"
        self.folder(path, "", start=reached)

    def folder(self, path: str, label: str, pattern: str | None = None, *, start: str = "") -> None:
        """All files below a folder, in order; `pattern` restricts them by their path from it.

        The given folder may itself be a link or hidden: it was named. The walk begins at `start`,
        the path of a folder below it that ends in a slash.
        """
        root = os.path.realpath(path)
        visited: set[str] = set()
        stack = [(os.path.join(path, start) if start else path, start)]
        while stack:
            folder, relative = stack.pop()
            real = os.path.realpath(folder)
            if real in visited:
                continue
            visited.add(real)
            folders = []
            for entry in self._entries(folder, label, relative):
                name = f"{relative}{entry.name}"
                # Unlike the entry's own method, this takes a link that leads to itself.
                if os.path.isdir(entry.path):
                    if self._may_enter(entry, root, _join(label, name)):
                        folders.append((entry.path, f"{name}/"))
                elif pattern is None or matches(name, [f"./{pattern}"]):
                    self._entry(entry, root, _join(label, name))
            stack.extend(reversed(folders))

    def _entries(self, folder: str, label: str, relative: str) -> list[os.DirEntry[str]]:
        """The entries of a folder that count, sorted; none where it cannot be listed."""
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            self.report(clean_name(_join(label, relative)) or "/", "failed", reason)
            return []
        if relative and any(entry.name == "pyvenv.cfg" for entry in found):
            return []
        return [
            entry
            for entry in found
            if entry.name not in _IGNORED and (self._hidden or not entry.name.startswith("."))
        ]

    def _entry(self, entry: os.DirEntry[str], root: str, source: str) -> None:
        is_link = entry.is_symlink()
        if is_link and not self._follow_links and os.path.exists(entry.path):
            real = os.path.realpath(entry.path)
            if not _is_inside(real, root):
                self.report(clean_name(source), "skipped", "link out of the folder")
                return
        self.file(entry.path, source, is_link=is_link)

    def _may_enter(self, entry: os.DirEntry[str], root: str, source: str) -> bool:
        if not entry.is_symlink():
            return True
        if _is_inside(os.path.realpath(entry.path), root):
            self.report(clean_name(source) + "/", "skipped", "link to a folder inside the folder")
            return False
        if not self._follow_links:
            self.report(clean_name(source) + "/", "skipped", "link out of the folder")
            return False
        return True


def _is_inside(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _join(label: str, name: str) -> str:
    return f"{label}/{name}" if label else name
