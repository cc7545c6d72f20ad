"""The end of the program waits for native calls of other threads, with a limit."""

from __future__ import annotations

import threading

import pytest

from ragpg.errors import ProviderError
from ragpg.native_calls import NativeCalls


def test_the_end_waits_for_what_runs_and_lets_nothing_begin() -> None:
    calls = NativeCalls()
    entered, leave = threading.Event(), threading.Event()

    def work() -> None:
        with calls.one():
            entered.set()
            assert leave.wait(20)

    thread = threading.Thread(target=work)
    thread.start()
    assert entered.wait(20)
    assert not calls.end(0.01)
    with pytest.raises(ProviderError, match="the program is ending"), calls.one():
        raise AssertionError("it began")
    leave.set()
    assert calls.end(20)
    thread.join(20)


def test_a_call_that_fails_has_ended() -> None:
    calls = NativeCalls()
    with pytest.raises(ValueError, match="broken"), calls.one():
        raise ValueError("broken")
    assert calls.end(0)
