"""Paths, folders and patterns -> the files to read, each with a stable source name."""

from __future__ import annotations

import os
import posixpath
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ragpg.errors import ConfigError, LoadError
from ragpg.ingest.clean import clean_name
from ragpg.ingest.patterns import fixed_part, is_pattern, matches
from ragpg.ingest.walk import Found, Walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ragpg.types import FileReport

#: Default size limit of a file, in bytes.
MAX_BYTES = 50_000_000
#: How often a file is read that changes while it is read.
_READINGS = 4


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file to read. `size` is in bytes, `modified_ns` in nanoseconds since 1970."""

    source: str
    path: Path
    size: int
    modified_ns: int


@dataclass(frozen=True, slots=True)
class Discovery:
    """What was found: files to read, and what is left out with the reason, in source order.

    A rejected folder has a source that ends in "/".
    """

    files: Sequence[Candidate]
    rejected: Sequence[FileReport]
    #: Whether a given path or the folder of a pattern was missing.
    incomplete: bool = False

    def vanished(self, known: Iterable[str]) -> list[str]:
        """Those of the known sources that are gone, sorted.

        A source that could not be read, or lies below a folder that could not, is not gone; and
        nothing is while a given path is missing: it may be a disk that is not mounted.
        """
        there = {file.source for file in self.files}
        failed = {report.source for report in self.rejected if report.status == "failed"}
        folders = tuple(source for source in failed if source.endswith("/"))
        if self.incomplete or "/" in folders:
            return []
        return sorted(
            source for source in set(known) - there - failed if not source.startswith(folders)
        )


def discover(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    follow_links: bool = False,
    hidden: bool = False,
    max_bytes: int = MAX_BYTES,
) -> Discovery:
    """The files behind paths, folders and patterns ("docs/**/*.md"), sorted by source.

    Sources use "/", are clean text and never hold "..". One folder: relative to it. Several paths:
    the folder's name as given stays in front, so that two README.md stay apart. A file or pattern:
    as given where relative, else the name from the fixed part on.
    `include` and `exclude` are patterns over sources; without a slash they match file names.
    Left out in silence: hidden names (unless `hidden`), folders of version control, caches and
    virtual environments. Reported as skipped: links out of the folder (unless `follow_links`),
    second names of a file that is read, special files. Reported as failed: what is missing,
    unreadable, or larger than `max_bytes`. Raises ConfigError when two folders get the same name.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    walk = Walk(follow_links=follow_links, hidden=hidden)
    labels: dict[str, str] = {}
    complete = True
    for path in given:
        complete &= _visit(os.fspath(path), walk, labels, alone=len(given) == 1)
    found = _collect(walk, include, exclude, max_bytes)
    return replace(found, incomplete=not complete)


def discover_below(
    root: str | os.PathLike[str],
    paths: Iterable[str | os.PathLike[str]],
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    follow_links: bool = False,
    max_bytes: int = MAX_BYTES,
) -> Discovery:
    """What `discover(root)` would find at and below some paths in it; only they are looked at.

    Paths that are not there, or that the walk would leave out, give nothing.
    """
    walk = Walk(follow_links=follow_links, hidden=False)
    base = os.path.abspath(root)
    names = {os.path.relpath(os.path.abspath(path), base).replace(os.sep, "/") for path in paths}
    for name in sorted(names):
        if name != ".." and not name.startswith("../"):
            walk.below(base, "" if name == "." else name)
    return _collect(walk, include, exclude, max_bytes)


def read_file(candidate: Candidate, *, max_bytes: int = MAX_BYTES) -> bytes:
    """The bytes of a file, read again where it was written to meanwhile; of one that is written to
    all the time (a log) what the last reading gave, until the next ingest.

    Raises LoadError naming the source where it cannot be read, is no regular file any more, or has
    grown over the limit since it was found.
    """
    try:
        # Without O_NONBLOCK a pipe put in the file's place would wait for a writer.
        descriptor = os.open(
            candidate.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise LoadError(f"{candidate.source}: not a regular file")
            for _ in range(_READINGS):
                before = os.fstat(descriptor)
                file.seek(0)
                data = file.read(max_bytes + 1)
                after = os.fstat(descriptor)
                if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size):
                    break
    except OSError as error:
        raise LoadError(f"{candidate.source}: {_reason(error)}") from error
    if len(data) > max_bytes:
        raise LoadError(f"{candidate.source}: {_too_large(len(data), max_bytes)}")
    return data


def _visit(path: str, walk: Walk, labels: dict[str, str], *, alone: bool) -> bool:
    """Walks one given path, under the label that its sources get in front; False if missing."""
    given = path.replace(os.sep, "/")
    if os.path.isdir(path):
        label = "" if alone else _label(given)
        _claim(label, path, labels)
        walk.folder(path, label)
        return True
    if os.path.lexists(path) or not is_pattern(given):
        walk.file(path, _label(given) or posixpath.basename(given))
        return os.path.lexists(path)
    folder = fixed_part(given)
    label = _label(folder) if folder and not folder.startswith("/") else ""
    count = len(walk.found)
    is_there = os.path.isdir(folder or ".")
    if is_there:
        walk.folder(folder or ".", label, pattern=given[len(folder) :].lstrip("/"))
    if len(walk.found) == count:
        walk.report(clean_name(given), "failed", "no file matches this pattern")
    return is_there


def _label(given: str) -> str:
    """The path as given, normalised; its last part where it is absolute or leads upwards."""
    normal = posixpath.normpath(given)
    if normal == ".":
        return ""
    if normal.startswith(("/", "..")) or (os.name == "nt" and ":" in normal):
        return posixpath.basename(os.path.realpath(given).replace(os.sep, "/"))
    return normal


def _claim(label: str, path: str, labels: dict[str, str]) -> None:
    real = os.path.realpath(path)
    other = labels.setdefault(label, real)
    if other != real:
        raise ConfigError(
            f"the folders {other} and {real} would both be called {label!r}",
            hint="Give the folder that holds both, or ingest them into two namespaces.",
        )


def _collect(
    walk: Walk, include: Sequence[str], exclude: Sequence[str], max_bytes: int
) -> Discovery:
    def is_wanted(source: str) -> bool:
        return (not include or matches(source, include)) and not matches(source, exclude)

    files: dict[str, Candidate] = {}
    for found in _first_names(walk):
        source = clean_name(found.source)
        if not is_wanted(source):
            continue
        if found.size > max_bytes:
            walk.report(source, "failed", _too_large(found.size, max_bytes))
        elif source in files:
            # Names that differ in form only, such as composed and decomposed letters.
            reason = f"{source!r} is also the name of {files[source].path}"
            walk.report(f"{source} ({clean_name(found.path)})", "failed", reason)
        else:
            files[source] = Candidate(source, Path(found.path), found.size, found.modified_ns)
    reports = {
        report.source: report
        for report in walk.reports
        if report.source.endswith("/") or is_wanted(report.source) or is_pattern(report.source)
    }
    return Discovery(
        files=tuple(files[source] for source in sorted(files)),
        rejected=tuple(reports[source] for source in sorted(reports)),
    )


def _first_names(walk: Walk) -> Iterator[Found]:
    """Every file once: under its own name, or else the first link to it."""
    names: dict[str, str] = {}
    for found in sorted(walk.found, key=lambda found: (found.is_link, found.source)):
        name = names.get(found.real)
        if name is None:
            names[found.real] = found.source
            yield found
        elif name != found.source:
            walk.report(clean_name(found.source), "skipped", f"the same file as {name}")


def _too_large(size: int, limit: int) -> str:
    return f"{size:,} bytes are over the limit of {limit:,}"


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
