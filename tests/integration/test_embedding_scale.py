"""Embedding many texts: requests side by side within bounds, tokens and their price."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.errors import ConfigError, RateLimited
from ragpg.ingest.chunkers import RecursiveChunker
from ragpg.prices import cost_of
from ragpg.providers.batches import EmbeddingRequests
from ragpg.providers.retry import Call, Fault, Patience, Wait
from ragpg.settings import Settings
from ragpg.types import Embeddings

from .doubles import CountingEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Service(CountingEmbedder):
    """Counts tokens as words, and how many requests are in flight."""

    def __init__(self, parallel: int) -> None:
        super().__init__(32, delay=0.02)
        self.parallel_requests = parallel
        self.flying = self.most = 0

    @property
    def model(self) -> str:
        return "text-embedding-3-small"

    def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        with self.lock:
            self.flying += 1
            self.most = max(self.most, self.flying)
        try:
            vectors = Embeddings(super().embed_documents(texts))
        finally:
            with self.lock:
                self.flying -= 1
        vectors.tokens = sum(len(text.split()) for text in texts)
        return vectors


class Narrow(CountingEmbedder):
    """Takes texts that say "lengthy" in parts only."""

    def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        vectors = Embeddings(super().embed_documents(texts))
        vectors.overlong = {place for place, text in enumerate(texts) if "lengthy" in text}
        return vectors


def test_a_report_says_how_many_chunks_the_model_took_in_parts_em_09(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "large.txt").write_text("\n\n".join(f"{n} is a lengthy word." for n in range(19)))
    (tmp_path / "long.txt").write_text("A lengthy text.\n\nA short one.\n\nAnother lengthy one.")
    (tmp_path / "short.txt").write_text("A short text.")
    monkeypatch.setattr("ragpg.ingest.windows.LARGE", 200)
    with ragpg.connect(database, embedder=Narrow(8)) as rag:
        report = rag.ingest(tmp_path, chunker=RecursiveChunker(30, 0))
    notes = {file.source: " ".join(file.notes) for file in report.files}
    assert "19 chunks are longer than the model takes" in notes["large.txt"]
    assert "2 chunks are longer than the model takes" in notes["long.txt"]
    assert notes["short.txt"] == ""


TEXTS = [(f"{number}.md", f"Text number {number} of many.") for number in range(600)]


@pytest.mark.parametrize("parallel", [1, 3])
def test_as_many_requests_are_in_flight_as_the_embedder_allows(
    database: str, parallel: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragpg.ingest.embedding.CLAIM_SIZE", 8)
    service = Service(parallel)
    with ragpg.connect(database, embedder=service) as rag:
        report = rag.ingest(texts=TEXTS[:120])
        assert report.ok
        assert rag.ingest(texts=TEXTS[:120]).usage.input_tokens == 0
    assert service.most == parallel
    assert sorted(set(service.texts)) == sorted(service.texts)
    words = sum(len(text.split()) for text in service.texts)
    assert report.usage.input_tokens == words
    assert report.usage.cost_usd == pytest.approx(words * 0.02e-6)


def test_the_price_is_of_the_users_table_where_it_names_the_model(tmp_path: Path) -> None:
    table = tmp_path / "prices.toml"
    table.write_text('[embeddings]\n"mine" = 2\n"mistral-embed" = 0.5\n', encoding="utf-8")
    assert cost_of("mine", 500_000, str(table)).cost_usd == pytest.approx(1.0)
    assert cost_of("mistral-embed", 1_000_000, str(table)).cost_usd == pytest.approx(0.5)
    assert cost_of("text-embedding-3-large", 1_000_000, str(table)).cost_usd == pytest.approx(0.13)
    assert cost_of("all-MiniLM-L6-v2", 1_000_000).cost_usd is None
    assert Settings.from_env({"RAGPG_PRICES": str(table)}).prices == str(table)
    table.write_text('[embeddings]\n"mine" = "dear"\n', encoding="utf-8")
    other = tmp_path / "other.toml"
    other.write_text('[embeddings]\n"mine" = "dear"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match="mine"):
        cost_of("mine", 1, str(other))
    with pytest.raises(ConfigError, match="cannot be read"):
        cost_of("mine", 1, str(tmp_path / "none.toml"))


def test_a_service_that_has_one_request_wait_is_left_alone_by_the_others() -> None:
    requests = EmbeddingRequests(
        model="m",
        sent_dimensions=None,
        dimensions=1,
        patience=Patience(3, 60),
        query_patience=Patience(0, 0),
    )
    first, second = requests.documents(["a"]), requests.documents(["b"])
    assert isinstance(next(first), Call)
    pause = first.send(Fault(RateLimited("slow down"), again=True, after=2.0))
    assert isinstance(pause, Wait)
    assert pause.seconds >= 2
    held = next(second)
    assert isinstance(held, Wait)
    assert 1.5 < held.seconds <= pause.seconds
    requests.closed_until = time.monotonic()
    assert isinstance(second.send(None), Call)
    answer: dict[str, Any] = {
        "data": [{"index": 0, "embedding": [1.0]}],
        "usage": {"prompt_tokens": 7},
    }
    with pytest.raises(StopIteration) as end:
        second.send(answer)
    assert end.value.value == [[1.0]]
    assert end.value.value.tokens == 7


def test_an_interrupt_ends_all_lanes(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragpg.ingest.embedding.CLAIM_SIZE", 8)

    class Interrupted(Service):
        def embed_documents(self, texts: Sequence[str]) -> Embeddings:
            if self.requests >= 4 and threading.current_thread() is threading.main_thread():
                raise KeyboardInterrupt
            return super().embed_documents(texts)

    with ragpg.connect(database, embedder=Interrupted(3)) as rag:
        with pytest.raises(KeyboardInterrupt):
            rag.ingest(texts=TEXTS)
        rag.embedder = Service(3)
        assert rag.ingest(texts=TEXTS).ok
