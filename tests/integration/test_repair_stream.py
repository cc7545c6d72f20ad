"""A round of repair as events, and what is left of one that is broken off: nothing."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.errors import ProviderError
from ragpg.judges.llm import LLMJudge
from ragpg.testing import HashEmbedder
from ragpg.types import Delta, Done, Repairing, Revised, Started, Usage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

    import psycopg

    from ragpg import Client
    from ragpg.types import AnswerEvent

QUESTION = "How long do refunds take?"
WRONG = ["Refunds take ", "9 working days [1]."]
GOOD = ["Refunds take ", "5 working days [1]."]
SESSIONS = """
select count(*) filter (where state <> 'idle' or xact_start is not null), count(*)
  from pg_stat_activity
 where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
"""


class Writer:
    """A chat model that gives these lists of pieces, one a request, in both colours. It waits for
    ever at a None, and raises an exception; `asked` is set when it does either."""

    model = "gpt-4o-mini"

    def __init__(self, *answers: Sequence[str | Exception | None]) -> None:
        self.answers = list(answers)
        self.open = 0
        self.asked = asyncio.Event()

    def generate(self, messages: Sequence[Mapping[str, str]], **_: Any) -> tuple[str, Usage]:
        return "".join(str(one) for one in self.answers.pop(0)), Usage(10, 5)

    async def agenerate(self, messages: Sequence[Mapping[str, str]], **_: Any) -> tuple[str, Usage]:
        self.open += 1
        try:
            return "".join([await self._piece(one) for one in self.answers.pop(0)]), Usage(10, 5)
        finally:
            self.open -= 1

    def stream(self, messages: Sequence[Mapping[str, str]], **_: Any) -> Iterator[str | Usage]:
        self.open += 1
        try:
            for piece in self.answers.pop(0):
                if isinstance(piece, Exception):
                    raise piece
                yield str(piece)
            yield Usage(10, 5)
        finally:
            self.open -= 1

    async def astream(
        self, messages: Sequence[Mapping[str, str]], **_: Any
    ) -> AsyncIterator[str | Usage]:
        self.open += 1
        try:
            for piece in self.answers.pop(0):
                yield await self._piece(piece)
            yield Usage(10, 5)
        finally:
            self.open -= 1

    async def _piece(self, piece: str | Exception | None) -> str:
        if piece is None:
            self.asked.set()
            await asyncio.sleep(60)
        if isinstance(piece, Exception):
            raise piece
        return str(piece)


@pytest.fixture
def filled(rag: Client) -> Client:
    rag.ingest(texts=[("refunds.md", "Refunds take 5 working days.")])
    return rag


def streamed(
    filled: Client, database: str, *answers: Sequence[Any], **options: Any
) -> list[AnswerEvent]:
    """The events of the sync client, which must be those of the async one."""

    async def awaited() -> list[AnswerEvent]:
        async with ragpg.aconnect(database, embedder=HashEmbedder(32)) as rag:
            stream = rag.ask_stream(QUESTION, generator=Writer(*answers), **asked)
            return [event async for event in stream]

    asked: dict[str, Any] = {"unsupported": "repair", **options}
    events = list(filled.ask_stream(QUESTION, generator=Writer(*answers), **asked))
    assert list(map(told, asyncio.run(awaited()))) == list(map(told, events))
    return events


def told(event: AnswerEvent) -> tuple[Any, ...]:
    match event:
        case Started():
            return ("started",)
        case Delta(text):
            return ("delta", text)
        case Repairing(claims):
            return ("repairing", [claim.text for claim in claims])
        case Revised(text, revision, notes):
            return ("revised", text, revision, list(notes))
        case Done(answer):
            return ("done", answer.text, answer.revision, answer.usage)


def deltas(pieces: Sequence[str]) -> list[tuple[str, str]]:
    return [("delta", piece) for piece in pieces]


SENT_BACK = ("repairing", ["Refunds take 9 working days [1]."])


def test_a_better_text_follows_the_one_that_is_withdrawn(filled: Client, database: str) -> None:
    events = streamed(filled, database, WRONG, GOOD)
    *told_before, done = events
    assert list(map(told, told_before)) == [
        ("started",), *deltas(WRONG), SENT_BACK, *deltas(GOOD),
    ]  # fmt: skip
    assert isinstance(done, Done)
    assert (done.answer.text, done.answer.revision) == ("".join(GOOD), "repaired")
    # Both texts are paid for.
    assert done.answer.usage.output_tokens == 10


def test_a_good_text_is_not_withdrawn(filled: Client, database: str) -> None:
    kinds = [type(event) for event in streamed(filled, database, GOOD)]
    assert kinds == [Started, Delta, Delta, Done]


@pytest.mark.parametrize(
    ("second", "why"),
    [
        (WRONG, "the round of repair gave no better answer"),
        ([" "], "the round of repair gave no text"),
        ([], "the round of repair gave no text"),
        (["Refunds take ", ProviderError("gone")], "the round of repair failed: gone"),
    ],
)
def test_the_first_text_comes_back_where_the_second_is_no_better(
    filled: Client, database: str, second: list[Any], why: str
) -> None:
    *_, revised, done = streamed(filled, database, WRONG, second)
    note = f"{why}; the first answer stays"
    assert told(revised) == ("revised", "".join(WRONG), None, [note])
    assert isinstance(done, Done)
    assert (done.answer.text, done.answer.revision) == ("".join(WRONG), None)


def test_the_gate_is_looked_at_after_the_repair(filled: Client, database: str) -> None:
    events = streamed(filled, database, WRONG, WRONG, gate=0.5)
    revised = [event for event in events if isinstance(event, Revised)]
    assert [one.revision for one in revised] == ["gated"]


def test_a_stream_that_is_closed_in_the_middle_of_a_repair_leaves_nothing(
    filled: Client, db: psycopg.Connection[Any]
) -> None:
    writer = Writer(WRONG, GOOD)
    stream = filled.ask_stream(QUESTION, generator=writer, unsupported="repair")
    seen = [next(stream) for _ in range(5)]
    assert isinstance(seen[3], Repairing)
    assert isinstance(seen[4], Delta)
    assert writer.open == 1
    stream.close()
    assert writer.open == 0
    assert db.execute(SESSIONS).fetchone() == (0, 1)


#: Where a question is when its task is cancelled: what the writer and the judge's model give.
MOMENTS: dict[str, tuple[list[list[str | None]], list[list[str | None]]]] = {
    "the text": ([["Refunds ", None]], [["[]"]]),
    "the judge": ([[*WRONG]], [[None]]),
    "the repair": ([[*WRONG], ["Refunds ", None]], [["[]"]]),
    "the judge of the repair": ([[*WRONG], [*GOOD]], [["[]"], [None]]),
}


@pytest.mark.parametrize("way", ["whole", "stream"])
def test_a_cancelled_task_leaves_no_transaction_and_no_connection(
    filled: Client, database: str, db: psycopg.Connection[Any], way: str
) -> None:
    filled.close()

    async def cancelled(moment: str) -> None:
        written, judged = MOMENTS[moment]
        writer, checker = Writer(*written), Writer(*judged)
        async with ragpg.aconnect(database, embedder=HashEmbedder(32)) as rag:
            options: dict[str, Any] = {
                "generator": writer, "judge": LLMJudge(checker), "unsupported": "repair",
            }  # fmt: skip

            async def ask() -> None:
                if way == "whole":
                    await rag.ask(QUESTION, **options)
                else:
                    async for _ in rag.ask_stream(QUESTION, **options):
                        pass

            task = asyncio.create_task(ask())
            stuck = [asyncio.create_task(one.asked.wait()) for one in (writer, checker)]
            async with asyncio.timeout(20):
                await asyncio.wait([*stuck, task], return_when=asyncio.FIRST_COMPLETED)
            assert not task.done()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            for one in stuck:
                one.cancel()
            assert (writer.open, checker.open) == (0, 0)
            assert db.execute(SESSIONS).fetchone() == (0, 1)
            source: Any = rag._database.source
            pool = source._pool.get_stats()
            assert pool["pool_available"] == pool["pool_size"]
            assert pool.get("requests_waiting", 0) == 0
            assert (await rag.search(QUESTION)).hits
        # The server notices a closed connection a moment later.
        async with asyncio.timeout(10):
            while db.execute(SESSIONS).fetchone() != (0, 0):
                await asyncio.sleep(0.02)

    for moment in MOMENTS:
        asyncio.run(cancelled(moment))
    # A model of the async client is awaited, in no thread that would still wait for it.
    assert not [one for one in threading.enumerate() if one.name.startswith("asyncio_")]
