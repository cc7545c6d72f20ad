"""Hears of new jobs by LISTEN, where the connection allows it.

Behind a transaction pooler LISTEN is accepted and nothing is ever heard. So a word is sent over
another connection first: who does not hear it goes on asking from time to time, as all workers do.
"""

from __future__ import annotations

import threading
import time
import uuid
from typing import TYPE_CHECKING, Any

import psycopg

from ragpg.connection import address_of, connection_options
from ragpg.connection_address import read_dsn
from ragpg.errors import RagpgError
from ragpg.jobs.queries import NOTIFY
from ragpg.steps import Fetch

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragpg.client import Client

CHANNEL = "ragpg_jobs"
#: How long a word may be on its way, and how long after a failure the next try is, in seconds.
PATIENCE, PAUSE = 2.0, 5.0
#: How often a quiet connection is looked at for the end of the work, in seconds.
_TICK = 0.5


class Listener(threading.Thread):
    """Calls `wake` whenever jobs were put into the queue. `mode` is starting, listening or
    polling; the last where nothing can be heard on this kind of connection."""

    def __init__(self, client: Client, wake: Callable[[], object], stop: threading.Event) -> None:
        super().__init__(daemon=True, name="ragpg-listen")
        self.client = client
        self.wake = wake
        self.stop = stop
        self.mode = "starting"
        self.settled = threading.Event()

    def run(self) -> None:
        """Listen until the end; begin again after the connection was lost."""
        while not self.stop.is_set():
            try:
                with self._connect() as connection:
                    connection.execute(f"listen {CHANNEL}")
                    if not self._hears(connection):
                        self._settle("polling")
                        return
                    self._settle("listening")
                    # What came before we listened was not heard.
                    self.wake()
                    while not self.stop.is_set():
                        for _ in connection.notifies(timeout=_TICK, stop_after=1):
                            self.wake()
            except (psycopg.Error, RagpgError):
                self.stop.wait(PAUSE)

    def _settle(self, mode: str) -> None:
        self.mode = mode
        self.settled.set()

    def _connect(self) -> psycopg.Connection[Any]:
        with self.client._database.source.borrow() as other:
            address = address_of(other)
        options = connection_options(read_dsn(address), self.client.settings)
        return psycopg.connect(**options)

    def _hears(self, connection: psycopg.Connection[Any]) -> bool:
        word = uuid.uuid4().hex
        self.client._perform(Fetch(NOTIFY, {"word": word}))
        end = time.monotonic() + PATIENCE
        while (left := end - time.monotonic()) > 0 and not self.stop.is_set():
            for heard in connection.notifies(timeout=left, stop_after=1):
                if heard.payload == word:
                    return True
        return False
