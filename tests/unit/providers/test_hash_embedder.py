"""Properties that the hash embedder promises."""

from __future__ import annotations

import asyncio
import math

import pytest

from ragpg.errors import ConfigError
from ragpg.protocols import AsyncEmbedder, Embedder
from ragpg.providers.hashing import HashEmbedder, words


def cosine(one: list[float], other: list[float]) -> float:
    return sum(map(float.__mul__, one, other))


def test_same_text_same_vector_on_every_machine() -> None:
    vector = HashEmbedder().embed_query("The refund takes 14 days.")
    assert vector == HashEmbedder().embed_documents(["x", "The refund takes 14 days."])[1]
    largest = max(range(384), key=lambda i: abs(vector[i]))
    assert (largest, round(vector[largest], 6)) == (337, -0.366837)


@pytest.mark.parametrize("text", ["", "  ", "!?", "\n", "…", "\ud83d", "a", "東京", "x" * 5000])
def test_every_text_has_a_unit_vector(text: str) -> None:
    for dimensions in (1, 8, 384):
        vector = HashEmbedder(dimensions).embed_query(text)
        assert len(vector) == dimensions
        assert math.isclose(math.hypot(*vector), 1.0)


def test_like_words_are_near() -> None:
    embed = HashEmbedder().embed_query
    query = embed("refunding customers")
    assert cosine(query, embed("a customer was refunded")) > 0.3
    assert abs(cosine(query, embed("volcanic lake geology"))) < 0.15
    assert cosine(embed("東京に住む"), embed("東京の天気")) > 0.3


def test_words_of_many_scripts() -> None:
    assert words("Größe foo_bar X1") == ["grösse", "foo", "bar", "x1"]
    assert words("हिन्दी भाषा।") == ["हिन्दी", "भाषा"]
    assert words("東京都") == ["東", "京", "都", "東京", "京都"]
    assert words("e\u0301te\u0301") == ["été"]


def test_keeps_both_protocols() -> None:
    model = HashEmbedder(16)
    assert isinstance(model, Embedder)
    assert isinstance(model, AsyncEmbedder)
    assert asyncio.run(model.aembed_query("x")) == model.embed_query("x")
    assert (model.model, model.dimensions) == ("hash-16-v1", 16)


def test_dimensions_must_be_positive() -> None:
    with pytest.raises(ConfigError, match="at least 1"):
        HashEmbedder(0)
