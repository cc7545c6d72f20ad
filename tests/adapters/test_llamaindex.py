"""LlamaIndex: query engines over a ragpg retriever, with a model that only echoes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.errors import ConfigError, FilterError, NamespaceNotFound
from ragpg.testing import HashEmbedder

pytest.importorskip("llama_index.core")

from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, NodeRelationship, QueryBundle
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

from ragpg.adapters.llamaindex import RagpgRetriever, translate

if TYPE_CHECKING:
    from ragpg import Client

QUESTION = "How many days do refunds take?"


@pytest.fixture
def shop(rag: Client) -> Client:
    rag.ingest(
        texts=[
            {
                "source": "refund.md",
                "text": "# Money\n\nRefunds take 14 days.",
                "metadata": {"year": 2024},
            },
            {"source": "old.md", "text": "Refunds took 30 days once.", "metadata": {"year": 2019}},
            {"source": "parcel.md", "text": "Parcels leave at noon.", "metadata": {"year": 2024}},
        ],
        namespace="shop",
    )
    return rag


def test_a_node_says_where_it_stands_and_how_it_was_found(shop: Client) -> None:
    [found] = RagpgRetriever(shop, "shop", similarity_top_k=1).retrieve(QUESTION)
    [hit] = shop.search(QUESTION, namespace="shop", k=1).hits
    place = found.node.metadata
    assert (found.node.get_content(), found.score) == (hit.content, hit.score)
    assert (place["source"], place["lines"], place["year"]) == ("refund.md", [1, 3], 2024)
    assert place["arms"]["keyword"]["rank"] == 1
    assert found.node.node_id == "shop/refund.md#0"
    assert found.node.relationships[NodeRelationship.SOURCE].node_id == "shop/refund.md"
    for_the_model = found.node.get_content(MetadataMode.LLM)
    assert "source: refund.md" in for_the_model
    assert "arms" not in for_the_model


def test_a_query_engine_answers_from_what_was_found(shop: Client) -> None:
    retriever = RagpgRetriever(shop, "shop", similarity_top_k=2)
    engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM())
    for answer in (engine.query(QUESTION), asyncio.run(engine.aquery(QUESTION))):
        # The mock gives back its prompt.
        assert "Refunds take 14 days." in str(answer)
        assert QUESTION in str(answer)
        assert answer.source_nodes[0].node.metadata["source"] == "refund.md"


def test_a_query_engine_streams(shop: Client) -> None:
    retriever = RagpgRetriever(shop, "shop", similarity_top_k=1)
    reply: Any = RetrieverQueryEngine.from_args(retriever, llm=MockLLM(), streaming=True).query(
        QUESTION
    )
    assert "Refunds take 14 days." in "".join(reply.response_gen)


@pytest.mark.usefixtures("shop")
def test_an_async_client_is_awaited(database: str) -> None:
    async def use() -> list[str]:
        async with ragpg.aconnect(database, embedder=HashEmbedder(32)) as rag:
            retriever = RagpgRetriever(rag, "shop", similarity_top_k=3)
            with pytest.raises(ConfigError, match="synchronous"):
                retriever.retrieve(QUESTION)
            return [one.node.metadata["source"] for one in await retriever.aretrieve(QUESTION)]

    assert asyncio.run(use())[0] == "refund.md"


def test_filters_vectors_and_errors(shop: Client) -> None:
    new = MetadataFilters(filters=[MetadataFilter(key="year", value=2020, operator=">")])
    found = RagpgRetriever(shop, "shop", filter=new).retrieve(QUESTION)
    assert {one.node.metadata["year"] for one in found} == {2024}
    vector = HashEmbedder(32).embed_query("parcel.md\nParcels leave at noon.")
    [nearest] = RagpgRetriever(
        shop, "shop", similarity_top_k=1, search_options={"arms": ["vector"], "rerank": False}
    ).retrieve(QueryBundle("anything", embedding=vector))
    assert nearest.node.metadata["source"] == "parcel.md"
    with pytest.raises(NamespaceNotFound):
        RagpgRetriever(shop, "nowhere").retrieve(QUESTION)


def test_filters_in_the_language_of_ragpg() -> None:
    def one(key: str, operator: str, value: Any) -> MetadataFilter:
        return MetadataFilter(key=key, operator=operator, value=value)

    inner = MetadataFilters(filters=[one("a", "==", 1), one("@b", "nin", [2])], condition="or")
    nested = MetadataFilters(filters=[inner, one("t", "any", ["x"])], condition="not")
    assert translate(nested) == {
        "not": {
            "and": [
                {"or": [{"a": {"eq": 1}}, {"/@b": {"not_in": [2]}}]},
                {"t": {"contains_any": ["x"]}},
            ]
        }
    }
    assert translate(MetadataFilters(filters=[])) is None
    assert translate(MetadataFilters(filters=[one("a", "is_empty", None)])) == {
        "and": [{"or": [{"a": {"eq": None}}, {"a": {"eq": []}}]}]
    }
    with pytest.raises(FilterError, match="text_match"):
        translate(MetadataFilters(filters=[one("a", "text_match", "x")]))
