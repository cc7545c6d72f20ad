"""Answers in events: drives the script of an answer, and takes a chat model's text in pieces."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import aclosing, closing, suppress
from dataclasses import replace
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError, ProviderError
from ragpg.perform import in_thread, read_said
from ragpg.protocols import (
    AsyncGenerator,
    AsyncStreamingGenerator,
    Generator,
    StreamingGenerator,
)
from ragpg.query.script import Part, Write
from ragpg.query.thoughts import Spoken
from ragpg.types import Delta, Done, Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator as AsyncPieces
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
    from collections.abc import Generator as Pieces

    from ragpg.observe.stage import Streamed
    from ragpg.query.script import Script
    from ragpg.steps import Flow
    from ragpg.types import AnswerEvent

    Messages = Sequence[Mapping[str, str]]

#: What comes behind the last piece.
_END: Any = object()


class _Writing:
    """A model's text as it comes, without its thoughts; `count` is told what it used."""

    def __init__(self, count: Callable[[Usage], object]) -> None:
        self.text = ""
        self._count = count
        self._spoken = Spoken()

    def take(self, piece: Any) -> str:
        """What of a piece is to be shown now."""
        if isinstance(piece, Usage):
            self._count(piece)
        return self._shown(self._spoken.feed(piece) if isinstance(piece, str) else "")

    def end(self) -> str:
        """What is left to be shown when nothing more comes."""
        return self._shown(self._spoken.end())

    def _shown(self, text: str) -> str:
        self.text += text
        return text


def events(
    script: Script, run: Callable[[Flow[Any]], Any], generator: Any, call: Streamed
) -> Pieces[AnswerEvent, None, None]:
    """The events of an answer; `run` does the flows of its script, `call` is what they are part of.

    What the caller does between two events is no part of the call, and holds no connection.
    """
    given: Any = None
    error: Exception | None = None
    while True:
        try:
            command = script.send(given) if error is None else script.throw(error)
        except StopIteration:
            return
        given = error = None
        try:
            match command:
                case Part(flow):
                    given = run(call.part(flow))
                case Write(name, messages):
                    with (
                        call.stage(name, model=generator.model) as count,
                        closing(pieces(generator, messages)) as found,
                    ):
                        writing = _Writing(partial(count, generator.model))
                        for piece in found:
                            if text := writing.take(piece):
                                yield Delta(text)
                    if text := writing.end():
                        yield Delta(text)
                    given = writing.text
                case Done(answer):
                    yield Done(replace(answer, usage=call.usage))
                case event:
                    yield event
        except Exception as raised:
            error = raised


async def aevents(
    script: Script, run: Callable[[Flow[Any]], Awaitable[Any]], generator: Any, call: Streamed
) -> AsyncPieces[AnswerEvent, None]:
    """As events."""
    given: Any = None
    error: Exception | None = None
    while True:
        try:
            command = script.send(given) if error is None else script.throw(error)
        except StopIteration:
            return
        given = error = None
        try:
            match command:
                case Part(flow):
                    given = await run(call.part(flow))
                case Write(name, messages):
                    with call.stage(name, model=generator.model) as count:
                        writing = _Writing(partial(count, generator.model))
                        async with aclosing(apieces(generator, messages)) as found:
                            async for piece in found:
                                if text := writing.take(piece):
                                    yield Delta(text)
                    if text := writing.end():
                        yield Delta(text)
                    given = writing.text
                case Done(answer):
                    yield Done(replace(answer, usage=call.usage))
                case event:
                    yield event
        except Exception as raised:
            error = raised


def pieces(generator: Any, messages: Messages) -> Pieces[str | Usage, None, None]:
    """Pieces of text and a Usage; one piece from a model that cannot stream. Raises as it does,
    ConfigError for one that can only be awaited, ProviderError for one that gives no pieces."""
    if isinstance(generator, StreamingGenerator):
        yield from _pieces_of(generator, generator.stream(messages))
    elif isinstance(generator, Generator):
        text, usage = read_said(generator, generator.generate(messages))
        yield text
        if usage is not None:
            yield usage
    else:
        raise ConfigError(
            f"{type(generator).__name__} has neither stream nor generate",
            hint="Give a sync model to ragpg.connect, or use ragpg.aconnect.",
        )


async def apieces(generator: Any, messages: Messages) -> AsyncPieces[str | Usage, None]:
    """As pieces; what a model has in sync only runs in threads."""
    if isinstance(generator, AsyncStreamingGenerator):
        stream: Any = generator.astream(messages)
        if isawaitable(stream):
            stream = await stream
        if not hasattr(stream, "__aiter__"):
            stream = _in_threads(_pieces_of(generator, stream))
        try:
            async for piece in stream:
                yield piece
        finally:
            # Not left to the collector, which closes it some time after the reader went away.
            if hasattr(stream, "aclose"):
                await stream.aclose()
        return
    if isinstance(generator, AsyncGenerator):
        text, usage = read_said(generator, await generator.agenerate(messages))
        yield text
        if usage is not None:
            yield usage
        return
    async with aclosing(_in_threads(pieces(generator, messages))) as found:
        async for piece in found:
            yield piece


def _pieces_of(generator: Any, stream: Any) -> Iterator[Any]:
    """What a model calls its stream, as an iterator that is closed with its reader."""
    if not isinstance(stream, Iterable) or isinstance(stream, bytes):
        raise ProviderError(
            f"the stream of {type(generator).__name__} is a {type(stream).__name__}, and no"
            " iterator of texts",
            hint="See ragpg.protocols.StreamingGenerator.",
            scope="service",
        )
    return iter([stream] if isinstance(stream, str) else stream)


async def _in_threads(found: Iterator[Any]) -> AsyncPieces[Any, None]:
    """The pieces of a sync iterator, each awaited in a thread; one that is being waited for when
    the reader goes away is left to its thread."""
    try:
        while (piece := await in_thread(lambda: next(found, _END))) is not _END:
            yield piece
    finally:
        close = getattr(found, "close", None)
        if close is not None:
            # Of a generator that runs in a thread: "generator already executing".
            with suppress(ValueError):
                close()
