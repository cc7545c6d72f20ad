"""The heartbeat of a worker: a thread that renews the lease of its jobs while they are done."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ragpg.errors import RagpgError
from ragpg.jobs.queries import EXTEND
from ragpg.steps import fetch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.client import Client
    from ragpg.jobs.watched import EmbedderWatch


class Pulse(threading.Thread):
    """The heartbeat of a batch. `lost` says that another worker has one of its jobs."""

    def __init__(
        self,
        client: Client,
        worker: str,
        ids: Sequence[int],
        lease: float,
        watched: EmbedderWatch | None,
    ) -> None:
        super().__init__(daemon=True, name="ragpg-heartbeat")
        self.client = client
        self.worker = worker
        self.ids = ids
        self.lease = lease
        self.watched = watched
        self.lost = False
        self.over = threading.Event()

    def run(self) -> None:
        """Renew the lease three times in its length."""
        while not self.over.wait(self.lease / 3):
            # Of several jobs nobody knows which one the texts were of.
            known = self.watched is not None and len(self.ids) == 1
            embedded = self.watched.embedded if self.watched is not None and known else None
            try:
                mine = self.client.run(
                    fetch(
                        EXTEND,
                        {
                            "worker": self.worker,
                            "ids": self.ids,
                            "lease": self.lease,
                            "embedded": embedded,
                        },
                    )
                )
            except RagpgError:
                # The next beat may come through; if not, the lease runs out.
                continue
            self.lost = self.lost or len(mine) < len(self.ids)

    def end(self) -> None:
        """No further beat."""
        self.over.set()
        self.join()
