"""The fastembed adapter, over a stand-in for the library: the real one downloads its models."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from ragpg.errors import ConfigError
from ragpg.providers.fastembed import FastEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator


class TextEmbedding:
    """The part of fastembed.TextEmbedding that is used."""

    def __init__(self, model_name: str, cache_dir: str | None, threads: int | None) -> None:
        if model_name == "unknown":
            raise ValueError("Model unknown is not supported")

    def passage_embed(self, texts: list[str], **options: Any) -> Iterator[tuple[int, ...]]:
        return ((len(text), 0, 1) for text in texts)

    def query_embed(self, text: str) -> Iterator[tuple[int, ...]]:
        yield (len(text), 1, 0)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("fastembed")
    module.__dict__["TextEmbedding"] = TextEmbedding
    monkeypatch.setitem(sys.modules, "fastembed", module)


@pytest.mark.usefixtures("library")
def test_embeds_documents_and_queries() -> None:
    model = FastEmbedder("some/model")
    assert model.embed_documents(["a", "bc"]) == [[1.0, 0.0, 1.0], [2.0, 0.0, 1.0]]
    assert model.embed_query("abc") == [3.0, 1.0, 0.0]
    assert (model.model, model.dimensions) == ("some/model", 3)


@pytest.mark.usefixtures("library")
def test_an_unknown_model_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="unknown"):
        FastEmbedder("unknown").embed_query("x")


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(ConfigError, match=r"ragpg\[fastembed\]"):
        FastEmbedder().embed_query("x")
