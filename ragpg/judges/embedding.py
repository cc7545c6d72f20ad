"""A judge that compares meanings by the cosine of two embeddings; blind to numbers and negation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ragpg.errors import ConfigError
from ragpg.judges.options import EmbeddingOptions
from ragpg.steps import Flow, embed
from ragpg.types import Judgement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.protocols import AsyncEmbedder, Embedder
    from ragpg.types import Pair

_DEFAULT = EmbeddingOptions()


class EmbeddingJudge:
    """supported from a cosine of `supported` on, partial from `partial` on.

    A cosine says what two texts are about, hardly ever what they say of it: put it under a
    VetoJudge. The thresholds depend on the model; `supported` was learned for MiniLM-L6 on claims
    of the training part of SciFact. Learn yours with `ragpg eval-grounding`.
    """

    def __init__(
        self,
        embedder: Embedder | AsyncEmbedder,
        *,
        supported: float = _DEFAULT.supported,
        partial: float = _DEFAULT.partial,
        candidates: int = _DEFAULT.candidates,
    ) -> None:
        EmbeddingOptions(supported=supported, partial=partial, candidates=candidates)
        self.embedder = embedder
        self.supported = supported
        self.partial = partial
        self.candidates = candidates

    @property
    def name(self) -> str:
        """embedding, with the model's name."""
        return f"embedding ({self.embedder.model})"

    def judge(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """A judgement for each pair. Raises ProviderError."""
        texts = _texts(pairs)
        documents = getattr(self.embedder, "embed_documents", None)
        if documents is None:
            raise ConfigError(f"{type(self.embedder).__name__} has no method embed_documents")
        return self._judgements(pairs, texts, documents(texts))

    def flow(self, pairs: Sequence[Pair]) -> Flow[list[Judgement]]:
        """As judge, in steps."""
        texts = _texts(pairs)
        vectors = yield from embed(self.embedder, texts)
        return self._judgements(pairs, texts, vectors)

    def _judgements(
        self, pairs: Sequence[Pair], texts: Sequence[str], vectors: Sequence[Sequence[float]]
    ) -> list[Judgement]:
        by_text = dict(zip(texts, vectors, strict=True))
        found = []
        for pair in pairs:
            cosine = _cosine(by_text[pair.claim], by_text[pair.evidence])
            verdict = (
                "supported"
                if cosine >= self.supported
                else "partial"
                if cosine >= self.partial
                else "unsupported"
            )
            found.append(Judgement(verdict, min(max(cosine, 0.0), 1.0)))  # type: ignore[arg-type]
        return found


def _texts(pairs: Sequence[Pair]) -> list[str]:
    """Each text once: a claim has many spans, and claims share them."""
    return list(dict.fromkeys(text for pair in pairs for text in (pair.claim, pair.evidence)))


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    product = sum(a * b for a, b in zip(one, other, strict=True))
    lengths = math.hypot(*one) * math.hypot(*other)
    return product / lengths if lengths else 0.0
