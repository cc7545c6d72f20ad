"""What is kept up beside other work, when that is quiet: graphs of which enough has changed are
analysed, and now and then vectors of texts that are gone are forgotten.

with Analyst(client, quiet=lambda: time.monotonic() - last, note=print, stop=stop):
    ...
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from ragpg.graph.analysis import refresh, stale
from ragpg.ingest.forgetting import Sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from ragpg.client import Client

#: How often a quiet time is looked for, and how often others' changes are, in seconds.
_TICK, _AGAIN = 0.5, 300.0


class Analyst:
    """Analyses stale graphs and prunes the cache of vectors in a thread, while the caller is quiet.

    client      with a pool, an engine or an address; on a caller's connection nothing is done
    quiet       for how many seconds nothing has been done
    note        is told what was analysed, and what could not be done
    stop        ends it; an analysis or a batch that runs is not waited for: the database ends it
                when the process has gone, and the next one does it
    namespaces  whose graphs; None: all that the client may use

    A failure is told and tried again after the next work, or in five minutes; that of pruning when
    it is due again.
    """

    def __init__(
        self,
        client: Client,
        *,
        quiet: Callable[[], float],
        note: Callable[[str], object],
        stop: threading.Event,
        namespaces: Sequence[str] | None = None,
    ) -> None:
        self._client = client
        self._quiet = quiet
        self._note = note
        self._stop = stop
        self._namespaces = namespaces
        self._knobs = client.config.graph
        self._sweep = Sweep()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="ragpg-graph")

    def __enter__(self) -> Analyst:
        if not self._client._database.source.joins:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()

    def finish(self) -> None:
        """Analyse what is stale now, and wait for it or for `stop`: the other work is done."""
        self._over.set()
        self._wait(self._thread)
        if self._stop.is_set():
            return
        self._over.clear()
        last = threading.Thread(target=self.look, daemon=True, name="ragpg-graph")
        last.start()
        self._wait(last)

    def _wait(self, thread: threading.Thread) -> None:
        while thread.is_alive() and not self._stop.is_set():
            thread.join(_TICK)

    def _run(self) -> None:
        looked = -_AGAIN
        while not self._over.wait(_TICK) and not self._stop.is_set():
            quiet, now = self._quiet(), time.monotonic()
            worked = now - quiet
            if quiet < self._knobs.quiet:
                continue
            if worked > looked or now - looked >= _AGAIN:
                looked = now
                self.look(self._is_idle)
            if self._sweep.is_due and self._is_idle():
                self._prune()

    def _is_idle(self) -> bool:
        over = self._over.is_set() or self._stop.is_set()
        return not over and self._quiet() >= self._knobs.quiet

    def _prune(self) -> None:
        days = self._client.settings.vector_retention
        try:
            self._client.run(self._sweep.prune(days, self._is_idle))
        except Exception as error:
            self._tell(f"vectors of texts that are gone stay for now: {_line(error)}")

    def look(self, go_on: Callable[[], bool] = lambda: True) -> None:
        """Analyse what is stale now, one namespace after the other as long as `go_on` says so."""
        if not self._knobs.analyse:
            return
        try:
            found = self._client.run(stale(self._namespaces, self._knobs.share))
        except Exception as error:
            self._tell(f"whether graphs are stale could not be seen: {_line(error)}")
            return
        for graph in found:
            if self._stop.is_set() or not go_on():
                return
            began = time.monotonic()
            try:
                details = self._client.run(refresh(graph.namespace))
            except Exception as error:
                # Also what is not of ours: one namespace hinders no other, nor the next time.
                self._tell(
                    f"the graph of {graph.namespace} could not be analysed, searches use the"
                    f" analysis before: {_line(error)}"
                )
                continue
            if details is not None:
                seconds = time.monotonic() - began
                self._tell(f"analysed the graph of {graph.namespace} in {seconds:.1f} s")

    def _tell(self, text: str) -> None:
        # Not when all is over: what it says then may go nowhere.
        if not self._over.is_set() and not self._stop.is_set():
            self._note(text)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
