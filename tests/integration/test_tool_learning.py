"""What later searches learn from the tools of an agent: only what a checked answer was written from."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.errors import ConfigError
from ragpg.feedback.feedback import Feedback
from ragpg.testing import HashEmbedder
from ragpg.tools.ground_tool import GroundTool
from ragpg.tools.learning import Learning
from ragpg.tools.memory_tools import memory_tools
from ragpg.tools.search_tool import SearchTool
from ragpg.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from ragpg import Client

TEXTS = {
    "refunds.md": "Refunds of the shop take 14 days.",
    "parcels.md": "Parcels of the shop leave at noon.",
    "cards.md": "Gift cards of the shop never expire.",
    "hours.md": "The shop opens at nine in the morning.",
    "staff.md": "The staff of the shop wear green aprons.",
}
SEARCH = SearchTool(["handbook"])


@pytest.fixture
def shop(rag: Client) -> Client:
    rag.ingest(texts=list(TEXTS.items()), namespace="handbook")
    return rag


def search(tools: Toolbox) -> str:
    found = json.loads(tools.call("knowledge_search", {"query": "the shop", "top_k": 5}))
    assert len(found["results"]) == 5
    return str(found["search_id"])


def learned(rag: Client) -> dict[str, tuple[float, float]]:
    """Showings and follows by source."""
    return {one.source: (one.shown, one.followed) for one in Feedback(rag).summary("handbook")}


def test_the_passage_that_carries_the_answer_is_followed_and_the_others_were_shown(
    shop: Client,
) -> None:
    tools = Toolbox(shop, [SEARCH], learn=True)
    search(tools)
    assert learned(shop) == {}
    assert tools.answered("Refunds of the shop take 14 days.") == 1
    expected = dict.fromkeys(TEXTS, (1, 0)) | {"refunds.md": (1, 1)}
    assert learned(shop) == expected
    # A search counts once, however often somebody reports on it.
    assert tools.answered("Parcels of the shop leave at noon.") == 0
    assert learned(shop) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "I read refunds.md and parcels.md. See [1], [2] and [3].",
        "Refunds of the shop take 90 days.",
        "Zebras live in Africa.",
        "",
    ],
)
def test_having_been_read_or_named_earns_nothing(shop: Client, answer: str) -> None:
    tools = Toolbox(shop, [SEARCH], learn=True)
    search(tools)
    assert tools.answered(answer) == 0
    assert all(followed == 0 for _, followed in learned(shop).values())


def test_an_answer_that_copies_everything_teaches_three_at_most(shop: Client) -> None:
    tools = Toolbox(shop, [SEARCH], learn=True)
    search(tools)
    assert tools.answered(" ".join(TEXTS.values())) == 3
    assert sum(followed for _, followed in learned(shop).values()) == 3


def test_the_model_reports_by_the_tool_and_only_on_searches_it_knows(shop: Client) -> None:
    tools = Toolbox(shop, [SEARCH, GroundTool(SEARCH), *memory_tools("helper")], learn=True)
    mine, other = search(tools), search(tools)
    told: dict[str, Any] = {"answer": TEXTS["cards.md"], "searches": [mine, "guessed"]}
    assert json.loads(tools.call("ground", told))["state"] == "grounded"
    assert learned(shop)["cards.md"] == (1, 1)
    again = json.loads(tools.call("ground", told))
    assert again["notes"] == ["no search with such an id waits for an answer"]
    assert learned(shop)["cards.md"] == (1, 1)
    assert tools.answered(TEXTS["cards.md"], searches=[other]) == 1
    assert learned(shop)["cards.md"] == (2, 2)


def test_nothing_is_learned_unless_asked_for(shop: Client) -> None:
    tools = Toolbox(shop, [SEARCH, GroundTool(SEARCH)])
    assert "search_id" not in json.loads(tools.call("knowledge_search", {"query": "the shop"}))
    tools.call("ground", {"answer": TEXTS["cards.md"]})
    assert learned(shop) == {}
    with pytest.raises(ConfigError, match="learns nothing"):
        tools.answered("x")


def test_the_async_client_learns_the_same(shop: Client, database: str) -> None:
    async def run() -> int:
        async with ragpg.aconnect(database, embedder=HashEmbedder(32)) as rag:
            tools = Toolbox(rag, [SEARCH], learn=True)
            await tools.acall("knowledge_search", {"query": "the shop", "top_k": 5})
            return await tools.aanswered(TEXTS["refunds.md"])

    assert asyncio.run(run()) == 1
    assert learned(shop)["refunds.md"] == (1, 1)


def test_searches_that_nobody_reports_on_are_given_up(shop: Client) -> None:
    result = shop.search("the shop", namespace="handbook")
    few = Learning(most=2)
    first, *rest = [few.show(result) for _ in range(3)]
    assert few.waiting() == rest
    assert few.shown([first]) is None
    late = Learning(seconds=0.0)
    assert late.shown([late.show(result)]) is None


def test_memory_tools_answer_a_chat_model(shop: Client) -> None:
    tools = Toolbox(shop, [SEARCH, *memory_tools("helper")])
    assert tools.risks() == {
        "knowledge_search": "read", "remember": "write", "recall": "read", "forget": "delete",
    }  # fmt: skip
    names = [one["function"]["name"] for one in tools.definitions()]
    assert names == ["knowledge_search", "remember", "recall", "forget"]
    kept = json.loads(tools.call("remember", {"text": "I live in Berlin.", "key": ""}))
    moved = json.loads(tools.call("remember", '{"text": "I moved to Hamburg."}'))
    assert [one["source"] for one in moved["no_longer_current"]] == [kept["source"]]
    block = json.loads(tools.call("recall", {"query": "I moved to Hamburg", "k": 99}))["memories"]
    assert "Hamburg" in block
    assert "Berlin" not in block
    for name, wrong in (("remember", {"text": 3}), ("recall", {"query": "x", "k": "many"}),
                        ("recall", {"query": "x", "k": 1.5}), ("forget", {"sources": ""}),
                        ("forget", {"sources": 7}), ("remember", "{"), ("remember", "[]"),
                        ("remember", {"text": "x", "agent": "other"})):  # fmt: skip
        assert "error" in json.loads(tools.call(name, wrong)), (name, wrong)
    assert json.loads(tools.call("forget", {"sources": kept["source"]})) == {"forgotten": 1}
    with pytest.raises(ConfigError, match="name of its agent"):
        memory_tools(" ")
