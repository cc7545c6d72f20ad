"""What one bad text, and what a dead service, costs; with embedders of any kind."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from ragpg.errors import BadEmbedding, ConfigError, ProviderError
from ragpg.ingest.embed import (
    Failure,
    check_vectors,
    embed_resilient,
    embedding_hash,
    embedding_text,
)
from ragpg.testing import FailingEmbedder, HashEmbedder, ScriptedGenerator, TableEmbedder
from ragpg.types import Chunk

if TYPE_CHECKING:
    from collections.abc import Sequence


class Picky(HashEmbedder):
    """Raises what a library may raise for texts with "bad" in them; counts requests."""

    requests = 0

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        self.requests += 1
        if any("bad" in text for text in texts):
            raise ValueError("cannot embed")
        return super().embed_documents(texts)


@pytest.mark.parametrize("bad", [{5}, {0, 63}, {3, 4, 40}, {1, 17, 33, 49}])
def test_every_bad_text_is_found_and_no_other_suffers(bad: set[int]) -> None:
    texts = [f"{'bad' if i in bad else 'good'} {i} {'x' * (i % 7)}" for i in range(64)]
    model = Picky(8)
    found = embed_resilient(model, texts)
    assert {i for i, vector in enumerate(found) if isinstance(vector, Failure)} == bad
    assert model.requests <= 2 * len(bad) * 6 + 3


def test_a_dead_embedder_is_asked_once() -> None:
    model = FailingEmbedder()
    with pytest.raises(ProviderError, match="away"):
        embed_resilient(model, ["a", "b", "c"])
    assert model.calls == 1


def test_an_unclear_fault_everywhere_is_raised_after_five_requests() -> None:
    model = FailingEmbedder(RuntimeError("out of memory"))
    with pytest.raises(ProviderError, match="RuntimeError: out of memory"):
        embed_resilient(model, [f"text {i}" for i in range(100)])
    assert model.calls == 5


def test_a_configuration_error_passes_through() -> None:
    model = FailingEmbedder(ConfigError("no key"))
    with pytest.raises(ConfigError, match="no key"):
        embed_resilient(model, ["a", "b"])
    assert model.calls == 1


@pytest.mark.case("EM-04")
@pytest.mark.parametrize(
    ("vector", "reason"),
    [
        ([0.0, 0.0], "all zero"),
        ([1e-30, 1e-9], "all zero"),
        ([math.nan, 1.0], "NaN"),
        ([1.0, math.inf], "infinity"),
        ([1e9, 0.0], "beyond"),
    ],
)
def test_unfit_vectors_are_failures_with_a_reason_em_04(vector: list[float], reason: str) -> None:
    model = TableEmbedder({"bad": vector}, default=[0.6, 0.8])
    one, bad, two = embed_resilient(model, ["one", "bad", "two"])
    assert (one, two) == ([0.6, 0.8], [0.6, 0.8])
    assert isinstance(bad, Failure)
    assert reason in bad.reason
    assert model.asked == ["one", "bad", "two", "bad"]


@pytest.mark.case("EM-03")
def test_lengths_are_both_named_em_03() -> None:
    with pytest.raises(BadEmbedding, match="text 1 has 6 dimensions, its embedding space has 8"):
        check_vectors(["a", "b"], [[1.0] * 8, [1.0] * 6], 8)


@pytest.mark.case("EM-01")
def test_counts_are_both_named_em_01() -> None:
    with pytest.raises(BadEmbedding, match="1 vectors for 2 texts"):
        check_vectors(["a", "b"], [[1.0]], 1)


@pytest.mark.case("EM-05")
def test_blank_texts_alone_need_no_request_em_05() -> None:
    model = FailingEmbedder()
    assert embed_resilient(model, ["", " \n"]) == [Failure("blank text")] * 2
    assert embed_resilient(model, []) == []
    assert model.calls == 0


def test_the_text_of_a_chunk_has_its_headings_and_prefix() -> None:
    chunk = Chunk(0, "| 1 |", 0, 5, 1, 1, breadcrumb="Guide > Prices", prefix="| EUR |\n")
    assert embedding_text(chunk) == "Guide > Prices\n| EUR |\n| 1 |"
    assert embedding_text(Chunk(0, "plain", 0, 5, 1, 1)) == "plain"
    assert len(embedding_hash("plain")) == 16
    assert embedding_hash("plain") != embedding_hash("plain ")


def test_fakes_follow_their_script() -> None:
    chat = ScriptedGenerator(["first", ProviderError("busy"), "last"])
    message = [{"role": "user", "content": "two words"}]
    text, usage = chat.generate(message)
    assert (text, usage.input_tokens, usage.output_tokens) == ("first", 2, 1)
    with pytest.raises(ProviderError, match="busy"):
        chat.generate(message)
    assert [chat.generate(message)[0] for _ in range(2)] == ["last", "last"]
    assert chat.requests[0] == message
    with pytest.raises(ProviderError, match="no vector for 'b'"):
        TableEmbedder({"a": [1.0]}).embed_query("b")
