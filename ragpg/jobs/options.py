"""How workers work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragpg.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.protocols import Chunker


@dataclass(frozen=True, slots=True)
class WorkOptions:
    """How workers work.

    folders   files are read below these only; texts are always taken
    threads   how many jobs run at a time in this process
    batch     how many small documents are taken together, at most
    lease     after so many seconds without a heartbeat another worker takes a job over
    poll      how often the queue is looked at, in seconds; LISTEN wakes at once where it works
    drain     end when nothing waits or runs that a worker with these folders may have
    keep      for so many seconds jobs that are done stay to be seen
    chunker   None: as configured, else by the format of the document
    """

    folders: Sequence[str] = ()
    threads: int = 1
    batch: int = 16
    lease: float = 60.0
    poll: float = 2.0
    drain: bool = False
    keep: float = 86_400.0
    chunker: Chunker | None = None

    def __post_init__(self) -> None:
        for name in ("threads", "batch", "lease", "poll"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} must be greater than 0: {getattr(self, name)}")
