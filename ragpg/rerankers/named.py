"""The rerankers that a profile names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError
from ragpg.query.rerank import HeuristicReranker
from ragpg.rerankers.chain import RerankChain
from ragpg.rerankers.late import LateInteractionReranker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.protocols import AsyncEmbedder, Embedder


def named_reranker(
    names: Sequence[str], embedder: Embedder | AsyncEmbedder | None = None
) -> RerankChain | None:
    """The chain of rerankers named, in that order; None for no names.

    heuristic  words, phrases, names, headings and cosine
    late       best sentences; `embedder` is asked only where the search brought no scores of them

    Raises ConfigError for another name.
    """
    made: list[Any] = []
    for name in names:
        if name == "heuristic":
            made.append(HeuristicReranker())
        elif name == "late":
            made.append(LateInteractionReranker(embedder))
        else:
            raise ConfigError(
                f"there is no reranker {name!r}", hint="Choose from heuristic and late."
            )
    return RerankChain(*made) if made else None
