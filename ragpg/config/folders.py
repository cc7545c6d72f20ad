"""The folders that `ragpg watch` mirrors, as a configuration names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from ragpg.errors import ConfigError

HOW = 'Write [[folder]] with path = "docs" and namespace = "handbook" for each folder.'


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder and the namespace that mirrors it. What editors leave while they save is always
    excluded.

    path          the folder; a relative one counts from the file
    namespace     what mirrors it, and nothing else
    include       patterns of the sources to read, as "*.md"; none: all that can be read
    exclude       patterns of the sources to leave out
    metadata      for every document of the folder
    language      text search configuration, where the namespace is new; none: as configured for it
    chunker       how its documents are cut; none: as configured for its namespace
    follow_links  whether symbolic links out of the folder are followed; none: as [ingest] says
    """

    path: Annotated[str, "path"]
    namespace: str = "default"
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    language: str | None = None
    chunker: str | None = None
    follow_links: bool | None = None


def tables_of(value: Any, place: str) -> list[Mapping[str, Any]]:
    """The tables [[folder]]. Raises ConfigError where it is something else."""
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        raise ConfigError(f"{place} must be a list of tables", hint=HOW)
    return value
