"""Which stored files are gone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ragpg.errors import (
    ConfigError,
)
from ragpg.ingest.prepare import (
    real_paths,
)
from ragpg.queries_store import FILES
from ragpg.steps import Flow, call, fetch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.ingest.discover import Discovery


def vanished(
    namespace_id: int,
    paths: Sequence[str | os.PathLike[str]],
    found: Discovery,
    *,
    trusted: bool = False,
) -> Flow[dict[str, bytes]]:
    """Sources of stored files below the given paths that are not there any more, with the hashes
    of their bytes.

    Files elsewhere, texts, and files that exist but were not looked for, are not gone. Raises
    ConfigError where a folder is suddenly empty: it may be a disk that is not mounted. Not so when
    the paths are `trusted`: then something saw that they are gone.
    """
    if not paths:
        return {}
    rows = yield from fetch(FILES, {"namespace_id": namespace_id})
    places = yield from call(real_paths, paths)
    hashes = {source: content_hash for source, _, content_hash in rows}
    below = {
        source: path for source, path, _ in rows if any(_is_below(path, place) for place in places)
    }
    there = yield from call(real_paths, [file.path for file in found.files])
    for path, place in zip(paths, places, strict=True):
        stored = sum(_is_below(one, place) for one in below.values())
        if not trusted and stored > 1 and not any(_is_below(one, place) for one in there):
            raise ConfigError(
                f"refusing to prune: {os.fspath(path)} holds no file, and {stored} stored "
                "documents came from there",
                hint="If they are gone on purpose, delete them by name or drop the namespace.",
            )
    gone = found.vanished(below)
    present = yield from call(existing, [below[source] for source in gone], there)
    return {source: hashes[source] for source in gone if below[source] not in present}


def left_behind(
    namespace_id: int, paths: Sequence[str | os.PathLike[str]], found: Discovery
) -> Flow[list[str]]:
    """A note on stored files that are not pruned, because they were read from another folder, and
    are not there any more: a folder that moved looks like this, and so does a fresh checkout."""
    rows = yield from fetch(FILES, {"namespace_id": namespace_id})
    places = yield from call(real_paths, paths)
    here = {file.source for file in found.files}
    elsewhere = {
        source: path
        for source, path, _ in rows
        if source not in here and not any(_is_below(path, place) for place in places)
    }
    present = yield from call(existing, list(elsewhere.values()))
    lost = [source for source, path in elsewhere.items() if path not in present]
    if not lost:
        return []
    return [
        f"not pruned, because they were read from other folders: {len(lost)} documents whose files "
        f"are gone, such as {lost[0]} from {elsewhere[lost[0]]}; delete them by name"
    ]


def _is_below(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip("/") + "/")


def existing(paths: Sequence[str], found: Sequence[str] = ()) -> set[str]:
    """Those of the paths that are files under just this name, or links to what is missing.

    Where names do not tell capitals from small letters, a path whose case was changed seems to be
    there still: it is the same file as one of `found` that is spelt almost like it.
    """
    spelt: dict[str, list[str]] = {}
    for path in found:
        spelt.setdefault(path.casefold(), []).append(path)
    return {
        path
        for path in paths
        if (os.path.isfile(path) or (os.path.islink(path) and not os.path.exists(path)))
        and not any(
            other != path and _is_same(path, other) for other in spelt.get(path.casefold(), ())
        )
    }


def _is_same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False
