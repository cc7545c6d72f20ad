"""The search tool as a model sees it, over a real database."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.errors import ConfigError
from ragpg.testing import HashEmbedder
from ragpg.tools.calls import read_count
from ragpg.tools.search_tool import MOST, SearchTool
from ragpg.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from ragpg import Client

REFUND = "Refunds take 5 working days."


@pytest.fixture
def filled(rag: Client) -> Client:
    rag.ingest(
        texts=[{"source": "refunds.md", "text": REFUND, "metadata": {"year": 2024}}],
        namespace="handbook",
    )
    rag.ingest(texts=[("secret.md", "Refunds of the board are secret.")], namespace="board")
    return rag


def ask(rag: Client, tool: SearchTool, **arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Toolbox(rag, [tool]).call(tool.name, json.dumps(arguments)))
    return found


def test_a_call_is_answered_with_what_a_model_needs_to_cite(filled: Client) -> None:
    found = ask(filled, SearchTool(["handbook"]), query="How long do refunds take?")
    [passage] = found["results"]
    assert passage["rank"] == 1
    assert (passage["namespace"], passage["source"]) == ("handbook", "refunds.md")
    assert (passage["chunk_idx"], passage["content"]) == (0, REFUND)
    assert passage["metadata"]["year"] == 2024
    assert 0 < passage["similarity"] <= 1
    bare = ask(filled, SearchTool(["handbook"], include_metadata=False), query="refunds")
    assert "metadata" not in bare["results"][0]


def test_the_allow_list_holds_whatever_the_model_asks_for(filled: Client) -> None:
    tool = SearchTool(["handbook"])
    found = ask(filled, tool, query="refunds", namespaces=["board", "handbook"])
    assert [one["namespace"] for one in found["results"]] == ["handbook"]
    assert found["notes"] == ["not searched, because not allowed: board"]
    refused = ask(filled, tool, query="refunds", namespaces=["board"])
    assert "results" not in refused
    assert "'board'" in refused["error"]
    assert "'handbook'" in refused["error"]


def test_a_namespace_that_does_not_exist_is_said_so(filled: Client) -> None:
    found = ask(filled, SearchTool(["handbook", "gone"]), query="refunds")
    assert "gone" in found["error"]


def test_the_tools_own_filter_is_never_lifted(filled: Client) -> None:
    tool = SearchTool(["handbook"], filter={"year": 2020})
    assert ask(filled, tool, query="refunds")["results"] == []
    assert ask(filled, tool, query="refunds", filter={"year": 2024})["results"] == []
    assert len(ask(filled, SearchTool(["handbook"]), query="refunds",
                   filter={"year": 2024})["results"]) == 1  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("{", "not JSON"),
        ("[]", "must be a JSON object"),
        ("{}", "query must be a text"),
        ('{"query": " "}', "query must be a text"),
        ('{"query": "x", "top_k": "many"}', "top_k must be a whole number"),
        ('{"query": "x", "top_k": 1.5}', "top_k must be a whole number"),
        ('{"query": "x", "namespaces": 3}', "namespaces must be a list"),
        ('{"query": "x", "filter": 3}', "filter must be an object"),
        ('{"query": "x", "filter": {"year": {"about": 3}}}', "about"),
    ],
)
def test_nonsense_of_a_model_comes_back_as_an_error_it_can_mend(
    filled: Client, arguments: str, said: str
) -> None:
    tools = Toolbox(filled, [SearchTool(["handbook"])])
    assert said in json.loads(tools.call("knowledge_search", arguments))["error"]


def test_top_k_is_held_between_one_and_fifty() -> None:
    tool = SearchTool(["a"], top_k=7)
    counts = [tool.read({"query": "x", "top_k": k}).k for k in (None, 0, 3, "4", 5.0, 1000)]
    assert counts == [7, 1, 3, 4, 5, MOST]
    # Every tool reads a count alike: models write 3, "3" and 3.0.
    assert [read_count("recall", "k", k, 20) for k in (None, "3", 3.0, 99, -1)] == [
        None, 3, 3, 20, 1,
    ]  # fmt: skip


def test_an_unknown_tool_and_two_of_one_name_are_refused(filled: Client) -> None:
    tools = Toolbox(filled, [SearchTool(["handbook"], name="rag_search")])
    assert "rag_search" in json.loads(tools.call("knowledge_search", "{}"))["hint"]
    with pytest.raises(ConfigError, match="same name"):
        Toolbox(filled, [SearchTool(["a"]), SearchTool(["b"])])


@pytest.mark.parametrize("wrong", [{"namespaces": []}, {"namespaces": "handbook"},
                                   {"namespaces": ["a"], "top_k": 51},
                                   {"namespaces": ["a"], "default_namespaces": ["b"]}])  # fmt: skip
def test_a_tool_that_is_set_up_wrongly_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="tool knowledge_search"):
        SearchTool(**wrong)


def test_the_definition_is_a_strict_schema_that_names_what_is_allowed() -> None:
    definition = SearchTool(["handbook", "faq"], default_namespaces=["faq"]).definition()
    schema = definition["function"]["parameters"]
    assert schema["properties"]["namespaces"]["items"]["enum"] == ["handbook", "faq"]
    assert "faq." in schema["properties"]["namespaces"]["description"]
    assert schema["required"] == ["query"]
    assert schema["additionalProperties"] is False


def test_the_async_client_answers_the_same(filled: Client, database: str) -> None:
    tool = SearchTool(["handbook"])

    async def call() -> str:
        async with ragpg.aconnect(database, embedder=HashEmbedder(32)) as rag:
            return await Toolbox(rag, [tool]).acall("knowledge_search", {"query": "refunds"})

    assert json.loads(asyncio.run(call())) == ask(filled, tool, query="refunds")
