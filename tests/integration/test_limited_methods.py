"""Every public method of every client, limited to one namespace: another one is neither read nor
changed, whether it is named or nothing is named at all. The client is the owner's, whom no policy
binds."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from ragpg.client import Client
from ragpg.errors import ConfigError, NamespaceNotFound
from ragpg.feedback.feedback import Feedback
from ragpg.graph import analysis
from ragpg.graph.graph import Graph
from ragpg.jobs.queries import CLAIM_JOBS, OPEN_JOBS
from ragpg.jobs.queue import Queue
from ragpg.observe import ledger
from ragpg.reembed import client as reembed
from ragpg.steps import fetch, fetch_one
from ragpg.testing import HashEmbedder, ScriptedGenerator

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    Database = psycopg.Connection[Any]

#: Of the other namespace: its name, and a word that only its texts have.
BLUE, SECRET = "blue", "cobalt"
X = [("x.md", "X.")]


def model() -> ScriptedGenerator:
    return ScriptedGenerator(["x"])


#: Refused, as if the namespace were not there.
REFUSED: dict[str, Callable[[Client, list[int]], Any]] = {
    "Client.search": lambda rag, _: rag.search("plan", namespace=BLUE),
    "Client.ask": lambda rag, _: rag.ask("plan?", namespace=BLUE, generator=model()),
    "Client.ask_stream": lambda rag, _: list(
        rag.ask_stream("plan?", namespace=BLUE, generator=model())
    ),
    "Client.ground": lambda rag, _: rag.ground("The plan is cobalt.", namespace=BLUE),
    "Client.fetch": lambda rag, _: rag.fetch(namespace=BLUE),
    "Client.delete": lambda rag, _: rag.delete("plan.md", namespace=BLUE),
    "Client.drop_namespace": lambda rag, _: rag.drop_namespace(BLUE),
    "Client.ingest": lambda rag, _: rag.ingest(texts=X, namespace=BLUE),
    "Client.create_namespace": lambda rag, _: rag.create_namespace("another"),
    "Client.fill_sentences": lambda rag, _: rag.fill_sentences(BLUE),
    "Client.search_global": lambda rag, _: rag.search_global("plan", namespace=BLUE),
    "Client.enqueue": lambda rag, _: rag.enqueue(texts=X, namespace=BLUE),
    "Queue.enqueue": lambda rag, _: Queue(rag).enqueue(texts=X, namespace=BLUE),
    "Queue.retry of a namespace": lambda rag, _: Queue(rag).retry(BLUE),
    "Queue.delete of a namespace": lambda rag, _: Queue(rag).delete(namespace=BLUE, state="done"),
    "Feedback.reset": lambda rag, _: Feedback(rag).reset(BLUE),
    "Feedback.switch": lambda rag, _: Feedback(rag).switch(BLUE, enabled=False),
    "Graph.around": lambda rag, _: Graph(rag, BLUE).around("plan.md"),
    "Graph.analyse": lambda rag, _: Graph(rag, BLUE).analyse(),
    "Graph.rank": lambda rag, _: Graph(rag, BLUE).rank(),
    "Graph.rebuild": lambda rag, _: Graph(rag, BLUE).rebuild(),
    "Graph.status": lambda rag, _: Graph(rag, BLUE).status(),
    "ledger.reset_usage of a namespace": lambda rag, _: rag.run(ledger.reset_usage(BLUE)),
    "reembed.build": lambda rag, _: reembed.build(rag, BLUE, HashEmbedder(16)),
    "reembed.fill_missing": lambda rag, _: reembed.fill_missing(rag, BLUE),
    "reembed.switch": lambda rag, _: reembed.switch(rag, BLUE),
    "reembed.drop": lambda rag, _: reembed.drop(rag, BLUE),
    "reembed.spaces": lambda rag, _: reembed.spaces(rag, BLUE),
    "analysis.status of a namespace": lambda rag, _: rag.run(analysis.status([BLUE])),
    "analysis.stale of a namespace": lambda rag, _: rag.run(analysis.stale([BLUE])),
    "analysis.analyse": lambda rag, _: rag.run(analysis.analyse(BLUE)),
    "analysis.refresh": lambda rag, _: rag.run(analysis.refresh(BLUE)),
    "analysis.rank": lambda rag, _: rag.run(analysis.rank(BLUE)),
    "analysis.rebuild": lambda rag, _: rag.run(analysis.rebuild(BLUE)),
}
#: Done for what is allowed, and without the other namespace.
LEFT_OUT: dict[str, Callable[[Client, list[int]], Any]] = {
    "Client.namespaces": lambda rag, _: rag.namespaces(),
    "Queue.jobs": lambda rag, _: Queue(rag).jobs(),
    "Queue.jobs of a namespace": lambda rag, _: Queue(rag).jobs(BLUE),
    "Queue.progress": lambda rag, _: Queue(rag).progress(),
    "Queue.progress of a namespace": lambda rag, _: Queue(rag).progress(BLUE),
    "Queue.retry": lambda rag, _: Queue(rag).retry(),
    "Queue.retry of a job": lambda rag, jobs: Queue(rag).retry(ids=jobs),
    "Queue.delete": lambda rag, _: Queue(rag).delete(state="waiting"),
    "Queue.delete of a job": lambda rag, jobs: Queue(rag).delete(jobs),
    "Feedback.summary": lambda rag, _: Feedback(rag).summary(BLUE),
    "ledger.usage_of": lambda rag, _: rag.run(ledger.usage_of()),
    "ledger.usage_of a namespace": lambda rag, _: rag.run(ledger.usage_of(BLUE)),
    "ledger.reset_usage": lambda rag, _: rag.run(ledger.reset_usage()),
    "analysis.status": lambda rag, _: rag.run(analysis.status()),
    "analysis.stale": lambda rag, _: rag.run(analysis.stale()),
}
#: Of the whole database, so of no client that is limited.
WHOLE: dict[str, Callable[[Client, list[int]], Any]] = {
    "Client.doctor": lambda rag, _: rag.doctor(),
    "Client.prune_embedding_cache": lambda rag, _: rag.prune_embedding_cache(0),
}
#: They name no namespace and read none: what they are given decides, or nothing is done.
NEITHER = {
    "Client.feedback", "Client.flush_feedback", "Client.flush_usage", "Client.limited_to",
    "Client.run", "Client.close",
    # These need the extension age; see the tests of it.
    "Graph.cypher", "Graph.sync",
}  # fmt: skip
CLAIM = {"worker": "me", "k": 100, "lease": 60.0, "folders": [], "refused": []}


def methods(owner: type | ModuleType) -> set[str]:
    """The public methods of a class, or the public functions of a module but the async twins."""
    name = owner.__name__.rpartition(".")[2]
    where = "reembed" if owner is reembed else name
    return {
        f"{where}.{key}"
        for key, value in vars(owner).items()
        if inspect.isfunction(value)
        and not key.startswith("_")
        and value.__module__ == (owner.__module__ if isinstance(owner, type) else owner.__name__)
        and not inspect.iscoroutinefunction(value)
    }


def everything_of(db: Database, namespace: str) -> dict[str, list[Any]]:
    """All rows of a namespace, by table."""
    tables = db.execute(
        "select attrelid::regclass::text from pg_attribute join pg_class on pg_class.oid = attrelid"
        " where relnamespace = 'ragpg'::regnamespace and relkind in ('r', 'p')"
        " and not relispartition and attname = 'namespace_id' and not attisdropped"
    ).fetchall()
    found = {}
    for (table,) in tables:
        query = (
            f"select place::text from {table} as place join ragpg.namespace"
            " on namespace.id = place.namespace_id where namespace.name = %s order by 1"
        )
        found[table] = db.execute(query.encode(), [namespace]).fetchall()
    return found


@pytest.fixture
def filled(rag: Client, db: Database) -> Client:
    """red and blue, with documents, jobs in each state, feedback, what models cost and a memory."""
    for name, word in (("red", "crimson"), (BLUE, SECRET)):
        text = f"The plan is {word}. See [b](b.md)."
        rag.ingest(texts=[("plan.md", text), ("b.md", f"Of {word} too.")], namespace=name)
        rag.enqueue(
            texts=[(f"{state}.md", word) for state in ("waiting", "quarantined", "done")],
            namespace=name, priority=9 if name == BLUE else 0,
        )  # fmt: skip
        found = rag.search("plan", namespace=name)
        rag.feedback(found, used=[found.hits[0]])
        db.execute(
            "insert into ragpg.usage (namespace_id, day, category, model, requests, input_tokens,"
            " output_tokens, cost_usd, unpriced) select id, current_date, 'ask', 'm', 1, 1, 1, 1, 0"
            " from ragpg.namespace where name = %s",
            [name],
        )
        rag.create_namespace(f"{name}-memory", kind="memory")
        rag.ingest(texts=[("m.md", f"We like {word}.")], namespace=f"{name}-memory")
    rag.flush_feedback()
    for state in ("quarantined", "done"):
        db.execute(
            "update ragpg.job set state = %s, finished_at = now() where source = %s",
            [state, f"{state}.md"],
        )
    return rag


def jobs_of(db: Database, namespace: str) -> list[int]:
    query = "select id from ragpg.jobs where namespace = %s order by id"
    return [one for (one,) in db.execute(query, [namespace]).fetchall()]


def test_no_method_is_forgotten_here() -> None:
    known = {name.split(" ")[0] for name in [*REFUSED, *LEFT_OUT, *WHOLE, *NEITHER]}
    public = set().union(
        *(methods(one) for one in (Client, Queue, Feedback, Graph, ledger, analysis, reembed))
    )
    assert public == known


def test_no_method_of_a_limited_client_reaches_another_namespace(
    filled: Client, db: Database
) -> None:
    before, jobs = everything_of(db, BLUE), jobs_of(db, BLUE)
    assert {len(before[f"ragpg.{table}"]) for table in ("job", "feedback", "usage")} == {1, 2, 3}
    rag = filled.limited_to(["red"])
    for name, call in REFUSED.items():
        with pytest.raises(NamespaceNotFound):
            print(name, call(rag, jobs))
    for name, call in WHOLE.items():
        with pytest.raises(ConfigError, match="whole database"):
            print(name, call(rag, jobs))
    for name, call in LEFT_OUT.items():
        shown = repr(call(rag, jobs))
        assert BLUE not in shown, name
        assert SECRET not in shown, name
    assert everything_of(db, BLUE) == before
    # What is not another's was reached all the same.
    assert jobs_of(db, "red") != []
    assert db.execute("select count(*) from ragpg.usage").fetchone() == (1,)


def test_who_is_not_limited_sees_and_changes_all(filled: Client, db: Database) -> None:
    jobs = jobs_of(db, BLUE)
    for name in ("Queue.jobs", "Queue.progress", "Feedback.summary", "analysis.status"):
        assert BLUE in repr(LEFT_OUT[name](filled, jobs)), name
    assert LEFT_OUT["Queue.retry"](filled, jobs) == 2
    assert LEFT_OUT["Queue.delete of a job"](filled, jobs) == 3
    assert LEFT_OUT["ledger.reset_usage"](filled, jobs) == 2


def test_a_limited_worker_is_given_no_job_of_another_namespace(
    filled: Client, db: Database
) -> None:
    db.execute("update ragpg.job set state = 'waiting' where source = 'done.md'")
    # One of each whose worker stopped answering: only that of red is taken over.
    db.execute(
        "update ragpg.job set state = 'running', worker = 'gone', lease_until = now() - interval"
        " '1 hour', started_at = now() where source = 'done.md'"
    )
    before = everything_of(db, BLUE)["ragpg.job"]
    rag = filled.limited_to(["red"])
    given = [one for _ in range(5) for one in rag.run(fetch(CLAIM_JOBS, CLAIM))]
    assert {(one.namespace, one.content) for one in given} == {("red", "crimson")}
    assert sorted(one.source for one in given) == ["done.md", "waiting.md"]
    assert everything_of(db, BLUE)["ragpg.job"] == before
    limits: dict[str, Any] = {"folders": [], "refused": []}
    db.execute("delete from ragpg.job where namespace_id <> all (ragpg.namespace_ids('{blue}'))")
    assert rag.run(fetch_one(OPEN_JOBS, limits)) == (False, False)
    assert filled.run(fetch_one(OPEN_JOBS, limits)) == (True, False)
    # blue waits before red, so who is not limited is given it first.
    assert {one.namespace for one in filled.run(fetch(CLAIM_JOBS, CLAIM))} == {BLUE}


def test_no_view_shows_another_namespace(filled: Client, database: str) -> None:
    with psycopg.connect(database) as owner:
        views = owner.execute(
            "select table_name, column_name from information_schema.columns join pg_views on"
            " schemaname = table_schema and viewname = table_name where table_schema = 'ragpg'"
            " and (column_name = 'namespace' or table_name = 'namespaces' and column_name = 'name')"
        ).fetchall()
        assert ("memories", "namespace") in views

        def shown(view: str, column: str) -> set[str]:
            query = f"select distinct {column} from ragpg.{view}"
            return {one for (one,) in owner.execute(query.encode()).fetchall()}

        for view, column in views:
            assert shown(view, column) & {BLUE, "blue-memory"}, view
        owner.execute("set local ragpg.allowed_namespaces = '{red,red-memory}'")
        for view, column in views:
            found = shown(view, column)
            assert found, view
            assert found <= {"red", "red-memory"}, view
    assert filled.namespaces()
