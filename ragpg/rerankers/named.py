"""The rerankers that a profile or a configuration names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError
from ragpg.query.rerank import HeuristicReranker
from ragpg.rerankers.chain import RerankChain
from ragpg.rerankers.late import LateInteractionReranker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.protocols import AsyncEmbedder, Embedder

RERANKERS = "heuristic, late, cohere, jina, cohere:MODEL, jina:MODEL, tei:URL or onnx:FOLDER"


def named_reranker(
    names: Sequence[str], embedder: Embedder | AsyncEmbedder | None = None
) -> RerankChain | None:
    """The chain of rerankers named, in that order; None for no names.

    heuristic  words, phrases, names, headings and cosine
    late       best sentences; `embedder` is asked only where the search brought no scores of them

    cohere, jina, cohere:MODEL, jina:MODEL, tei:URL  a service
    onnx:FOLDER  a cross-encoder of one's own

    Raises ConfigError for another name.
    """
    return RerankChain(*(_named(name, embedder) for name in names)) if names else None


def _named(name: str, embedder: Embedder | AsyncEmbedder | None) -> Any:
    kind, _, rest = name.partition(":")
    if name == "heuristic":
        return HeuristicReranker()
    if name == "late":
        return LateInteractionReranker(embedder)
    if kind in ("cohere", "jina"):
        from ragpg.rerankers.http import HTTPReranker

        return HTTPReranker(kind, model=rest or None)  # type: ignore[arg-type]
    if kind == "tei" and rest:
        from ragpg.rerankers.http import HTTPReranker

        return HTTPReranker("tei", url=rest)
    if kind == "onnx" and rest:
        from ragpg.rerankers.cross_encoder import ONNXReranker

        return ONNXReranker(os.path.expanduser(rest))
    raise ConfigError(f"there is no reranker {name!r}", hint=f"Use {RERANKERS}.")
