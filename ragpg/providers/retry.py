"""Requests to a service that is busy, slow or away: one flow, driven sync or async.

A flow yields Call and Wait and is resumed with the decoded answer or a Fault.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass
from email.utils import mktime_tz, parsedate_tz
from typing import Any, TypeVar

from ragpg.errors import BadEmbedding, ProviderError, RateLimited

T = TypeVar("T")

#: How a flow waits: names of this module, so that a test can replace them here alone.
_sleep = time.sleep
_asleep = asyncio.sleep


@dataclass(frozen=True, slots=True)
class Call:
    """One request with these arguments."""

    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Wait:
    """A pause before the next request."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Fault:
    """A failed request. `again` says that the same request may pass later; `after` is the least
    number of seconds to wait that the service asked for."""

    error: ProviderError
    again: bool = False
    after: float | None = None


#: What a request flow is: it yields steps and returns a T.
Requests = Generator[Call | Wait, Any, T]


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long to try. `retries` counts faults of one request other than a rate
    limit; `seconds` bounds all pauses of one request together, rate limits included."""

    retries: int = 3
    seconds: float = 60.0


def request(
    arguments: Mapping[str, Any], patience: Patience, read: Callable[[Any], T]
) -> Requests[T]:
    """Sends until `read` accepts the answer.

    A BadEmbedding raised by `read` counts as a fault of the service, and is retried, unless it is
    about one input. Raises ProviderError: the last fault, or RateLimited when the service asks
    for more time than `patience` has.
    """
    waited, faults, busy = 0.0, 0, 0
    while True:
        answer = yield Call(arguments)
        if not isinstance(answer, Fault):
            try:
                return read(answer)
            except BadEmbedding as error:
                answer = Fault(error, again=error.scope != "input")
        limited = isinstance(answer.error, RateLimited)
        busy += limited
        faults += not limited
        if not answer.again or patience.retries == 0 or faults > patience.retries:
            raise answer.error
        # Doubling pauses with a quarter of chance on top, so that many clients do not come back
        # in step; never less than the service asked for.
        pause = min(0.5 * 2 ** (faults + busy - 1), 20.0)
        pause = max(pause, answer.after or 0.0) + random.uniform(0, pause / 4)
        if waited + pause > patience.seconds:
            if not limited:
                raise answer.error
            asked = f"asks to wait {answer.after:.0f} s" if answer.after else "is still refusing"
            limit = RateLimited(
                f"{answer.error.message}: it {asked} after {waited:.0f} s of waiting, "
                f"and the limit is {patience.seconds:g} s",
                hint="Raise max_wait_s, or run again later: what was embedded is kept.",
            )
            limit.after = answer.after
            raise limit
        yield Wait(pause)
        waited += pause


def asked_pause(headers: Mapping[str, str]) -> float | None:
    """Seconds that Retry-After (RFC 9110, 10.2.3: seconds or a date) asks for, or None."""
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        date = parsedate_tz(value)
        return max(0.0, mktime_tz(date) - time.time()) if date else None


def run(flow: Requests[T], call: Callable[[Mapping[str, Any]], Any]) -> T:
    """Drives a flow; `call` performs one request and returns its answer or a Fault."""
    try:
        step = next(flow)
        while True:
            if isinstance(step, Wait):
                _sleep(step.seconds)
                step = flow.send(None)
            else:
                step = flow.send(call(step.arguments))
    except StopIteration as stop:
        result: T = stop.value
        return result


async def arun(flow: Requests[T], call: Callable[[Mapping[str, Any]], Awaitable[Any]]) -> T:
    """Drives a flow without blocking the event loop."""
    try:
        step = next(flow)
        while True:
            if isinstance(step, Wait):
                await _asleep(step.seconds)
                step = flow.send(None)
            else:
                step = flow.send(await call(step.arguments))
    except StopIteration as stop:
        result: T = stop.value
        return result
