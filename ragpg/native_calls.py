"""Calls into native libraries, which must not be running when Python ends.

A thread that comes back from C++ or Rust into an interpreter that is being taken down is ended
where it stands; that unwinds their frames, which they do not allow, and the process aborts. So the
end of the program waits a while for calls of other threads, and lets no new one begin.
"""

from __future__ import annotations

import atexit
from contextlib import contextmanager
from threading import Condition
from typing import TYPE_CHECKING

from ragpg.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

#: How long the end of the program waits, in seconds: a batch of a local model takes less.
_PATIENCE = 10.0


class NativeCalls:
    """The calls that are running now."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._running = 0
        self._ending = False

    @contextmanager
    def one(self) -> Iterator[None]:
        """Counts as a running call. Raises ProviderError when the program is ending."""
        with self._changed:
            if self._ending:
                raise ProviderError("the program is ending", scope="service")
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def end(self, seconds: float = _PATIENCE) -> bool:
        """Let no further call begin and wait for those that run; whether all have ended."""
        with self._changed:
            self._ending = True
            return self._changed.wait_for(lambda: not self._running, seconds)


_calls = NativeCalls()
atexit.register(_calls.end)


def native_call() -> AbstractContextManager[None]:
    """The context of a call into a native library that lets other threads run meanwhile."""
    return _calls.one()
