"""Haystack's own tests of document stores, and what they leave open."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.errors import ConfigError
from ragpg.testing import HashEmbedder

pytest.importorskip("haystack")

from haystack import Document, Pipeline
from haystack.components.builders import PromptBuilder
from haystack.components.writers import DocumentWriter
from haystack.document_stores.errors import DocumentStoreError, DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy, FilterPolicy
from haystack.errors import FilterError
from haystack.testing.document_store import (
    CountDocumentsByFilterTest,
    DocumentStoreBaseExtendedTests,
)
from haystack.utils import Secret

from ragpg.adapters.haystack import RagpgDocumentStore
from ragpg.adapters.haystack_filters import translate
from ragpg.adapters.haystack_retriever import RagpgRetriever

if TYPE_CHECKING:
    from ragpg import Client

MODULES = ["ragpg.adapters.haystack", "ragpg.adapters.haystack_retriever"]
YEAR = {"field": "meta.year", "operator": ">=", "value": 2023}


@pytest.fixture
def document_store(rag: Client) -> RagpgDocumentStore:
    return RagpgDocumentStore(namespace="haystack", client=rag)


@pytest.fixture
def filled(document_store: RagpgDocumentStore) -> RagpgDocumentStore:
    texts = ["Refunds took 30 days.", "Refunds take 14 days.", "Parcels leave at noon."]
    document_store.write_documents(
        [Document(id=str(n), content=text, meta={"year": 2022 + n}) for n, text in enumerate(texts)]
    )
    return document_store


class TestDocumentStore(DocumentStoreBaseExtendedTests, CountDocumentsByFilterTest):
    """The tests that every document store of Haystack has to pass."""

    @pytest.fixture
    def document_store(self, rag: Client) -> RagpgDocumentStore:
        return RagpgDocumentStore(namespace="haystack", client=rag)

    @staticmethod
    def assert_documents_are_equal(received: list[Document], expected: list[Document]) -> None:
        """By id, and without embeddings, which are the store's own affair."""

        def plain(documents: list[Document]) -> list[tuple[Any, ...]]:
            return sorted((one.id, one.content, sorted(one.meta.items())) for one in documents)

        assert plain(received) == plain(expected)

    def test_write_documents(self, document_store: RagpgDocumentStore) -> None:
        documents = [Document(content="one"), Document(content="two")]
        assert document_store.write_documents(documents) == 2
        self.assert_documents_are_equal(document_store.filter_documents(), documents)
        with pytest.raises(DuplicateDocumentError):
            document_store.write_documents(documents)


def test_a_pipeline_writes_retrieves_and_builds_a_prompt(
    document_store: RagpgDocumentStore,
) -> None:
    writing = Pipeline()
    writing.add_component("writer", DocumentWriter(document_store))
    texts = ["Refunds take 14 days.", "Parcels leave at noon."]
    documents = [Document(content=text, meta={"n": n}) for n, text in enumerate(texts)]
    assert writing.run({"writer": {"documents": documents}})["writer"]["documents_written"] == 2

    asking = Pipeline()
    asking.add_component("retriever", RagpgRetriever(document_store, top_k=1))
    template = "{% for one in documents %}{{ one.content }} ({{ one.meta.lines }}){% endfor %}"
    asking.add_component("prompt", PromptBuilder(template, required_variables="*"))
    asking.connect("retriever.documents", "prompt.documents")
    asked = {"retriever": {"query": "how many days do refunds take"}}
    found = asking.run(asked, include_outputs_from={"retriever"})
    assert found["prompt"]["prompt"] == "Refunds take 14 days. ([1, 1])"
    [document] = found["retriever"]["documents"]
    assert document.id == documents[0].id
    assert document.meta["arms"]["vector"]["rank"] == 1
    assert document.score > 0


def test_a_retriever_replaces_or_joins_filters(filled: RagpgDocumentStore) -> None:
    def found(policy: FilterPolicy, filters: dict[str, Any] | None) -> set[str]:
        retriever = RagpgRetriever(filled, filters=YEAR, filter_policy=policy)
        return {one.id for one in retriever.run("refunds", filters)["documents"]}

    some = {"field": "id", "operator": "in", "value": ["0", "1"]}
    assert found(FilterPolicy.REPLACE, None) == {"1", "2"}
    assert found(FilterPolicy.REPLACE, some) == {"0", "1"}
    assert found(FilterPolicy.MERGE, some) == {"1"}
    retriever = RagpgRetriever(filled)
    vector = HashEmbedder(32).embed_query("Parcels leave at noon.")
    again = asyncio.run(retriever.run_async("refunds", top_k=3, query_embedding=vector))
    assert {one.meta["arms"]["vector"]["rank"]: one.id for one in again["documents"]}[1] == "2"


def test_a_pipeline_survives_a_file(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_DSN", database)
    store = RagpgDocumentStore(Secret.from_env_var("SHOP_DSN"), "shop", embedder="hash")
    store.write_documents([Document(id="1", content="Refunds take 14 days.")])
    pipeline = Pipeline()
    retriever = RagpgRetriever(store, filters=YEAR, filter_policy=FilterPolicy.MERGE, top_k=2)
    pipeline.add_component("retriever", retriever)
    written = pipeline.dumps()
    assert database not in written
    again: Any = Pipeline.loads(written, allowed_modules=MODULES).get_component("retriever")
    assert again.to_dict() == retriever.to_dict()
    again.filters = None
    assert [one.id for one in again.run("refunds")["documents"]] == ["1"]
    again.document_store.close()
    store.close()


def test_a_store_with_a_client_says_why_it_is_not_written(filled: RagpgDocumentStore) -> None:
    with pytest.raises(ConfigError, match="cannot be serialised"):
        filled.to_dict()
    with pytest.raises(ConfigError, match="RagpgDocumentStore"):
        RagpgRetriever("nothing")  # type: ignore[arg-type]


def test_the_async_methods_are_those_awaited(document_store: RagpgDocumentStore) -> None:
    async def use() -> tuple[int, int, list[str], int]:
        documents = [Document(id="1", content="one"), Document(id="2", content="two")]
        written = await document_store.write_documents_async(documents, DuplicatePolicy.SKIP)
        again = await document_store.write_documents_async(documents, DuplicatePolicy.SKIP)
        await document_store.delete_documents_async(["1"])
        left = [one.id for one in await document_store.filter_documents_async()]
        return written, again, left, await document_store.count_documents_async()

    assert asyncio.run(use()) == (2, 0, ["2"], 1)


def test_blank_and_broken_documents(document_store: RagpgDocumentStore) -> None:
    documents = [Document(id="1", content=" "), Document(id="2", content="two")]
    assert document_store.write_documents(documents) == 1
    with pytest.raises(DocumentStoreError, match="3 was not stored"):
        document_store.write_documents(
            [Document(id="3", content="three", meta={"x": float("inf")})]
        )
    # One of several writes twice in a call.
    twice = [Document(id="4", content="four"), Document(id="4", content="vier")]
    with pytest.raises(DuplicateDocumentError):
        document_store.write_documents(twice, DuplicatePolicy.FAIL)
    assert document_store.write_documents(twice, DuplicatePolicy.SKIP) == 1
    found = document_store.filter_documents({"field": "id", "operator": "==", "value": "4"})
    assert [one.content for one in found] == ["four"]


def test_what_ragpg_cut_is_not_written_back(rag: Client) -> None:
    text = "\n\n".join(f"## Part {n}\n\nText of part {n}." for n in range(3))
    rag.ingest(texts=[("guide.md", text)], namespace="haystack", metadata={"year": 2024})
    store = RagpgDocumentStore(namespace="haystack", client=rag)
    assert [one.id for one in store.filter_documents(YEAR)] == [
        "guide.md",
        "guide.md#1",
        "guide.md#2",
    ]
    assert (store.count_documents(), store.count_documents_by_filter(YEAR)) == (1, 1)
    with pytest.raises(DocumentStoreError, match="several chunks"):
        store.update_by_filter(YEAR, {"seen": True})
    assert store.delete_by_filter(YEAR) == 1


@pytest.mark.parametrize(
    ("filters", "meant"),
    [
        (None, None),
        ({}, None),
        ({"field": "year", "operator": "==", "value": 1}, {"year": {"eq": 1}}),
        ({"field": "meta.a.b", "operator": "in", "value": [1]}, {"/a/b": {"in": [1]}}),
        ({"field": "meta.@x", "operator": "!=", "value": "y"}, {"/@x": {"ne": "y"}}),
        (
            {"field": "meta.when", "operator": "<", "value": "2024-01-01"},
            {"when": {"date": {"lt": "2024-01-01"}}},
        ),
        (
            {"operator": "NOT", "conditions": [YEAR]},
            {"not": {"and": [{"year": {"gte": 2023}}]}},
        ),
    ],
)
def test_filters_in_the_language_of_ragpg(
    filters: dict[str, Any] | None, meant: dict[str, Any] | None
) -> None:
    assert translate(filters) == meant


@pytest.mark.parametrize(
    "filters",
    [
        {"field": "content", "operator": "==", "value": "x"},
        {"field": "meta.x", "operator": "like", "value": "x"},
        {"field": "meta.x", "operator": ">", "value": "20240101"},
        {"field": "meta.x", "operator": ">", "value": True},
        {"operator": "XOR", "conditions": [YEAR]},
        {"operator": "AND", "conditions": []},
        {"operator": "AND", "conditions": ["x"]},
    ],
)
def test_filters_that_are_refused(filters: dict[str, Any]) -> None:
    with pytest.raises(FilterError):
        translate(filters)


def test_a_store_reads_the_address_of_the_environment(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ragpg.connect(database) as rag:
        rag.ingest(texts=[("1", "one")])
    monkeypatch.setenv("RAGPG_DSN", database)
    store = RagpgDocumentStore()
    assert store.count_documents() == 1
    store.close()
