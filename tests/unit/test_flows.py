"""Flows driven by hand: what they ask for, in which order, and what they do with the answers."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from ragpg import connection, queries, queries_store, steps
from ragpg.errors import ConfigError, DatabaseError, ProviderError
from ragpg.ingest.embedding import Space, embed_group
from ragpg.ingest.order import Order
from ragpg.ingest.pipeline import ingest
from ragpg.ingest.prepare import Item, Prepared, fingerprint, items_of, prepare, read
from ragpg.ingest.store import store
from ragpg.query.pipeline import search
from ragpg.query.profile import Profile
from ragpg.query.request import Providers, Request
from ragpg.query.retrieve import split_arms
from ragpg.settings import Settings
from ragpg.steps import Call, Embed, EmbedQuery, Fetch, Outcome, Sleep, Together, Transact
from ragpg.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragpg.steps import Flow, Step

HIT = {
    "rank": 1, "score": 0.5, "namespace": "default", "source": "a.md", "title": "A", "page": None,
    "document_id": 1, "chunk_id": 7, "chunk_index": 0, "content": "text", "breadcrumb": "A",
    "metadata": {}, "start_line": 1, "end_line": 1, "start_char": 0, "end_char": 4, "version": 1,
    "arms": {"keyword": {"rank": 1, "score": 2.5}}, "a_newer_field": True,
}  # fmt: skip
REPORT = {"keyword": {"rows": 1, "ms": 0.5}, "vector": {"rows": 0, "ms": 0, "skipped": "why"}}


#: No probes, so that the steps are few.
PLAIN = Profile(carryover=False, facets=False)


def drive(flow: Flow[Any], answer: Callable[[Step], Any]) -> tuple[Any, list[Step]]:
    """Answer every step by a function; the result and the steps."""
    seen: list[Step] = []

    def perform(step: Step) -> Any:
        seen.append(step)
        if isinstance(step, Call):
            return step.function(*step.arguments)
        return answer(step)

    return steps.run(flow, perform), seen


def ended(flow: Flow[Any], answer: Any) -> Any:
    """What a flow returns after this answer, when it only computes from there on."""
    while True:
        try:
            step = flow.send(answer)
        except StopIteration as end:
            return end.value
        assert isinstance(step, Call)
        answer = step.function(*step.arguments)


def prepared(*texts: str) -> Prepared:
    """A document whose chunks are these texts."""
    [item] = items_of([], [("a.txt", "\n\n".join(texts))], {})
    [raw] = read([item], 1000)
    from ragpg.ingest.chunk import HeadingChunker

    chunker = HeadingChunker(size=max(map(len, texts)), overlap=0)
    return prepare(raw, fingerprint(raw, chunker, None), chunker)


class TestSearch:
    def test_it_embeds_the_query_then_asks_sql_once(self) -> None:
        embedder = HashEmbedder(4)
        flow = search(
            Request("red fox", k=3, profile=PLAIN), Providers(embedder), Settings(search_timeout=2)
        )
        assert next(flow) == EmbedQuery(embedder, "red fox")
        step = flow.send([0.5, 0.25, 0.0, 1.0])
        assert isinstance(step, Fetch)
        assert step.query is queries.SEARCH
        assert step.timeout == 2
        assert step.parameters["embedding"] == "[0.5,0.25,0,1]"
        assert step.parameters["k"] == 3
        spaces = json.dumps([["hash-4-v1", 4]])
        result = ended(flow, [(json.dumps([HIT]), json.dumps(REPORT), spaces, None)])
        assert [(hit.chunk_id, hit.arms["keyword"].score) for hit in result.hits] == [(7, 2.5)]
        assert list(result.report) == ["embed", "vector", "keyword"]
        assert result.notes == []

    def test_an_embedder_that_fails_is_a_note(self) -> None:
        flow = search(Request("red fox", profile=PLAIN), Providers(HashEmbedder(4)), Settings())
        next(flow)
        step = flow.throw(ProviderError("away"))
        assert isinstance(step, Fetch)
        assert step.parameters["embedding"] is None
        result = ended(flow, [("[]", "{}", None, None)])
        assert result.report["embed"].error == "away"
        assert "away" in result.notes[0]

    def test_the_vector_of_another_model_is_not_used(self) -> None:
        flow = search(Request("red fox", profile=PLAIN), Providers(HashEmbedder(4)), Settings())
        next(flow)
        flow.send([1.0] * 4)
        look = flow.send([("[]", json.dumps(REPORT), json.dumps([["other", 4]]), None)])
        assert isinstance(look, Call)
        step = flow.send(look.function(*look.arguments))
        assert isinstance(step, Fetch)
        assert step.parameters["embedding"] is None
        result = ended(flow, [("[]", json.dumps(REPORT), json.dumps([["other", 4]]), None)])
        assert "other" in str(result.report["vector"].error)

    def test_a_blank_query_asks_only_whether_its_namespaces_exist(self) -> None:
        for request in (Request(" \n"), Request("fox", k=0)):
            flow = search(request, Providers(HashEmbedder(4)), Settings())
            step = next(flow)
            assert isinstance(step, Fetch)
            assert step.parameters == {"namespaces": ["default"]}
            assert ended(flow, [[1]]).hits == []

    def test_without_the_vector_arm_nothing_is_embedded(self) -> None:
        for arms in (["keyword"], {"vector": False}):
            flow = search(
                Request("fox", arms=arms, profile=PLAIN), Providers(HashEmbedder(4)), Settings()
            )
            assert isinstance(next(flow), Fetch)

    def test_arms_of_sql_and_of_retrievers_are_told_apart(self) -> None:
        assert split_arms(None, ["wiki"]).external == {"wiki": {}}
        chosen = split_arms(["keyword", "wiki"], ["wiki", "news"])
        assert (chosen.sql, chosen.external) == (["keyword"], {"wiki": {}})
        chosen = split_arms(
            {"graph": False, "wiki": {"weight": 2}, "news": False}, ["wiki", "news"]
        )
        assert (chosen.sql, chosen.external) == ({"graph": False}, {"wiki": {"weight": 2}})
        with pytest.raises(ConfigError, match="wait"):
            split_arms({"wiki": {"wait": 2}}, ["wiki"])
        with pytest.raises(ConfigError, match="list of names"):
            split_arms("keyword", [])


class TestEmbedding:
    space = Space(HashEmbedder(4), "hash", 4, 1)

    def test_cached_texts_are_not_embedded(self) -> None:
        document = prepared("one", "two")
        assert document.staged is not None
        first, second = document.staged.hashes

        def answer(step: Step) -> Any:
            if isinstance(step, Embed):
                assert list(step.texts) == ["a.txt\ntwo"]
                return [[1.0, 0, 0, 0]]
            assert isinstance(step, Fetch)
            if step.query is queries_store.CLAIM:
                return [
                    queries_store.Claim(first, "cached"),
                    queries_store.Claim(second, "claimed"),
                ]
            assert step.query is queries_store.CACHE
            assert step.parameters["embeddings"] == '{"[1,0,0,0]"}'
            return [1]

        done, _ = drive(embed_group([document], self.space, 30), answer)
        assert done.vectors == {first, second}
        assert done.owner == {second: "a.txt"}

    def test_busy_texts_are_waited_for(self) -> None:
        document = prepared("one")
        assert document.staged is not None
        [key] = document.staged.hashes
        states = iter(["busy", "busy", "cached"])

        def answer(step: Step) -> Any:
            if isinstance(step, Sleep):
                return None
            assert isinstance(step, Fetch)
            return [queries_store.Claim(key, next(states))]

        done, seen = drive(embed_group([document], self.space, 30), answer)
        assert [step.seconds for step in seen if isinstance(step, Sleep)] == [0.05, 0.1]
        assert (done.vectors, done.owner) == ({key}, {})

    @pytest.mark.parametrize("error", [ProviderError("500", scope="service"), KeyboardInterrupt()])
    def test_claims_are_given_back_when_it_fails(self, error: BaseException) -> None:
        document = prepared("one")
        assert document.staged is not None
        [key] = document.staged.hashes
        released = []

        def answer(step: Step) -> Any:
            if isinstance(step, Embed):
                raise error
            assert isinstance(step, Fetch)
            if step.query is queries_store.RELEASE:
                released.append(step.parameters["hashes"])
                return [None]
            return [queries_store.Claim(key, "claimed")]

        space = Space(HashEmbedder(4), "hash", 4, 1)
        flow = embed_group([document], space, 30)
        if isinstance(error, KeyboardInterrupt):
            with pytest.raises(KeyboardInterrupt):
                drive(flow, answer)
        else:
            done, _ = drive(flow, answer)
            assert done.failed == {"a.txt": "it could not be embedded: 500"}
            assert space.down is not None
        assert released == [[key]]


class TestIngest:
    def test_a_document_goes_by_copy_in_one_transaction(self) -> None:
        document = prepared("one", "two").staged
        assert document is not None
        step = next(store(5, [document]))
        assert isinstance(step, Transact)
        begin, documents, chunks, end = step.operations
        assert isinstance(begin, Fetch)
        assert isinstance(end, Fetch)
        assert isinstance(documents, steps.Copy)
        assert isinstance(chunks, steps.Copy)
        assert end.parameters == {"namespace_id": 5}
        assert [row[0] for row in documents.rows] == ["a.txt"]
        assert [row[2] for row in chunks.rows] == ["one", "two"]
        assert all(len(row) == len(chunks.columns) == len(chunks.types) for row in chunks.rows)

    def test_the_next_group_is_embedded_while_one_is_stored(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("ragpg.ingest.gather.GROUP_DOCUMENTS", 1)
        together = 0

        def answer(step: Step) -> Any:
            nonlocal together
            if isinstance(step, Transact):
                together += 1
                documents = step.operations[1]
                assert isinstance(documents, steps.Copy)
                return [
                    queries_store.Written(row[0], 1, "stored", 1, 1, 0) for row in documents.rows
                ]
            assert isinstance(step, Fetch)
            return {
                queries.NAMESPACE: [queries.NamespaceRow(1, None, None, None)],
                queries_store.FINGERPRINTS: [],
                queries_store.FOLD: [0],
                queries_store.REBUILD: [True],
            }.get(step.query, [])

        order = Order(texts=[("a", "one"), ("b", "two")])
        report, _ = drive(ingest(order, None, Settings()), answer)
        assert [file.source for file in report.files] == ["a", "b"]
        assert together == 2

    def test_fingerprints_depend_on_what_matters(self) -> None:
        from ragpg.ingest.chunk import HeadingChunker

        def mark(
            text: str = "t", metadata: Any = None, size: int = 100, space: object = None
        ) -> bytes:
            [raw] = read([Item("a", text=text, metadata=metadata or {})], 100)
            return fingerprint(raw, HeadingChunker(size, 0), space)

        assert mark() == mark()
        assert mark(metadata={"a": {1, 2}, "b": 1}) == mark(metadata={"b": 1, "a": {2, 1}})
        assert len({mark(), mark("u"), mark(metadata={"a": 1}), mark(size=50), mark(space=1)}) == 5

    def test_texts_of_the_wrong_shape_are_refused(self) -> None:
        for text in [
            {"text": "no source"},
            {"source": "a", "text": "b", "colour": 1},
            5,
            ("", "b"),
        ]:
            with pytest.raises(ConfigError):
                items_of([], [text], {})  # type: ignore[list-item]


class TestDrivers:
    @staticmethod
    def pair() -> Flow[list[Outcome[Any]]]:
        def one(fails: bool) -> Flow[str]:
            yield Sleep(0)
            if fails:
                raise DatabaseError("bad")
            return "good"

        return steps.together(one(False), one(True))

    def test_together_runs_side_by_side_in_both_colours(self) -> None:
        # A step ends when the other flow has come as far: one after the other they would fail.
        met = threading.Barrier(2, timeout=20)

        def perform(step: Step) -> Any:
            met.wait()

        async def asynchronous() -> list[Outcome[Any]]:
            amet = asyncio.Barrier(2)

            async def aperform(step: Step) -> Any:
                await asyncio.wait_for(amet.wait(), 20)

            return await steps.arun(self.pair(), aperform)

        for outcomes in (steps.run(self.pair(), perform), asyncio.run(asynchronous())):
            assert outcomes[0].take() == "good"
            with pytest.raises(DatabaseError, match="bad"):
                outcomes[1].take()

    def test_an_interrupt_stops_the_flows_of_other_threads(self) -> None:
        steps_of_other: list[float] = []
        gate = threading.Event()

        def other() -> Flow[None]:
            for _ in range(100):
                yield Sleep(0.01)
                steps_of_other.append(time.monotonic())
                gate.set()

        def mine() -> Flow[None]:
            yield Sleep(1)

        def perform(step: Step) -> Any:
            assert isinstance(step, Sleep)
            if step.seconds == 1:
                gate.wait()
                raise KeyboardInterrupt
            time.sleep(step.seconds)

        with pytest.raises(KeyboardInterrupt):
            steps.run(steps.together(mine(), other()), perform)
        count = len(steps_of_other)
        time.sleep(0.1)
        assert len(steps_of_other) == count < 100

    def test_an_error_is_thrown_into_the_flow(self) -> None:
        def flow() -> Flow[str]:
            try:
                yield Sleep(1)
            except DatabaseError:
                yield Sleep(2)
                return "mended"
            return "never"

        def perform(step: Step) -> Any:
            assert isinstance(step, Sleep)
            if step.seconds == 1:
                raise DatabaseError("no")

        assert steps.run(flow(), perform) == "mended"
        assert Together([]).flows == []


def test_a_statement_leaves_a_callers_transaction_as_it_was() -> None:
    query = steps.Query("select ragpg.f(%(a)s)", tuple)
    own, place = connection.statement(Fetch(query, timeout=2), "kb", nested=False)
    assert "set_config('statement_timeout'" in own
    assert own.endswith("select kb.f(%(a)s)")
    assert place == 1
    joined, place = connection.statement(Fetch(query, timeout=2), "kb", nested=True)
    assert joined.startswith("savepoint ragpg_step;")
    assert "rollback to savepoint ragpg_step; release" in joined
    assert place == 2
    written, place = connection.statement(Fetch(query), "kb", nested=True)
    assert "rollback" not in written
    assert place == 1


def test_an_interrupt_before_a_thread_starts_stays_an_interrupt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(self: threading.Thread) -> None:
        raise KeyboardInterrupt

    def flow() -> Flow[list[Any]]:
        outcomes: list[Any] = yield Together((nothing(), nothing()))
        return outcomes

    def nothing() -> Flow[None]:
        yield Sleep(0)

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        steps.run(flow(), lambda _: None)
