"""What a flow asks the world for, and the two drivers that answer.

A flow is a generator that yields steps and is sent their results; an exception of a step is thrown
into the flow, so that its traceback shows the flow's own line. `run` and `arun` drive the same text
in both colours; `perform` does one step (ragpg.perform). A test drives a flow with next and send.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from ragpg.arguments import text

if TYPE_CHECKING:
    from ragpg.observe.stage import Spent
    from ragpg.protocols import (
        AsyncEmbedder,
        AsyncGenerator,
        AsyncReranker,
        AsyncRetriever,
        Embedder,
        Reranker,
        Retriever,
    )
    from ragpg.protocols import Generator as ChatModel
    from ragpg.types import Hit, Json, Usage

T = TypeVar("T")
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Query(Generic[Row]):
    """One SQL statement with %(name)s parameters, and what makes a value of a row's columns.

    `reads` marks a statement that changes nothing: it is repeated when its connection was dead.
    """

    sql: str
    row: Callable[..., Row]
    reads: bool = False


def one_column(value: Any) -> Any:
    """The row of a query with one column: its value."""
    return value


def all_columns(*values: Any) -> tuple[Any, ...]:
    """The row of a query with columns of no type of their own."""
    return values


@dataclass(frozen=True, slots=True)
class Fetch(Generic[Row]):
    """Run a query in a transaction of its own; answered with a list of its rows.

    `timeout` is the longest the statement may run, in seconds: a lower limit of the role stays.
    0 lifts the role's limit, for maintenance.
    """

    query: Query[Row]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Copy:
    """Rows for a table by binary COPY; `types` are the names of the columns' types."""

    table: str
    columns: Sequence[str]
    types: Sequence[str]
    rows: Iterable[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Transact:
    """Do these in one transaction; answered with the rows of the last Fetch."""

    operations: Sequence[Fetch[Any] | Copy]


@dataclass(frozen=True, slots=True)
class Embed:
    """Vectors of texts, in order; TimeoutError after `timeout` seconds."""

    embedder: Embedder | AsyncEmbedder
    texts: Sequence[str]
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class EmbedQuery:
    """The vector of a query."""

    embedder: Embedder | AsyncEmbedder
    text: str


@dataclass(frozen=True, slots=True)
class Retrieve:
    """Hits of a source outside of our SQL; TimeoutError after `timeout` seconds."""

    retriever: Retriever | AsyncRetriever
    query: str
    k: int
    filter: Mapping[str, Json] | None
    timeout: float


@dataclass(frozen=True, slots=True)
class Rerank:
    """Hits in the order of a reranker; TimeoutError after `timeout` seconds, where one is given."""

    reranker: Reranker | AsyncReranker
    query: str
    hits: Sequence[Hit]
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Complete:
    """Text and usage of a chat model; TimeoutError after `timeout` seconds."""

    generator: ChatModel | AsyncGenerator
    messages: Sequence[Mapping[str, str]]
    options: Mapping[str, Any] = field(default_factory=dict)
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """Run something that reads files or computes for long: in async, off the event loop.
    TimeoutError after `timeout` seconds."""

    function: Callable[..., Any]
    arguments: Sequence[Any] = ()
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Apart:
    """Run something that opens a connection of its own: it is given address and schema.

    Answered with what it returns; with None where the client is on a caller's connection, whose
    transaction another connection does not see.
    """

    function: Callable[[str, str], Any]


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait for so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Book:
    """Note what models cost, for the client's ledger; see ragpg.observe."""

    spent: Sequence[Spent]


@dataclass(frozen=True, slots=True)
class Together:
    """Run flows side by side; answered with an Outcome each, in order, never an exception."""

    flows: Sequence[Flow[Any]]


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """How one of several flows ended; `take` returns the value or raises the error."""

    value: T | None = None
    error: BaseException | None = None

    def take(self) -> T:
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


Step: TypeAlias = (
    Fetch[Any]
    | Transact
    | Embed
    | EmbedQuery
    | Retrieve
    | Rerank
    | Complete
    | Call
    | Apart
    | Sleep
    | Book
    | Together
)
Flow: TypeAlias = Generator[Step, Any, T]
Perform: TypeAlias = Callable[[Step], Any]
AsyncPerform: TypeAlias = Callable[[Step], Awaitable[Any]]


def fetch(
    query: Query[Row], parameters: Mapping[str, Any] | None = None, *, timeout: float | None = None
) -> Flow[list[Row]]:
    """The rows of a query. Raises ConfigError where its namespace is no name: the database would
    say that it has no function for such a thing."""
    namespace = (parameters or {}).get("namespace")
    if namespace is not None:
        text("namespace", namespace)
    rows: list[Row] = yield Fetch(query, parameters or {}, timeout)
    return rows


def fetch_one(query: Query[Row], parameters: Mapping[str, Any] | None = None) -> Flow[Row]:
    """The only row of a query that always has one."""
    [row] = yield from fetch(query, parameters)
    return row


def call(function: Callable[..., T], *arguments: Any) -> Flow[T]:
    """What a function returns, computed off the event loop."""
    result: T = yield Call(function, arguments)
    return result


def apart(function: Callable[[str, str], T]) -> Flow[T | None]:
    """What a function of address and schema returns; None on a caller's connection."""
    result: T | None = yield Apart(function)
    return result


def embed(
    embedder: Embedder | AsyncEmbedder, texts: Sequence[str], timeout: float | None = None
) -> Flow[list[list[float]]]:
    """The vectors of texts; TimeoutError after `timeout` seconds."""
    vectors: list[list[float]] = yield Embed(embedder, texts, timeout)
    return vectors


def embed_query(embedder: Embedder | AsyncEmbedder, text: str) -> Flow[list[float]]:
    """The vector of a query."""
    vector: list[float] = yield EmbedQuery(embedder, text)
    return vector


def complete(
    generator: ChatModel | AsyncGenerator, messages: Sequence[Mapping[str, str]]
) -> Flow[tuple[str, Usage]]:
    """The completion of a conversation."""
    result: tuple[str, Usage] = yield Complete(generator, messages)
    return result


def together(*flows: Flow[Any]) -> Flow[list[Outcome[Any]]]:
    """How several flows ended that ran side by side."""
    outcomes: list[Outcome[Any]] = yield Together(flows)
    return outcomes


def within(flow: Flow[T], seconds: float | None) -> Flow[T]:
    """A flow whose models have so many seconds for all of it; then TimeoutError is thrown into it.
    None: as long as they take."""
    if seconds is None:
        return (yield from flow)
    ends = time.monotonic() + seconds
    outcome: Outcome[Any] = Outcome()
    while not isinstance(step := _next(flow, outcome), _End):
        left = ends - time.monotonic()
        if left <= 0:
            outcome = Outcome(error=TimeoutError(f"no answer within {seconds:g} s"))
            continue
        if isinstance(step, Embed | Complete | Call):
            step = replace(step, timeout=left if step.timeout is None else min(step.timeout, left))
        try:
            outcome = Outcome((yield step))
        except TimeoutError as raised:
            late = TimeoutError(f"no answer within {seconds:g} s")
            late.__cause__ = raised
            outcome = Outcome(error=late)
        except Exception as raised:
            outcome = Outcome(error=raised)
    return step.value


def run(flow: Flow[T], perform: Perform, stopped: threading.Event | None = None) -> T:
    """Drive a flow to its end. Together runs its first flow here and the others in threads."""
    outcome: Outcome[Any] = Outcome()
    while not isinstance(step := _next(flow, outcome), _End):
        try:
            if stopped is not None and stopped.is_set():
                raise _Stopped
            if isinstance(step, Together):
                outcome = Outcome(_side_by_side(step.flows, perform, stopped))
            else:
                outcome = Outcome(perform(step))
        # An interrupt reaches the flow too, which gives back what it holds and lets it pass.
        except BaseException as raised:
            outcome, stopped = Outcome(error=raised), None
    return step.value


async def arun(flow: Flow[T], perform: AsyncPerform) -> T:
    """Drive a flow to its end. Together gathers."""
    outcome: Outcome[Any] = Outcome()
    while not isinstance(step := _next(flow, outcome), _End):
        try:
            if isinstance(step, Together):
                found = await asyncio.gather(*(_outcome(one, perform) for one in step.flows))
                outcome = Outcome(found)
            else:
                outcome = Outcome(await perform(step))
        except BaseException as raised:
            outcome = Outcome(error=raised)
    return step.value


@dataclass(frozen=True, slots=True)
class _End(Generic[T]):
    """What a flow returned."""

    value: T


def _next(flow: Flow[T], last: Outcome[Any]) -> Step | _End[T]:
    """The next step of a flow that is told how the last one ended."""
    try:
        return flow.send(last.value) if last.error is None else flow.throw(last.error)
    except StopIteration as end:
        return _End(end.value)


class _Stopped(BaseException):
    """Ends the flows of threads whose main flow was interrupted."""


#: How long an interrupted run waits for the transaction that another thread is in, in seconds.
_GRACE = 5.0


def _side_by_side(
    flows: Sequence[Flow[Any]], perform: Perform, stopped: threading.Event | None
) -> list[Outcome[Any]]:
    stop = stopped or threading.Event()
    outcomes: list[Outcome[Any]] = [Outcome()] * len(flows)

    def work(place: int) -> None:
        try:
            outcomes[place] = Outcome(run(flows[place], perform, stop))
        except Exception as error:
            outcomes[place] = Outcome(error=error)
        except _Stopped:
            pass

    # Daemons: a service that never answers must not keep the program from ending.
    threads = [
        threading.Thread(target=contextvars.copy_context().run, args=(work, at), daemon=True)
        for at in range(1, len(flows))
    ]
    try:
        for thread in threads:
            thread.start()
        work(0)
        for thread in threads:
            thread.join()
    except BaseException:
        stop.set()
        # Statements of the other threads would go on in the server after the program has ended.
        interrupt = getattr(perform, "interrupt", None)
        if interrupt is not None:
            interrupt()
        for thread in threads:
            # The interrupt may have come before this one was started.
            if thread.ident is not None:
                thread.join(_GRACE)
        raise
    return outcomes


async def _outcome(flow: Flow[T], perform: AsyncPerform) -> Outcome[T]:
    try:
        return Outcome(await arun(flow, perform))
    except Exception as error:
        return Outcome(error=error)
