"""LangChain's own standard tests, and what they leave open."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.errors import ConfigError, FilterError, LoadError, NamespaceNotFound
from ragpg.testing import FailingEmbedder, HashEmbedder

pytest.importorskip("langchain_tests")

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_tests.integration_tests import (
    RetrieversIntegrationTests,
    VectorStoreIntegrationTests,
)

from ragpg.adapters.langchain import RagpgRetriever
from ragpg.adapters.langchain_embeddings import LangChainEmbedder, RagpgEmbeddings
from ragpg.adapters.langchain_store import RagpgVectorStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragpg import Client

TEXTS = {
    "refund.md": "Refunds take 14 days.",
    "card.md": "A refund is paid to the card that paid.",
    "parcel.md": "Parcels leave on the day of the order.",
    "gift.md": "Gift cards never expire.",
}


@pytest.fixture
def store(rag: Client) -> RagpgVectorStore:
    store = RagpgVectorStore(rag, "shop")
    documents = [
        Document(id=id, page_content=text, metadata={"n": n, "words": len(text.split())})
        for n, (id, text) in enumerate(TEXTS.items())
    ]
    assert store.add_documents(documents) == list(TEXTS)
    return store


def test_a_retriever_says_where_a_document_stands(rag: Client) -> None:
    rag.ingest(texts=[("guide.md", "# Money\n\nRefunds take 14 days.")], metadata={"year": 2024})
    [found] = RagpgRetriever(client=rag, k=1).invoke("refund")
    assert found.page_content.endswith("Refunds take 14 days.")
    place = found.metadata
    assert (place["source"], place["namespace"], place["rank"]) == ("guide.md", "default", 1)
    assert (place["year"], place["lines"]) == (2024, [1, 3])
    assert place["arms"]["keyword"]["rank"] == 1


def test_a_retriever_takes_options_for_one_call(store: RagpgVectorStore, rag: Client) -> None:
    retriever = RagpgRetriever(client=rag, namespace="shop", k=1, search_options={"rerank": False})
    assert len(retriever.invoke("refund card")) == 1
    assert len(retriever.invoke("refund card", k=3)) == 3
    [found] = retriever.invoke("refund card", k=3, filter={"n": 1})
    assert found.id == "card.md"
    with pytest.raises(NamespaceNotFound):
        RagpgRetriever(client=rag, namespace="nowhere").invoke("refund")


def test_a_chain_is_given_what_was_found(store: RagpgVectorStore, rag: Client) -> None:
    def model(prompt: Any) -> str:
        return str(prompt.messages[0].content)

    retriever = RagpgRetriever(client=rag, namespace="shop", k=1)
    chain = (
        {
            "context": retriever | (lambda found: "\n".join(one.page_content for one in found)),
            "question": RunnablePassthrough(),
        }
        | ChatPromptTemplate.from_template("{question} <- {context}")
        | RunnableLambda(model)
        | StrOutputParser()
    )
    question = "How many days do refunds take?"
    said = f"{question} <- {TEXTS['refund.md']}"
    assert chain.invoke(question) == said
    assert asyncio.run(chain.ainvoke(question)) == said


def test_an_async_client_is_awaited_and_a_sync_call_of_it_refused(database: str) -> None:
    async def use() -> tuple[list[str], list[str], list[str | None], bool | None]:
        async with ragpg.aconnect(database, embedder=HashEmbedder(32)) as rag:
            store = RagpgVectorStore(rag, "shop")
            assert await store.asimilarity_search("refund") == []
            ids = await store.aadd_texts(list(TEXTS.values()), ids=list(TEXTS))
            with pytest.raises(ConfigError, match="synchronous"):
                store.similarity_search("refund")
            retriever = RagpgRetriever(client=rag, namespace="shop", k=2)
            found = [one.metadata["source"] for one in await retriever.ainvoke("refund days")]
            near = await store.asimilarity_search("refund days", k=2)
            varied = await store.amax_marginal_relevance_search("refund days", k=2)
            assert len(varied) == 2
            vector = HashEmbedder(32).embed_query(TEXTS["gift.md"])
            [gift] = await store.asimilarity_search_by_vector(vector, k=1)
            assert gift.id == "gift.md"
            gone = await store.adelete(["refund.md"])
            assert await store.aget_by_ids(["refund.md"]) == []
            return ids, found, [one.id for one in near], gone

    ids, found, near, gone = asyncio.run(use())
    assert ids == list(TEXTS)
    assert found == near
    assert found[0] == "refund.md"
    assert gone is True


def test_scores_fall_and_relevance_is_a_cosine(store: RagpgVectorStore) -> None:
    scored = store.similarity_search_with_score("refund to a card", k=3)
    scores = [score for _, score in scored]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    [(same, relevance), *rest] = store.similarity_search_with_relevance_scores(
        TEXTS["gift.md"], k=4
    )
    assert same.id == "gift.md"
    assert relevance == pytest.approx(1, abs=0.01)
    assert all(0 <= score < 0.9 for _, score in rest)
    by_threshold = store.as_retriever(
        search_type="similarity_score_threshold", search_kwargs={"score_threshold": 0.95}
    )
    assert [one.id for one in by_threshold.invoke(TEXTS["gift.md"])] == ["gift.md"]


def test_vectors_and_filters_find_what_they_should(store: RagpgVectorStore) -> None:
    vector = HashEmbedder(32).embed_query(TEXTS["parcel.md"])
    [nearest] = store.similarity_search_by_vector(vector, k=1)
    assert nearest.id == "parcel.md"
    some = {"$or": [{"n": {"$eq": 1}}, {"n": {"$gte": 3}}]}
    found = store.similarity_search("refund parcel card", k=4, filter=some)
    assert {one.id for one in found} == {"card.md", "gift.md"}
    narrowed = RagpgVectorStore(store.client, "shop", filter={"n": {"lt": 2}})
    assert {one.id for one in narrowed.similarity_search("card", filter={"n": {"gt": 0}})} == {
        "card.md"
    }
    with pytest.raises(FilterError):
        store.similarity_search("card", filter={"n": {"near": 1}})


def test_mmr_prefers_what_is_new(rag: Client) -> None:
    store = RagpgVectorStore(rag, "shop", profile="fast")
    same = "Refunds are paid to the card within 14 days of the return"
    store.add_texts([f"{same}.", f"{same} .", f"{same} !", "Refunds of gift cards are vouchers."],
                    ids=["a", "b", "c", "other"])  # fmt: skip
    query = "refunds paid to the card within 14 days"
    plain = [one.id for one in store.similarity_search(query, k=2)]
    varied = store.max_marginal_relevance_search(query, k=2, fetch_k=4, lambda_mult=0.1)
    assert "other" not in plain
    assert [one.id for one in varied] == [plain[0], "other"]
    vector = HashEmbedder(32).embed_query(query)
    by_vector = store.max_marginal_relevance_search_by_vector(vector, k=2, lambda_mult=0.1)
    assert by_vector[1].id == "other"


def test_ids_of_what_ragpg_cut_lead_back_to_the_chunk(rag: Client) -> None:
    text = "\n\n".join(f"## Part {n}\n\nThe part about subject{n} is here." for n in range(3))
    rag.ingest(texts=[("guide.md", text)], namespace="shop")
    store = RagpgVectorStore(rag, "shop")
    [found] = store.similarity_search("subject2", k=1)
    assert found.id == "guide.md#2"
    assert store.get_by_ids([found.id, "guide.md", "guide.md#9"]) == [
        found,
        *store.get_by_ids(["guide.md"]),
    ]


def test_texts_come_back_as_they_were_given(rag: Client) -> None:
    store = RagpgVectorStore(rag, "shop")
    text = "  def f():\n      return 1\n\n"
    [id, blank] = store.add_documents(
        [Document(page_content=text, metadata={"tags": ["a"]}), Document(page_content=" ")]
    )
    assert store.get_by_ids([id, blank]) == [
        Document(id=id, page_content=text, metadata={"tags": ["a"]})
    ]
    [hit] = rag.fetch(id, namespace="shop")
    assert (hit.lines, hit.breadcrumb) == ((1, 2), "")
    with pytest.raises(ValueError, match="1 ids for 2 documents"):
        store.add_texts(["a", "b"], ids=["a"])


def test_what_cannot_be_stored_is_an_error(database: str) -> None:
    with ragpg.connect(database, embedder=HashEmbedder(32)) as rag:
        store = RagpgVectorStore(rag, "shop")
        with pytest.raises(LoadError, match="bad was not stored"):
            store.add_texts(["fine", "not"], [{}, {"x": float("nan")}], ids=["good", "bad"])
        assert [one.id for one in store.get_by_ids(["good", "bad"])] == ["good"]
    failing = ragpg.connect(database, embedder=FailingEmbedder())
    with failing, pytest.raises(ragpg.RagpgError):
        RagpgVectorStore(failing, "other").add_texts(["text"], ids=["a"])


def test_a_store_is_made_of_texts_with_embeddings_of_langchain(database: str) -> None:
    embeddings = DeterministicFakeEmbedding(size=16)
    store = RagpgVectorStore.from_texts(
        ["one", "two"], embeddings, [{"n": 1}, {"n": 2}], ids=["1", "2"], dsn=database
    )
    client: Any = store.client
    try:
        assert store.embeddings is embeddings
        [info] = client.namespaces()
        assert info.dimensions == 16
        assert info.model.startswith("langchain:DeterministicFakeEmbedding")
        assert [one.id for one in store.similarity_search("two", k=1)] == ["2"]
        same = RagpgVectorStore.from_texts(["three"], embeddings, client=client, ids=["3"])
        assert {one.id for one in same.get_by_ids(["1", "3"])} == {"1", "3"}
        with pytest.raises(ConfigError, match="model of its own"):
            RagpgVectorStore.from_texts(["x"], DeterministicFakeEmbedding(size=16), client=client)
    finally:
        client.close()


def test_embedders_are_bridged_both_ways() -> None:
    hashing = HashEmbedder(8)
    there = RagpgEmbeddings(hashing)
    back = LangChainEmbedder(there, model="hash")
    assert there.embed_documents(["a", "b"]) == hashing.embed_documents(["a", "b"])
    assert (back.model, back.dimensions) == ("hash", 8)
    assert back.embed_query("a") == asyncio.run(back.aembed_query("a")) == hashing.embed_query("a")
    assert asyncio.run(back.aembed_documents(["a"])) == back.embed_documents(["a"])


@pytest.mark.anyio
class TestStandardVectorStore(VectorStoreIntegrationTests):
    """The tests that every vector store of LangChain has to pass."""

    @pytest.fixture
    def anyio_backend(self) -> str:
        return "asyncio"

    @pytest.fixture
    def vectorstore(self, database: str) -> Iterator[RagpgVectorStore]:
        embedder = LangChainEmbedder(self.get_embeddings())
        with ragpg.connect(database, embedder=embedder) as rag:
            yield RagpgVectorStore(rag, "standard")


@pytest.mark.anyio
class TestStandardRetriever(RetrieversIntegrationTests):
    """The tests that every retriever of LangChain has to pass."""

    @pytest.fixture
    def anyio_backend(self) -> str:
        return "asyncio"

    @pytest.fixture(autouse=True)
    def _client(self, rag: Client) -> None:
        rag.ingest(texts=list(TEXTS.items()))
        self.client = rag

    @property
    def retriever_constructor(self) -> type[RagpgRetriever]:
        return RagpgRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"client": self.client}

    @property
    def retriever_query_example(self) -> str:
        return "refund to a card, or a parcel"
