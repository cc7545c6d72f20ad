"""Arguments of a wrong type are named, and never end in an error of Python or of the driver."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

import pytest

from ragpg.errors import (
    ConfigError,
    DatabaseError,
    NamespaceNotFound,
    RagpgError,
    SchemaOutdated,
)
from ragpg.ingest.namespace import open_namespace
from ragpg.memory.memory import Memory
from ragpg.queries_store import CREATE_SPACE
from ragpg.steps import Call, run
from ragpg.testing import HashEmbedder, ScriptedGenerator
from ragpg.tools.search_tool import SearchTool
from ragpg.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from ragpg import Client

DEEP: Any = 1
for _ in range(3000):
    DEEP = {"not": DEEP}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"namespace": 3}, "namespace"),
        ({"namespace": [1]}, "namespace"),
        ({"filter": DEEP}, "nested"),
        ({"arms": 3}, "arms"),
        ({"embedding": 5}, "embedding"),
        ({"profile": 3}, "profile"),
        ({"profile": "a" * 5000}, "profile"),
        ({"answer": 4}, "answer"),
        ({"rerank": "heuristic"}, "str is no reranker"),
    ],
    ids=lambda value: str(list(value)) if isinstance(value, dict) else value,
)
def test_a_search(rag: Client, arguments: dict[str, Any], named: str) -> None:
    rag.create_namespace("default")
    with pytest.raises(ConfigError, match=named):
        rag.search("refunds", **arguments)


def test_options_of_a_retriever_that_are_no_mapping(database: str) -> None:
    import ragpg

    class News:
        name = "news"

        def retrieve(self, query: str, k: int, filter: Any) -> list[Any]:
            return []

    with (
        ragpg.connect(database, retrievers=[News()]) as rag,
        pytest.raises(ConfigError, match="news"),
    ):
        rag.search("refunds", arms={"news": 3})


def test_documents_and_answers(rag: Client) -> None:
    given: Any
    rag.create_namespace("default")
    for given in (3, [3], b"a.md"):
        with pytest.raises(ConfigError, match="sources"):
            rag.fetch(given)
        with pytest.raises(ConfigError, match="sources"):
            rag.delete(given)
    for given in (-1, 2**40, "x", True):
        with pytest.raises(ConfigError, match="k must be"):
            rag.fetch(k=given)
    given = 3
    with pytest.raises(ConfigError, match="answer"):
        rag.ground(given, question="refunds")
    with pytest.raises(DatabaseError, match=r"no database takes: '\\x00'") as refused:
        rag.delete(["a\0"])
    assert refused.value.hint


def test_memory(rag: Client) -> None:
    given: Any = 4
    with pytest.raises(ConfigError, match="agent"):
        Memory(rag, given)
    with pytest.raises(ConfigError, match="key"):
        Memory(rag, "helper").remember("Green.", key=given)


@pytest.mark.parametrize(
    "arguments",
    [
        '{"query": "x", "top_k": NaN}',
        '{"query": "x", "top_k": -Infinity}',
        "[" * 100_000,
        '{"query": "x", "filter": ' + '{"not": ' * 5000 + "1" + "}" * 5000 + "}",
    ],
    ids=lambda text: text[:26],
)
def test_a_model_is_told_what_it_wrote_wrong(rag: Client, arguments: str) -> None:
    rag.create_namespace("default")
    said = json.loads(Toolbox(rag, [SearchTool(["default"])]).call("knowledge_search", arguments))
    assert said["error"]


def test_a_model_may_write_half_of_a_surrogate_pair(rag: Client) -> None:
    rag.create_namespace("default")
    tools = Toolbox(rag, [SearchTool(["default"])])
    said = tools.call("knowledge_search", '{"query": "plan \\ud800"}')
    assert json.loads(said.encode())["query"] == "plan ?"


def test_a_namespace_that_is_dropped_while_it_is_opened() -> None:
    def perform(step: Any) -> Any:
        if isinstance(step, Call):
            return step.function(*step.arguments)
        return [1] if step.query is CREATE_SPACE else []

    flow = open_namespace("gone", "english", HashEmbedder(8), create=True)
    with pytest.raises(NamespaceNotFound, match="gone"):
        run(flow, perform)


def test_no_chat_model_is_asked_with_a_wrong_question(rag: Client) -> None:
    model = ScriptedGenerator("x")
    question: Any = 4
    with pytest.raises(RagpgError, match="text"):
        rag.ask(question, generator=model)


WRONG: tuple[Any, ...] = (4, 4.5, [4], {"a": 1}, b"x", True, float("nan"), -3, object(), "a\0b")


@pytest.mark.parametrize(
    "method",
    ["create_namespace", "drop_namespace", "delete", "fetch", "fill_sentences", "ingest", "enqueue",
     "search", "search_global", "ask", "ground", "feedback"],
)  # fmt: skip
def test_every_argument_of_every_method_is_refused_as_ours(rag: Client, method: str) -> None:
    """Neither an error of Python nor one that says that the schema is old."""
    rag.ingest(texts=[("a.md", "Refunds take 14 days.")])
    shown = rag.search("refunds")
    known: dict[str, Any] = {
        "name": "default", "query": "refunds", "question": "refunds", "sources": "a.md",
        "answer": "Refunds take 14 days.", "shown": shown,
    }  # fmt: skip
    function = getattr(rag, method)
    parameters = inspect.signature(function).parameters.values()
    needed = {one.name: known[one.name] for one in parameters
              if one.default is one.empty and one.name in known}  # fmt: skip
    bad = []
    for one in parameters:
        # A callback is called, a model is asked: what they are is seen then.
        if one.kind is one.VAR_KEYWORD or one.name in ("on_file", "on_step", "chunker", "generator",
                                                       "seconds", "root"):  # fmt: skip
            continue
        for value in WRONG:
            try:
                function(**(needed | {one.name: value}))
            except RagpgError as error:
                if isinstance(error, SchemaOutdated) or "adapt" in str(error):
                    bad.append(f"{one.name}={value!r}: {error}")
            except Exception as error:
                bad.append(f"{one.name}={value!r}: {error!r}")
    assert bad == []


def test_a_tool_refuses_an_argument_that_it_has_not(rag: Client) -> None:
    rag.ingest(texts=[("a.md", "Refunds take 14 days.")])
    tools = Toolbox(rag, [SearchTool(["default"])])
    said = json.loads(tools.call("knowledge_search", {"query": "refunds", "filtr": {"year": 1}}))
    assert "no argument 'filtr'" in said["error"]
    assert said["hint"] == "Did you mean filter?"
    with pytest.raises(ConfigError, match="no argument"):
        SearchTool(["default"]).read({"query": "x", "namespace": "board"})


def test_a_blank_query_does_not_hide_an_unknown_namespace(rag: Client) -> None:
    rag.create_namespace("default")
    assert rag.search(" ").hits == []
    for arguments in ({"query": "", "k": 3}, {"query": "x", "k": 0}):
        with pytest.raises(NamespaceNotFound, match="nope"):
            rag.search(**arguments, namespace=["default", "nope"])  # type: ignore[arg-type]
