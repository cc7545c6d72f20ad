"""Streamed answers: events in order, what a closed stream leaves, sync and async."""

from __future__ import annotations

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.errors import ConfigError, ProviderError
from ragpg.testing import HashEmbedder, ScriptedGenerator
from ragpg.types import Answer, Delta, Done, Started, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import psycopg

    from ragpg import Client
    from ragpg.types import AnswerEvent

QUESTION = "How long do refunds take?"
PIECES = ["Refunds take ", "5 working ", "days [1]."]


class Pieces:
    """A chat model that gives these pieces, or raises one of them."""

    model = "pieces"

    def __init__(self, *pieces: str | Usage | BaseException) -> None:
        self.pieces = pieces
        self.closed = False

    def generate(self, messages: Sequence[Mapping[str, str]], **_: Any) -> tuple[str, Usage]:
        raise AssertionError("it can stream")

    def stream(self, messages: Sequence[Mapping[str, str]], **_: Any) -> Iterator[str | Usage]:
        try:
            for piece in self.pieces:
                if isinstance(piece, BaseException):
                    raise piece
                yield piece
        finally:
            self.closed = True


@pytest.fixture
def filled(rag: Client) -> Client:
    rag.ingest(texts=[("refunds.md", "Refunds take 5 working days.")])
    return rag


def check(events: Sequence[AnswerEvent]) -> Answer:
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Done)
    assert (events[0].result.context_tokens > 0) is bool(events[0].result.hits)
    deltas = events[1:-1]
    assert all(isinstance(one, Delta) for one in deltas)
    return events[-1].answer


def test_events_come_in_order_and_end_with_a_checked_answer(filled: Client) -> None:
    model = Pieces(*PIECES, Usage(10, 6))
    events = list(filled.ask_stream(QUESTION, generator=model))
    answer = check(events)
    assert [one.text for one in events if isinstance(one, Delta)] == PIECES
    assert answer.text.startswith("Refunds take 5 working days [1].")
    assert answer.citations[0].hit.source == "refunds.md"
    assert answer.grounding.state == "grounded"
    assert answer.usage == Usage(10, 6)
    assert answer.text == filled.ask(QUESTION, generator=ScriptedGenerator("".join(PIECES))).text


def test_a_model_that_cannot_stream_answers_in_one_piece(filled: Client) -> None:
    events = list(filled.ask_stream(QUESTION, generator=ScriptedGenerator("".join(PIECES))))
    assert len(events) == 3
    assert check(events).usage.output_tokens > 0


def test_weak_evidence_asks_no_model(filled: Client) -> None:
    model = Pieces(AssertionError("asked"))
    events = list(filled.ask_stream("zzz qqq", generator=model, arms=["keyword"]))
    assert check(events).refused


def test_a_stream_that_is_closed_stops_the_model_and_leaves_nothing_open(
    filled: Client, db: psycopg.Connection[Any]
) -> None:
    model = Pieces(*PIECES * 100)
    stream = filled.ask_stream(QUESTION, generator=model)
    assert isinstance(next(stream), Started)
    assert isinstance(next(stream), Delta)
    busy = db.execute(
        "select count(*) from pg_stat_activity where datname = current_database() "
        "and pid <> pg_backend_pid() and state <> 'idle'"
    ).fetchone()
    assert busy == (0,)
    stream.close()
    assert model.closed


def test_a_model_that_fails_in_the_middle_raises(filled: Client) -> None:
    stream = filled.ask_stream(QUESTION, generator=Pieces("Refunds ", ProviderError("gone")))
    seen: list[AnswerEvent] = []
    with pytest.raises(ProviderError, match="gone"):
        seen.extend(stream)
    assert [type(one) for one in seen] in ([], [Started, Delta])


@pytest.mark.parametrize("said", [PIECES[0], None, (PIECES[0],), [PIECES[0], None]])
def test_a_model_that_returns_something_else_is_named(
    filled: Client, database: str, said: Any
) -> None:
    class Bare:
        model = "bare"

        def generate(self, messages: Sequence[Mapping[str, str]], **_: Any) -> Any:
            return said

    async def awaited() -> None:
        async with ragpg.aconnect(database, embedder=HashEmbedder(32)) as rag:
            async for _ in rag.ask_stream(QUESTION, generator=Bare()):
                pass

    ways: list[Any] = [
        lambda: filled.ask(QUESTION, generator=Bare()),
        lambda: list(filled.ask_stream(QUESTION, generator=Bare())),
        lambda: asyncio.run(awaited()),
    ]
    for ask in ways:
        with pytest.raises(ProviderError, match="not a text and its usage"):
            ask()


def test_without_a_model_it_says_so(filled: Client) -> None:
    with pytest.raises(ConfigError, match="no chat model"):
        next(filled.ask_stream(QUESTION))


@pytest.mark.usefixtures("filled")
def test_the_async_client_streams_the_same(database: str) -> None:
    async def run() -> list[AnswerEvent]:
        async with ragpg.aconnect(database, embedder=HashEmbedder(32)) as rag:
            model = ScriptedGenerator("".join(PIECES))
            return [event async for event in rag.ask_stream(QUESTION, generator=model)]

    assert check(asyncio.run(run())).grounding.state == "grounded"


class Service(BaseHTTPRequestHandler):
    """/chat/completions with server-sent events; breaks off after the pieces when told to."""

    breaks = False

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        assert asked["stream"] is True
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        frame = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        for piece in PIECES:
            choices = [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]
            self._send(frame | {"choices": choices})
        if self.breaks:
            self._send({"error": {"message": "overloaded", "code": "server_error"}})
            return
        usage = {"prompt_tokens": 20, "completion_tokens": 6, "total_tokens": 26}
        self._send(frame | {"choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def _send(self, value: Any) -> None:
        self.wfile.write(f"data: {json.dumps(value)}\n\n".encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.mark.parametrize("breaks", [False, True])
@pytest.mark.parametrize("client", ["sync", "async"])
def test_a_compatible_service_streams(
    filled: Client, database: str, breaks: bool, client: str
) -> None:
    handler = type("Handler", (Service,), {"breaks": breaks})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        model = ragpg.OpenAIGenerator(
            "m",
            base_url=f"http://127.0.0.1:{server.server_port}",
            api_key="k",
            max_retries=0,
            prices=(1.0, 2.0),
        )

        async def run() -> list[AnswerEvent]:
            async with ragpg.aconnect(database, embedder=HashEmbedder(32)) as rag:
                found = [event async for event in rag.ask_stream(QUESTION, generator=model)]
            await model.aclose()
            return found

        def ask() -> list[AnswerEvent]:
            if client == "async":
                return asyncio.run(run())
            return list(filled.ask_stream(QUESTION, generator=model))

        try:
            if breaks:
                with pytest.raises(ProviderError, match="overloaded"):
                    ask()
            else:
                answer = check(ask())
                assert answer.usage == Usage(20, 6, 32e-6)
                assert answer.grounding.state == "grounded"
        finally:
            model.close()
            server.shutdown()


@pytest.mark.usefixtures("filled")
def test_the_async_client_streams_a_sync_model_too(database: str) -> None:
    async def run() -> None:
        async with ragpg.aconnect(database, embedder=HashEmbedder(32)) as rag:
            model = Pieces("Keys rotate ", "every 90 days [1].", Usage())
            seen = [one async for one in rag.ask_stream(QUESTION, generator=model)]
            texts = [one.text for one in seen if isinstance(one, Delta)]
            assert texts == ["Keys rotate ", "every 90 days [1]."]
            left = Pieces("Keys ", "rotate.")
            told = rag.ask_stream(QUESTION, generator=left)
            async for event in told:
                if isinstance(event, Delta):
                    break
            await told.aclose()
            assert left.closed
            for fault, expected in ((OSError("down"), OSError), (GeneratorExit(), RuntimeError)):
                with pytest.raises(expected):
                    async for _ in rag.ask_stream(QUESTION, generator=Pieces("Keys ", fault)):
                        pass

    asyncio.run(run())


@pytest.mark.parametrize("said", [None, 3, b"Keys"])
def test_a_stream_that_is_none_is_named(filled: Client, database: str, said: Any) -> None:
    class Bare:
        model = "bare"

        def stream(self, messages: Any, **_: Any) -> Any:
            return said

        async def astream(self, messages: Any, **_: Any) -> Any:
            return said

    model: Any = Bare()

    async def awaited() -> None:
        async with ragpg.aconnect(database, embedder=HashEmbedder(32)) as rag:
            async for _ in rag.ask_stream(QUESTION, generator=model):
                pass

    with pytest.raises(ProviderError, match="the stream of Bare is a"):
        list(filled.ask_stream(QUESTION, generator=model))
    with pytest.raises(ProviderError, match="the stream of Bare is a"):
        asyncio.run(awaited())
