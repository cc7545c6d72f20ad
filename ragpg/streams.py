"""Answers of a chat model piece by piece, from whatever the model offers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError
from ragpg.protocols import (
    AsyncGenerator,
    AsyncStreamingGenerator,
    Generator,
    StreamingGenerator,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

    from ragpg.types import Usage

    Messages = Sequence[Mapping[str, str]]


def pieces(generator: Any, messages: Messages) -> Iterator[str | Usage]:
    """Pieces of text and a Usage; one piece from a model that cannot stream. Raises as it does,
    and ConfigError for one that can only be awaited."""
    if isinstance(generator, StreamingGenerator):
        yield from generator.stream(messages)
    elif isinstance(generator, Generator):
        text, usage = generator.generate(messages)
        yield text
        if usage is not None:
            yield usage
    else:
        raise ConfigError(
            f"{type(generator).__name__} has neither stream nor generate",
            hint="Give a sync model to ragpg.connect, or use ragpg.aconnect.",
        )


async def apieces(generator: Any, messages: Messages) -> AsyncIterator[str | Usage]:
    """As pieces; what a model has in sync only runs in a thread, and then comes in one piece."""
    if isinstance(generator, AsyncStreamingGenerator):
        async for piece in generator.astream(messages):
            yield piece
        return
    if isinstance(generator, AsyncGenerator):
        text, usage = await generator.agenerate(messages)
    else:
        text, usage = await asyncio.to_thread(generator.generate, messages)
    yield text
    if usage is not None:
        yield usage
