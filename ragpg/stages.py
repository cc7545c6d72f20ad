"""What a report says of a stage: how long it took, and why it failed."""

from __future__ import annotations

import time


def since(began: float) -> float:
    """Milliseconds since a value of time.perf_counter()."""
    return (time.perf_counter() - began) * 1000


def reason(error: Exception) -> str:
    """Class and message of an error, without its hint."""
    text = str(getattr(error, "message", "") or error)
    if isinstance(error, TimeoutError) and not text:
        return "no answer in time"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
