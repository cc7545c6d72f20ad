"""Spans, log events and costs of calls against a database, with models that count."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import secrets
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import ragpg
from ragpg.errors import ConfigError, DatabaseError, ProviderError
from ragpg.observe.ledger import Ledger, reset_usage, usage_of
from ragpg.observe.stage import Spent
from ragpg.query.profile import Profile
from ragpg.testing import HashEmbedder, ScriptedGenerator
from ragpg.tools.knowledge import Binding, RagKnowledge
from ragpg.types import Delta, Done, Embedding, Embeddings, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import psycopg
    from opentelemetry.sdk.trace import ReadableSpan

    from ragpg import Client

TEXTS = [("a.md", "Refunds take 14 days after the return."), ("b.md", "Shoes may be returned.")]
SECRET = "s3cr3t-Passw0rd"
QUERY = "refunds of Wolpertinger"


class Paid(HashEmbedder):
    """Counts one token a word, as text-embedding-3-small does."""

    model = "text-embedding-3-small"

    def embed_query(self, text: str) -> list[float]:
        found = Embedding(super().embed_query(text))
        found.tokens = len(text.split())
        return found

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        found = Embeddings(HashEmbedder.embed_documents(self, texts))
        found.tokens = sum(len(text.split()) for text in texts)
        return found


class Broken(Paid):
    """Fails, and says the query in doing so."""

    def embed_query(self, text: str) -> list[float]:
        raise ProviderError(f"the service does not like {text!r}")


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    found = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(found))
    trace.set_tracer_provider(provider)
    return found


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Iterator[InMemorySpanExporter]:
    exporter.clear()
    yield exporter
    exporter.clear()


def client(database: str, **options: Any) -> Client:
    given: dict[str, Any] = {
        "embedder": Paid(32),
        "generator": ScriptedGenerator("Refunds take 14 days [1].", model="gpt-4o-mini"),
        "settings": ragpg.Settings(usage=True),
    }
    return ragpg.connect(database, **(given | options))


def tree(spans: InMemorySpanExporter) -> dict[str, list[str]]:
    """The children of every span by name, in the order in which they began."""
    done = sorted(spans.get_finished_spans(), key=lambda one: one.start_time or 0)
    names = {one.context.span_id: one.name for one in done}
    found: dict[str, list[str]] = {}
    for one in done:
        above = "" if one.parent is None else names.get(one.parent.span_id, "?")
        found.setdefault(above, []).append(one.name.removeprefix("ragpg."))
    return {name.removeprefix("ragpg."): below for name, below in found.items()}


def named(spans: InMemorySpanExporter, name: str) -> ReadableSpan:
    return next(one for one in spans.get_finished_spans() if one.name == f"ragpg.{name}")


def facts(spans: InMemorySpanExporter, name: str) -> Mapping[str, Any]:
    return named(spans, name).attributes or {}


def test_a_search_is_one_span_with_its_stages_below(
    database: str, spans: InMemorySpanExporter
) -> None:
    with client(database) as rag:
        rag.ingest(texts=TEXTS)
        ingest = facts(spans, "ingest")
        below = tree(spans)
        assert below[""] == ["ingest"]
        assert {"read", "embed", "store", "tidy"} <= set(below["ingest"])
        assert (ingest["ragpg.stored"], ingest["ragpg.chunks"]) == (2, 2)
        assert ingest["gen_ai.usage.input_tokens"] > 0
        spans.clear()
        rag.search(QUERY, k=3, answer="Refunds take 14 days.")
    assert tree(spans) == {
        "": ["search"],
        "search": ["embed", "rewrite", "retrieve", "rerank", "choose", "context", "ground"],
    }
    search = facts(spans, "search")
    assert search["gen_ai.operation.name"] == "retrieval"
    assert (search["ragpg.k"], search["ragpg.rows"]) == (3, 2)
    assert set(search["ragpg.arms"]) >= {"vector", "keyword"}
    assert (search["ragpg.namespaces"], search["ragpg.category"]) == (("default",), "retrieval")
    assert search["gen_ai.usage.input_tokens"] == 3
    assert search["ragpg.usd"] == pytest.approx(3 * 0.02 / 1e6)
    assert search["ragpg.ms"] > 0
    assert facts(spans, "embed")["gen_ai.request.model"] == "text-embedding-3-small"
    retrieve = facts(spans, "retrieve")
    assert (retrieve["db.system.name"], retrieve["ragpg.vector_rows"]) == ("postgresql", 2)
    told = json.dumps([dict(one.attributes or {}) for one in spans.get_finished_spans()])
    assert "Wolpertinger" not in told


def test_an_answer_is_one_span_also_in_pieces_and_awaited(
    database: str, spans: InMemorySpanExporter
) -> None:
    with client(database) as rag:
        rag.ingest(texts=TEXTS)
        spans.clear()
        answer = rag.ask("How long do refunds take?")
        whole = tree(spans)
        spans.clear()
        for event in rag.ask_stream("How long do refunds take?"):
            if isinstance(event, Delta):
                with trace.get_tracer("app").start_as_current_span("app.work"):
                    pass
            if isinstance(event, Done):
                streamed = event.answer
        pieces = tree(spans)
        spans.clear()

    async def ask() -> Any:
        async with ragpg.aconnect(
            database, embedder=rag.embedder, generator=rag.generator
        ) as other:
            with trace.get_tracer("app").start_as_current_span("app.request"):
                return await asyncio.gather(
                    other.ask("How long do refunds take?"), other.search("shoes")
                )

    awaited, _ = asyncio.run(ask())
    assert whole[""] == ["ask"]
    assert whole["ask"] == ["search", "generate", "ground"]
    # What the caller does between two pieces is none of ours.
    assert pieces == {**whole, "": ["ask", "app.work"]}
    both = tree(spans)
    assert (both[""], sorted(both["app.request"])) == (["app.request"], ["ask", "search"])
    assert both["ask"] == whole["ask"]
    assert answer.text == streamed.text == awaited.text
    assert answer.usage == streamed.usage == awaited.usage
    assert answer.usage.output_tokens == 5
    assert answer.usage.input_tokens > answer.result.usage.input_tokens == 5
    assert (answer.usage.cost_usd or 0) > (answer.result.usage.cost_usd or 0) > 0


def test_a_stage_that_fails_says_so_without_its_words(
    database: str, spans: InMemorySpanExporter, caplog: pytest.LogCaptureFixture
) -> None:
    with client(database, embedder=Broken(32)) as rag:
        rag.ingest(texts=TEXTS)
        spans.clear()
        caplog.set_level(logging.DEBUG, "ragpg")
        assert rag.search(QUERY).hits
        embed = named(spans, "embed")
        assert (embed.status.status_code.name, embed.status.description) == ("ERROR", None)
        assert (embed.attributes or {})["error.type"] == "ProviderError"
        assert not embed.events
        assert facts(spans, "search")["ragpg.failed"] == ("embed",)
        [degraded] = [one for one in caplog.records if one.levelno == logging.WARNING]
        assert (degraded.name, vars(degraded)["event"]) == ("ragpg.search", "search")
        assert vars(degraded)["failed"] == ["embed"]
        [stage] = [one for one in caplog.records if "error" in vars(one)]
        assert (vars(stage)["event"], vars(stage)["error"]) == ("embed", "ProviderError")
        with pytest.raises(DatabaseError):
            rag.search(QUERY, namespace="nowhere")
        assert named(spans, "retrieve").status.is_ok


def test_content_is_told_to_those_who_ask_for_it(
    database: str, spans: InMemorySpanExporter, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "ragpg")
    settings = ragpg.Settings(log_content=True)
    with client(database, embedder=Broken(32), settings=settings) as rag:
        rag.ingest(texts=TEXTS)
        spans.clear()
        rag.search(QUERY)
    assert facts(spans, "search")["gen_ai.retrieval.query.text"] == QUERY
    assert QUERY in (named(spans, "embed").status.description or "")
    [stage] = [one for one in caplog.records if "error" in vars(one)]
    assert QUERY in vars(stage)["reason"]


class Json(logging.Formatter):
    """Everything of a record that JSON holds, as formatters of others write it."""

    def format(self, record: logging.LogRecord) -> str:
        super().format(record)
        return json.dumps({**vars(record), "message": record.getMessage()}, default=repr)


def test_no_log_has_a_secret_a_query_or_a_text(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(Json())
    log = logging.getLogger("ragpg")
    log.addHandler(handler)
    before = log.level
    log.setLevel(logging.DEBUG)
    wrong = f"postgresql://nobody:{SECRET}@127.0.0.1:1/x"
    try:
        with client(database, cache=True) as rag:
            rag.ingest(texts=[*TEXTS, ("w.md", "The Wolpertinger lives in the woods.")])
            for _ in range(2):
                rag.search(QUERY, filter={"animal": "Wolpertinger"}, history=["Wolpertinger"])
            rag.ask(QUERY)
            rag.ground("The Wolpertinger lives.", question=QUERY)
            rag.feedback(rag.search(QUERY), used=["w.md"])
            with pytest.raises(ragpg.RagpgError):
                rag.search(QUERY, filter={"Wolpertinger": {"like": 1}})
            with pytest.raises(ragpg.RagpgError):
                rag.search(QUERY, namespace="nowhere")
        with client(database, embedder=Broken(32)) as rag:
            rag.search(QUERY)
        failing = ScriptedGenerator([ProviderError(f"no answer to {QUERY}")], model="m")
        profile = Profile(hyde=True, variants=2)
        with client(database, generator=failing, profile=profile) as rag:
            assert rag.search(QUERY).report["hyde"].error
            with pytest.raises(ProviderError):
                rag.ask(QUERY)
        limits = ragpg.Settings(pool_timeout=1, connect_timeout=1)
        with client(wrong, settings=limits) as rag, pytest.raises(ragpg.RagpgError):
            rag.search(QUERY)
        service = ragpg.OpenAIEmbedder(base_url="http://127.0.0.1:1/v1", max_retries=0)
        with client(database, embedder=service) as rag:
            assert rag.search(QUERY).notes
    finally:
        log.removeHandler(handler)
        log.setLevel(before)
    told = stream.getvalue()
    events = [json.loads(line) for line in told.splitlines()]
    assert {"search", "ask", "ingest", "embed", "retrieve", "rerank", "generate"} <= {
        one.get("event") for one in events
    }
    search = next(one for one in events if one.get("event") == "search")
    assert search["namespaces"] == ["default"]
    assert search["ms"] > 0
    assert SECRET not in told
    assert "olpertinger" not in told


def test_costs_are_added_up_by_day_namespace_category_and_model(
    database: str, db: psycopg.Connection[Any]
) -> None:
    with client(database) as rag:
        report = rag.ingest(texts=TEXTS)
        assert report.usage.input_tokens == 13
        assert report.usage.cost_usd == pytest.approx(13 * 0.02 / 1e6)
        assert rag.ingest(texts=TEXTS).usage == Usage()
        rag.ingest(texts=[("c.md", "Odd shoes of refunds.")], namespace="other")
        rag.search("one two three")
        # Of a search in two namespaces each bears its share, and nothing is lost.
        rag.search("one two three", namespace=["default", "other"])
        asked = rag.ask("How long do refunds take?")
        assert db.execute("select count(*) from ragpg.usage").fetchone() == (0,)
        rag.flush_usage()
        found = {(one.namespace, one.category): one for one in rag.run(usage_of())}
        assert {one.item for one in found.values()} == {"rag:default", "rag:other"}
        assert found["default", "ingest"].input_tokens == 13
        first, second = found["default", "retrieval"], found["other", "retrieval"]
        assert (first.requests, second.requests) == (3, 0)
        assert (first.input_tokens, second.input_tokens) == (3 + 2 + 5, 1)
        told = found["default", "generation"]
        assert (told.model, told.output_tokens, told.unpriced) == ("gpt-4o-mini", 5, 0)
        spent = (told.cost_usd or 0) + (asked.result.usage.cost_usd or 0)
        assert asked.usage.cost_usd == pytest.approx(spent)
        bound = Binding(RagKnowledge(rag, "faq", "answers", ["default"]), "tool", 2)
        bound.call({"query": "four"})
        assert bound.costs == [pytest.approx(0.02 / 1e6)]
    [total] = db.execute(
        "select input_tokens from ragpg.usage_summary where category = 'retrieval'"
        " and namespace = 'default'"
    ).fetchone() or [None]
    assert total == 3 + 2 + 5 + 1
    with client(database, settings=ragpg.Settings()) as rag:
        rag.search("one two three")
        rag.flush_usage()
        assert sum(one.input_tokens for one in rag.run(usage_of("default"))) == (
            sum(one.input_tokens for name, one in found.items() if name[0] == "default") + 1
        )
        assert rag.run(reset_usage("other")) == 2
        assert rag.run(reset_usage()) == 3


def test_costs_are_seen_and_counted_by_those_who_may_use_the_namespace(
    database: str, db: psycopg.Connection[Any]
) -> None:
    name = f"usage_{secrets.token_hex(4)}"
    event = {"day": "2026-01-31", "category": "retrieval", "model": "m", "requests": 1,
             "input_tokens": 5, "output_tokens": 0, "cost_usd": 0.5, "unpriced": 0}  # fmt: skip
    events = json.dumps([event | {"namespace": one} for one in ("open", "closed", "gone")])
    for one in ("open", "closed"):
        db.execute("select ragpg.create_namespace(%s)", [one])
    db.execute("select ragpg.grant_namespace('closed', current_user)")
    assert db.execute("select ragpg.record_usage(%s)", [events]).fetchone() == (2,)
    db.execute(f"create role {name}; grant usage on schema ragpg to {name}".encode())
    db.execute(f"grant select on all tables in schema ragpg to {name}".encode())
    try:
        db.execute(f"set role {name}".encode())
        assert db.execute("select ragpg.record_usage(%s)", [events]).fetchone() == (1,)
        seen = db.execute("select item, requests, cost_usd from ragpg.usage_summary").fetchall()
        assert seen == [("rag:open", 2, 1)]
        bad = json.dumps([event | {"namespace": "open", "cost_usd": -9}])
        assert db.execute("select ragpg.record_usage(%s)", [bad]).fetchone() == (0,)
    finally:
        db.execute("reset role")
        db.execute(f"drop owned by {name}; drop role {name}".encode())


def test_a_stream_that_is_closed_early_is_no_error(
    database: str, spans: InMemorySpanExporter
) -> None:
    with client(database) as rag:
        rag.ingest(texts=TEXTS)
        spans.clear()
        stream = rag.ask_stream("How long do refunds take?")
        next(stream), next(stream)
        stream.close()
        assert facts(spans, "ask")["ragpg.closed"] is True
        assert named(spans, "ask").status.status_code.name == "UNSET"
        rag.flush_usage()
        assert "retrieval" in {one.category for one in rag.run(usage_of())}


def test_costs_that_cannot_be_written_harm_nobody(
    database: str, db: psycopg.Connection[Any], caplog: pytest.LogCaptureFixture
) -> None:
    with client(database) as rag:
        rag.ingest(texts=TEXTS)
        db.execute("alter table ragpg.usage rename to hidden")
        assert rag.search("refunds").hits
        rag.flush_usage()
        assert "usage was not written" in caplog.text
        db.execute("alter table ragpg.hidden rename to usage")
        rag.flush_usage()
        assert {one.category for one in rag.run(usage_of())} == {"ingest", "retrieval"}


def test_prices_of_the_user_win_and_are_read_when_it_connects(
    database: str, tmp_path: Path
) -> None:
    table = tmp_path / "prices.toml"
    table.write_text('[chat]\n"gpt-4o-mini" = { input = 0, output = 1000000 }\n')
    with client(database, settings=ragpg.Settings(prices=str(table))) as rag:
        rag.ingest(texts=TEXTS)
        asked = rag.ask("How long do refunds take?")
        searched = asked.result.usage.cost_usd or 0
        assert (asked.usage.cost_usd or 0) - searched == pytest.approx(5)
        assert searched == pytest.approx(5 * 0.02 / 1e6)
    table.write_text('[chat]\n"gpt-4o-mini" = 3\n')
    os.utime(table, (1, 1))
    fresh = tmp_path / "other.toml"
    fresh.write_text(table.read_text())
    with pytest.raises(ConfigError, match="gpt-4o-mini"):
        client(database, settings=ragpg.Settings(prices=str(fresh)))


def test_the_ledger_splits_what_several_share() -> None:
    ledger = Ledger()
    usage = Usage(input_tokens=7, output_tokens=2, cost_usd=None)
    ledger.add([Spent(("a", "b", "c"), "retrieval", "m", usage)])
    flow = ledger.write()
    step: Any = next(flow)
    events = json.loads(step.parameters["events"])
    assert [one["input_tokens"] for one in events] == [3, 2, 2]
    assert [one["output_tokens"] for one in events] == [1, 1, 0]
    assert [(one["requests"], one["unpriced"]) for one in events] == [(1, 1), (0, 0), (0, 0)]


def test_without_opentelemetry_everything_goes_on() -> None:
    code = (
        "import sys; sys.modules['opentelemetry'] = None\n"
        "from ragpg.observe.stage import operation, stage\n"
        "from ragpg.steps import call, run\n"
        "flow = operation('x', stage('y', call(int, '7')), namespaces=['n'], category='c')\n"
        "print(run(flow, lambda step: step.function(*step.arguments)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "7"
