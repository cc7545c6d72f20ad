"""Files that a command writes because it was told to: all of a file, or a message and nothing."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator


def check_places(*paths: str | None) -> None:
    """Raises UsageError, before any work is done, where a file cannot be written: its folder is not
    there, or it is a folder itself. None and "-" name no file."""
    for path in paths:
        if path in (None, "-"):
            continue
        target = Path(path)
        if target.is_dir():
            raise click.UsageError(f"cannot write {path}: it is a folder")
        if not target.absolute().parent.is_dir():
            raise click.UsageError(f"cannot write {path}: there is no folder {target.parent}")


def write_file(path: str, text: str) -> None:
    """Write a text that was asked for, all of it or nothing: what stood there stays where it fails.

    Raises UsageError where the file cannot be written.
    """
    target = Path(path)
    data = text.encode("utf-8", errors="backslashreplace")
    with writing(path):
        if target.exists() and not target.is_file():
            # A pipe or a device: there is nothing to put in its place.
            target.write_bytes(data)
        else:
            _replace(target.resolve(), data)


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Raises UsageError where the file cannot be written meanwhile."""
    try:
        yield
    except OSError as error:
        raise click.UsageError(f"cannot write {path}: {error.strerror or error}") from error


def _replace(target: Path, data: bytes) -> None:
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    if mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    beside = target.with_name(f".{target.name[:80]}.{secrets.token_hex(4)}")
    try:
        file = beside.open("xb")
    except PermissionError:
        if mode is None:
            raise
        # The file may be written to, its folder not.
        target.write_bytes(data)
        return
    try:
        with file:
            file.write(data)
        if mode is not None:
            beside.chmod(mode)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
