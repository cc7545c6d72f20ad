"""Does the steps of flows: the database's through a Database, models and files by calling them."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from typing import TYPE_CHECKING, Any, TypeVar

from ragpg.errors import ConfigError, ProviderError
from ragpg.observe.stage import note, note_embedding
from ragpg.steps import (
    Apart,
    Book,
    Call,
    Complete,
    Embed,
    EmbedQuery,
    Fetch,
    Rerank,
    Retrieve,
    Sleep,
    Step,
    Together,
    Transact,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ragpg.connection_async import AsyncDatabase
    from ragpg.connection_sync import Database
    from ragpg.observe.ledger import Ledger
    from ragpg.observe.stage import Spent
    from ragpg.types import Usage

T = TypeVar("T")


class Performer:
    """Steps of the sync client."""

    def __init__(self, database: Database, ledger: Ledger | None = None) -> None:
        self.database = database
        self.ledger = ledger

    def __call__(self, step: Step) -> Any:
        match step:
            case Fetch():
                return self.database.fetch(step)
            case Transact():
                return self.database.transact(step)
            case Embed(embedder, texts, timeout):
                work = _sync(embedder, "embed_documents")
                return _counted(embedder, _within(timeout, lambda: work(texts)))
            case EmbedQuery(embedder, text):
                return _counted(embedder, _sync(embedder, "embed_query")(text))
            case Complete(generator, messages, options, timeout):
                write = _sync(generator, "generate")
                return _priced(generator, _within(timeout, lambda: write(messages, **options)))
            case Retrieve():
                return _within(step.timeout, lambda: _retrieve(step))
            case Rerank():
                return perform_rerank(step)
            case Call(function, arguments, timeout):
                return _within(timeout, lambda: function(*arguments))
            case Apart(function):
                address = self.database.address()
                return None if address is None else function(address, self.database.schema)
            case Sleep(seconds):
                return time.sleep(seconds)
            case Book(spent):
                return _book(self.ledger, spent)
            case Together():
                raise AssertionError("the driver runs flows side by side")

    def interrupt(self) -> None:
        """End the statements that other threads are running now."""
        self.database.interrupt()


class AsyncPerformer:
    """Steps of the async client. What a provider has in sync only runs in a thread."""

    def __init__(self, database: AsyncDatabase, ledger: Ledger | None = None) -> None:
        self.database = database
        self.ledger = ledger

    async def __call__(self, step: Step) -> Any:
        match step:
            case Fetch():
                return await self.database.fetch(step)
            case Transact():
                return await self.database.transact(step)
            case Embed(embedder, texts, timeout):
                async with asyncio.timeout(timeout):
                    return _counted(embedder, await either(embedder, "embed_documents", texts))
            case EmbedQuery(embedder, text):
                return _counted(embedder, await either(embedder, "embed_query", text))
            case Complete(generator, messages, options, timeout):
                async with asyncio.timeout(timeout):
                    said = await either(generator, "generate", messages, **options)
                return _priced(generator, said)
            case Retrieve(retriever, query, k, filter, timeout):
                async with asyncio.timeout(timeout):
                    return await either(retriever, "retrieve", query, k, filter)
            case Rerank():
                return await aperform_rerank(step)
            case Call(function, arguments, timeout):
                async with asyncio.timeout(timeout):
                    return await in_thread(lambda: function(*arguments))
            case Apart(function):
                address = await self.database.address()
                if address is None:
                    return None
                return await in_thread(lambda: function(address, self.database.schema))
            case Sleep(seconds):
                return await asyncio.sleep(seconds)
            case Book(spent):
                return _book(self.ledger, spent)
            case Together():
                raise AssertionError("the driver runs flows side by side")


def _counted(embedder: Any, vectors: T) -> T:
    note_embedding(embedder, vectors)
    return vectors


def _priced(generator: Any, said: tuple[str, Usage]) -> tuple[str, Usage]:
    text, usage = read_said(generator, said)
    return text, usage if usage is None else note(str(generator.model), usage)


def read_said(generator: Any, said: Any) -> tuple[str, Usage]:
    """What a chat model returned. Raises ProviderError where it is not a text with its usage."""
    if isinstance(said, tuple) and len(said) == 2:
        return said
    raise ProviderError(
        f"{type(generator).__name__} returned a {type(said).__name__}, not a text and its usage",
        hint="generate returns (text, ragpg.Usage(...)); see ragpg.protocols.Generator.",
        scope="service",
    )


def _book(ledger: Ledger | None, spent: Sequence[Spent]) -> None:
    if ledger is not None:
        ledger.add(spent)


def perform_rerank(step: Step) -> Any:
    """Do a Rerank step; for flows that have no other ones it is a performer."""
    assert isinstance(step, Rerank)
    function = _sync(step.reranker, "rerank")
    return _within(step.timeout, lambda: function(step.query, step.hits))


async def aperform_rerank(step: Step) -> Any:
    """As perform_rerank: awaited where the reranker can be, else in a thread."""
    assert isinstance(step, Rerank)
    try:
        async with asyncio.timeout(step.timeout) as limit:
            return await either(step.reranker, "rerank", step.query, step.hits)
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise TimeoutError(f"no answer within {step.timeout:g} s") from error


def _sync(provider: object, method: str) -> Callable[..., Any]:
    found: Callable[..., Any] | None = getattr(provider, method, None)
    if found is None:
        raise ConfigError(
            f"{type(provider).__name__} has no method {method}, so the sync client cannot use it",
            hint="Use ragpg.aconnect, or give the provider the method.",
        )
    return found


def _retrieve(step: Retrieve) -> Any:
    return _sync(step.retriever, "retrieve")(step.query, step.k, step.filter)


def _within(timeout: float | None, work: Callable[[], T]) -> T:
    """What `work` returns, or TimeoutError: then its thread is left alone, and ends with us.
    Without a timeout it works in this one."""
    if timeout is None:
        return work()
    results: list[T] = []
    failures: list[BaseException] = []

    def attempt() -> None:
        try:
            results.append(work())
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(attempt,), daemon=True)
    thread.start()
    thread.join(timeout)
    if failures:
        raise failures[0]
    if not results:
        raise TimeoutError(f"no answer within {timeout:g} s")
    return results[0]


async def either(provider: object, method: str, *arguments: Any, **options: Any) -> Any:
    """What the async twin of a method returns, or the method itself in a thread."""
    awaitable = getattr(provider, f"a{method}", None)
    if awaitable is not None:
        return await awaitable(*arguments, **options)
    function = _sync(provider, method)
    return await in_thread(lambda: function(*arguments, **options))


async def in_thread(work: Callable[[], T]) -> T:
    """As asyncio.to_thread, in a daemon of its own: abandoned calls of cancelled tasks neither
    fill a shared executor nor keep the program from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def finish(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def attempt() -> None:
        result: T | None = None
        failure: BaseException | None = None
        try:
            result = work()
        except (StopIteration, GeneratorExit) as error:
            # Thrown into a coroutine, they would mean something else.
            failure = RuntimeError(f"{type(error).__name__}: {error}")
        except BaseException as error:
            failure = error
        # The loop may have been closed meanwhile: then nobody waits for the result.
        if not loop.is_closed():
            try:
                loop.call_soon_threadsafe(finish, result, failure)
            except RuntimeError:
                return

    threading.Thread(target=contextvars.copy_context().run, args=(attempt,), daemon=True).start()
    return await future
