"""The one place where a stage of a call is opened: it times it, adds up what its models cost, and
tells spans (ragpg.observe.spans) and the log (ragpg.observe.logs) how it ended.

A stage wraps a flow. Threads and tasks that a flow starts carry the context, so that what a model
costs in one of them counts for the stage that asked, and for all stages around it.
"""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

from ragpg.observe import logs, spans
from ragpg.prices import priced
from ragpg.steps import Book, Flow
from ragpg.types import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ragpg.settings import Settings

P = ParamSpec("P")
T = TypeVar("T")


class Spent(NamedTuple):
    """What one request to a model cost, for which namespaces, and for what: `category` is
    retrieval, generation, grounding, ingest, graph or reembed."""

    namespaces: tuple[str, ...]
    category: str
    model: str
    usage: Usage


@dataclass(slots=True)
class Stage:
    """A stage that is open. `facts` are numbers and names, never content; `content` is what may be
    told only where `tells` is true: the query, and the messages of errors."""

    name: str
    parent: Stage | None = None
    namespaces: tuple[str, ...] = ()
    category: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    content: Mapping[str, str] = field(default_factory=dict)
    tells: bool = False
    prices: str | None = None
    spent: list[Spent] = field(default_factory=list)
    error: BaseException | None = None
    began: float = 0.0
    ms: float = 0.0
    span: Any = None

    @property
    def root(self) -> Stage:
        """The call that the stage is part of."""
        return self if self.parent is None else self.parent.root

    @property
    def usage(self) -> Usage:
        """What all models within cost."""
        return sum((one.usage for one in self.spent), Usage())


#: Stages that have ended, for `watching`.
_ended: ContextVar[list[Stage] | None] = ContextVar("ragpg_ended", default=None)
_current: ContextVar[Stage | None] = ContextVar("ragpg_stage", default=None)
_settings: ContextVar[Settings | None] = ContextVar("ragpg_settings", default=None)


def stage(
    name: str,
    flow: Flow[T],
    *,
    facts: Mapping[str, Any] | None = None,
    read: Callable[[T], Mapping[str, Any]] | None = None,
    category: str | None = None,
    charged: Callable[[T, Usage], T] | None = None,
) -> Flow[T]:
    """Run a flow as a stage of the call around it.

    `facts` are told with it, and so is what `read` finds in its result. `category` is what its
    models are booked on; None: that of the call. `charged` puts what they cost into the result.
    """
    opened = _below(name, _current.get(), facts)
    if category is not None:
        opened.category = category
    with _Open(opened):
        result = yield from flow
        if read is not None:
            opened.facts.update(read(result))
    return charged(result, opened.usage) if charged is not None and opened.spent else result


def operation(
    name: str,
    flow: Flow[T],
    *,
    namespaces: Sequence[str],
    category: str,
    facts: Mapping[str, Any] | None = None,
    content: Mapping[str, str] | None = None,
    read: Callable[[T], Mapping[str, Any]] | None = None,
    charged: Callable[[T, Usage], T] | None = None,
) -> Flow[T]:
    """Run a flow as a call of its own, or as a part of the call around it.

    `charged` puts what its models cost into the result. The outermost call books it all at its
    end, also where it fails (steps.Book).
    """
    around = _current.get()
    opened = _opened(name, around, namespaces, category, facts, content)
    try:
        with _Open(opened):
            result = yield from flow
            if read is not None:
                opened.facts.update(read(result))
    except GeneratorExit:
        # Nobody drives this flow any more, so nothing can be asked for.
        raise
    except BaseException:
        if around is None and opened.spent:
            yield Book(opened.spent)
        raise
    if around is None and opened.spent:
        yield Book(opened.spent)
    return charged(result, opened.usage) if charged is not None and opened.spent else result


def observed(name: str, *, category: str) -> Callable[[Callable[P, Flow[T]]], Callable[P, Flow[T]]]:
    """Decorates a flow whose first argument is a namespace, and whose result has a `usage`: it runs
    as an operation."""

    def decorate(function: Callable[P, Flow[T]]) -> Callable[P, Flow[T]]:
        @wraps(function)
        def wrapped(*args: P.args, **options: P.kwargs) -> Flow[T]:
            return operation(
                name,
                function(*args, **options),
                namespaces=[str(args[0] if args else options["namespace"])],
                category=category,
                charged=_with_usage,
            )

        return wrapped

    return decorate


class Streamed:
    """A call that hands out its result in pieces: its flows run one after the other, and between
    them the caller's own code does. Close it, whatever happens."""

    def __init__(
        self, name: str, *, namespaces: Sequence[str], category: str, content: Mapping[str, str]
    ) -> None:
        self.opened = _opened(name, _current.get(), namespaces, category, None, content)
        _start(self.opened)

    def part(self, flow: Flow[T]) -> Flow[T]:
        """A flow as a part of the call."""
        with _Within(self.opened):
            return (yield from flow)

    @contextmanager
    def stage(self, name: str, **facts: Any) -> Iterator[Callable[[str, Usage], Usage]]:
        """A stage that lasts over several pieces; gives the function that counts a model's cost."""
        opened = _below(name, self.opened, facts)
        _start(opened)

        def count(model: str, usage: Usage) -> Usage:
            with _Within(opened):
                return note(model, usage)

        try:
            yield count
        except BaseException as error:
            opened.error = error
            raise
        finally:
            _end(opened)

    def close(self, error: BaseException | None = None) -> Sequence[Spent]:
        """End the call; what its models cost, to be booked."""
        self.opened.error = error
        _end(self.opened)
        return self.opened.spent if self.opened.parent is None else ()

    @property
    def usage(self) -> Usage:
        """What the models cost until now."""
        return self.opened.usage


@contextmanager
def watching() -> Iterator[list[Stage]]:
    """Gives the list that the stages within are added to when they end."""
    seen: list[Stage] = []
    token = _ended.set(seen)
    try:
        yield seen
    finally:
        # As in `_within`.
        with suppress(ValueError):
            _ended.reset(token)


@contextmanager
def settled(settings: Settings) -> Iterator[None]:
    """Let operations run with a client's settings: its prices, and whether content may be told."""
    token = _settings.set(settings)
    try:
        yield
    finally:
        _settings.reset(token)


def note(model: str, usage: Usage | None, *, searches: int = 0) -> Usage:
    """Count what a request to a model cost for the stages around it; returns it with its price.
    `searches` are those that a reranker charges for."""
    opened = _current.get()
    table = None if opened is None else opened.prices
    known = priced(model, usage or Usage(), table, searches=searches)
    if opened is not None and (known.input_tokens or known.output_tokens or known.cost_usd):
        spent = Spent(opened.namespaces, opened.category, model, known)
        opened.facts.setdefault("model", model)
        around: Stage | None = opened
        while around is not None:
            around.spent.append(spent)
            around = around.parent
    return known


def note_embedding(embedder: Any, vectors: Any) -> None:
    """Count the tokens that came with vectors, where the service has counted them."""
    tokens = getattr(vectors, "tokens", 0)
    if tokens:
        note(str(embedder.model), Usage(input_tokens=tokens))


def tell(**facts: Any) -> None:
    """Add facts to the stage that is open, if there is one."""
    opened = _current.get()
    if opened is not None:
        opened.facts.update(facts)


def _opened(
    name: str,
    around: Stage | None,
    namespaces: Sequence[str],
    category: str,
    facts: Mapping[str, Any] | None,
    content: Mapping[str, str] | None,
) -> Stage:
    made = Stage(name, around, tuple(namespaces), category, dict(facts or {}), content or {})
    settings = _settings.get()
    if settings is not None:
        made.tells, made.prices = settings.log_content, settings.prices
    return made


def _below(name: str, around: Stage | None, facts: Mapping[str, Any] | None) -> Stage:
    made = Stage(name, around, facts=dict(facts or {}))
    if around is not None:
        made.namespaces, made.category = around.namespaces, around.category
        made.tells, made.prices = around.tells, around.prices
    return made


def _with_usage(result: Any, usage: Usage) -> Any:
    return replace(result, usage=usage)


def _start(opened: Stage) -> None:
    opened.began = time.perf_counter()
    opened.span = spans.start(opened)


def _end(opened: Stage) -> None:
    opened.ms = (time.perf_counter() - opened.began) * 1000
    if isinstance(opened.error, GeneratorExit):
        # Whoever asked wanted no more of it: no error of ours.
        opened.error = None
        opened.facts["closed"] = True
    spans.end(opened)
    seen = _ended.get()
    if seen is not None:
        seen.append(opened)
    logs.tell(opened)


class _Within:
    """Makes a stage the current one. A class, because a generator would cost twice as much."""

    __slots__ = ("opened", "span", "token")

    def __init__(self, opened: Stage) -> None:
        self.opened = opened

    def __enter__(self) -> None:
        self.token = _current.set(self.opened)
        self.span = spans.enter(self.opened.span)

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        # A flow that nobody drives any more is closed wherever the collector runs.
        with suppress(ValueError):
            _current.reset(self.token)
            spans.leave(self.span)


class _Open(_Within):
    """Starts a stage, makes it the current one, and ends it."""

    __slots__ = ()

    def __enter__(self) -> None:
        _start(self.opened)
        super().__enter__()

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        super().__exit__(kind, error, where)
        self.opened.error = error
        _end(self.opened)
