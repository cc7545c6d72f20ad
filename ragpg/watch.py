"""Keeps namespaces equal to folders while their files change.

At the start every folder is brought up to date; then the changes that the system tells of are
settled, read and stored, and from time to time all of a folder is looked through again. What
fails is tried again, with pauses that grow: a database may be restarted, a disk unmounted.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragpg.errors import ConfigError, RagpgError
from ragpg.graph.background import Analyst
from ragpg.ingest.chunkers.named import chunker_named

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Sequence

    from ragpg.client import Client
    from ragpg.config.folders import Folder
    from ragpg.types import FileReport, IngestReport

#: Pauses after a failure, in seconds: the first, and the longest.
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
#: What editors and downloads write beside the file that they mean.
TEMPORARY = ("*.tmp", "*.part", "*.crdownload", "*.swp", "*.swx", "*~", "#*#", "4913")
#: With more changes than this at once all of a folder is looked through.
_MANY = 500
#: How often the system is asked for changes and the folders for being there, in seconds.
_TICK = 0.2
#: Changes that go on without a pause are stored after so many times the settling time.
_PATIENCE = 10


@dataclass(slots=True)
class _State:
    """What is to be done for a folder: everything, or some paths; and not before a time."""

    folder: Folder
    everything: bool = True
    paths: set[str] = field(default_factory=set)
    not_before: float = 0.0
    pause: float = 0.0
    rescan_at: float = 0.0
    identity: tuple[int, int] | None = None


def watch(
    client: Client,
    folders: Sequence[Folder],
    *,
    stop: threading.Event,
    debounce: float = 0.25,
    rescan: float = 900.0,
    on_file: Callable[[Folder, FileReport], object] | None = None,
    on_report: Callable[[Folder, IngestReport], object] | None = None,
    on_note: Callable[[str], object] | None = None,
) -> None:
    """Mirror folders until `stop` is set; a group of files that is being stored is finished first.

    debounce  a change is acted on once nothing has changed for so many seconds
    rescan    after so many seconds without one, a whole folder is looked through

    Raises ConfigError for a folder that is missing at the start, or that two entries mirror into
    one namespace; and every error of the first run that another try would meet again.
    """
    _check(folders)
    work = _Watch(client, folders, stop, debounce, rescan, on_file, on_report, on_note)
    with Analyst(
        client,
        quiet=work.quiet,
        note=work.note,
        stop=stop,
        namespaces=sorted({folder.namespace for folder in folders}),
    ):
        work.run()


def _check(folders: Sequence[Folder]) -> None:
    taken: dict[str, str] = {}
    for folder in folders:
        if not os.path.isdir(folder.path):
            raise ConfigError(f"there is no folder {folder.path} to watch")
        other = taken.setdefault(folder.namespace, folder.path)
        if other != folder.path:
            raise ConfigError(
                f"{other} and {folder.path} would both be mirrored into {folder.namespace!r}",
                hint="Give each a namespace of its own; a search may name several.",
            )


class _Stop(Exception):
    """Leaves an ingest between two groups of files."""


class _Watch:
    """One run of `watch`."""

    def __init__(
        self,
        client: Client,
        folders: Sequence[Folder],
        stop: threading.Event,
        debounce: float,
        rescan: float,
        on_file: Callable[[Folder, FileReport], object] | None,
        on_report: Callable[[Folder, IngestReport], object] | None,
        on_note: Callable[[str], object] | None,
    ) -> None:
        self.client = client
        self.states = [_State(folder) for folder in folders]
        self.stop = stop
        self.debounce = debounce
        self.rescan = rescan
        self.on_file, self.on_report = on_file, on_report
        self.note = on_note or (lambda text: None)
        self.started = False
        self.worked = time.monotonic()
        self.busy = False

    def quiet(self) -> float:
        """For how many seconds it has had nothing to do."""
        return 0.0 if self.busy else time.monotonic() - self.worked

    def run(self) -> None:
        """Watch; begin again whenever a folder was replaced by another of its name."""
        while not self.stop.is_set():
            there = [state for state in self.states if self._identify(state)]
            if not there:
                self.stop.wait(FIRST_PAUSE)
                continue
            for changes in self._changes([state.folder.path for state in there]):
                self._sort(changes)
                self._work()
                if self.stop.is_set() or self._moved():
                    break

    def _identify(self, state: _State) -> bool:
        """Remember which folder it is; False where there is none now."""
        before = state.identity
        state.identity = _identity(state.folder.path)
        if state.identity is None and before is not None:
            self.note(f"{state.folder.path} is not there; what is stored of it stays")
        elif state.identity != before:
            state.everything = True
        return state.identity is not None

    def _moved(self) -> bool:
        return any(_identity(state.folder.path) != state.identity for state in self.states)

    def _changes(self, paths: Sequence[str]) -> Iterator[set[str]]:
        """Paths that changed, settled; an empty set whenever nothing did for a while."""
        from watchfiles import watch as changes

        settle = max(1, int(self.debounce * 1000))
        for found in changes(
            *paths,
            watch_filter=None,
            step=settle,
            debounce=_PATIENCE * settle,
            rust_timeout=int(_TICK * 1000),
            yield_on_timeout=True,
            stop_event=self.stop,
            raise_interrupt=False,
        ):
            yield {path for _, path in found}

    def _sort(self, changes: set[str]) -> None:
        now = time.monotonic()
        for state in self.states:
            base = os.path.abspath(state.folder.path)
            below = {path for path in changes if path == base or path.startswith(base + os.sep)}
            state.paths |= below
            if len(state.paths) > _MANY or base in below or now >= state.rescan_at:
                state.everything = True

    def _work(self) -> None:
        for state in self.states:
            waits = time.monotonic() < state.not_before or state.identity is None
            if not self.stop.is_set() and not waits and (state.everything or state.paths):
                self.busy = True
                try:
                    self._sync(state)
                finally:
                    self.worked, self.busy = time.monotonic(), False
        self.started = True

    def _sync(self, state: _State) -> None:
        """Store what changed in a folder; on failure all of it is looked through later."""
        folder, everything, paths = state.folder, state.everything, sorted(state.paths)
        state.everything, state.paths = False, set()

        def told(file: FileReport) -> None:
            if self.on_file is not None:
                self.on_file(folder, file)
            if self.stop.is_set():
                raise _Stop

        exclude = (*TEMPORARY, *folder.exclude, *self.client.config.ingest.exclude)
        own = folder.chunker
        order = self.client._order(
            [folder.path] if everything else paths,
            (),
            folder.metadata,
            root=folder.path,
            namespace=folder.namespace,
            prune=True,
            chunker=None if own is None else chunker_named(own, self.client.embedder),  # type: ignore[arg-type]
            language=folder.language,
            follow_links=folder.follow_links,
            include=folder.include or None,
            exclude=exclude,
            trusted=not everything,
            on_file=told,
        )
        try:
            report = self.client.run(self.client._ingest(order))
        except _Stop:
            return
        except BrokenPipeError:
            # Whoever was told of the files has gone, and with them the reason to go on.
            raise
        except (RagpgError, OSError) as error:
            if not self.started and isinstance(error, ConfigError):
                raise
            self._later(state, " ".join(str(error).split()))
            return
        if everything:
            state.rescan_at = time.monotonic() + self.rescan
        if report.ok:
            state.pause = 0.0
        else:
            # The file may be half written, or the service down: neither tells when it is over.
            state.pause = min(max(2 * state.pause, FIRST_PAUSE), self.rescan)
            state.rescan_at = min(state.rescan_at, time.monotonic() + state.pause)
        if self.on_report is not None:
            self.on_report(folder, report)

    def _later(self, state: _State, reason: str) -> None:
        state.everything = True
        state.pause = min(max(2 * state.pause, FIRST_PAUSE), LONGEST_PAUSE)
        state.not_before = time.monotonic() + state.pause
        self.note(f"{state.folder.path}: {reason}; trying again in {state.pause:.0f} s")


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
