"""Ctrl-C and SIGTERM for commands that run until they are told to stop."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stopped_by_signals(stop: threading.Event) -> Iterator[None]:
    """The first signal sets `stop`; the next one does not wait, as for a table that somebody has
    locked: it does what it did before."""
    former = {one: signal.getsignal(one) for one in _SIGNALS}

    def restore() -> None:
        for one, handler in former.items():
            signal.signal(one, handler)

    def stopped(number: int, frame: object) -> None:
        stop.set()
        restore()

    for one in _SIGNALS:
        signal.signal(one, stopped)
    try:
        yield
    finally:
        restore()
