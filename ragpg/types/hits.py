"""What retrieval finds, and what every stage did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragpg.types.documents import Json, Metadata


@dataclass(frozen=True, slots=True)
class ArmHit:
    """How one arm saw a hit. `rank` is 1-based; `score` is the arm's own, higher is better:
    cosine similarity (vector), BM25 (keyword), seconds since 1970 (metadata), edge weight (graph).
    `mode` says how the vector arm found it: exact, hnsw or hnsw+exact."""

    rank: int
    score: float
    mode: str | None = None


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A hit that was left out because the kept one says the same.

    `similarity` is the share of its word sequences that the kept hit has too, from 0 to 1.
    """

    namespace: str
    source: str
    chunk_id: int | None = None
    start_line: int | None = None
    end_line: int | None = None
    similarity: float = 1.0


@dataclass(frozen=True, slots=True)
class Core:
    """What was found in a hit that has its neighbours around it: characters of the document, and
    the page on which they start."""

    start_char: int
    end_char: int
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One retrieved chunk. `score` is the fused (or reranked) score, higher is better, comparable
    within one result only, and there with scores of the same `score_kind`: the scale it is on, such
    as "fused", "heuristic" or "cohere rerank-v3.5". A threshold means something on one scale only.

    `content` is the document's text from `start_char` to `end_char`: a chunk, or less after
    compression, or more after expansion; then `chunk_ids` are all chunks it was read from, in
    reading order, and `core` is what was found. `duplicates` were
    left out in favour of this hit. `kind` is knowledge, memory or external (a retriever outside
    of the database). `prior` is the factor, from 0.85 to 1.15, that feedback gives it; None without
    history.
    """

    rank: int
    score: float
    namespace: str
    source: str
    content: str
    chunk_id: int | None = None
    document_id: int | None = None
    chunk_index: int = 0
    title: str = ""
    breadcrumb: str = ""
    metadata: Metadata = field(default_factory=dict)
    start_line: int | None = None
    end_line: int | None = None
    start_char: int | None = None
    end_char: int | None = None
    page: int | None = None
    version: int | None = None
    arms: Mapping[str, ArmHit] = field(default_factory=dict)
    score_kind: str = "fused"
    chunk_ids: Sequence[int] = ()
    core: Core | None = None
    duplicates: Sequence[Duplicate] = ()
    kind: str = "knowledge"
    prior: float | None = None

    @property
    def lines(self) -> tuple[int, int] | None:
        """First and last line in the source, 1-based and inclusive."""
        if self.start_line is None or self.end_line is None:
            return None
        return (self.start_line, self.end_line)


@dataclass(frozen=True, slots=True)
class ArmReport:
    """What one arm (or stage: "rerank", "embed") did: rows given, milliseconds, and why not.

    `signals` of the keyword and the vector arm say how good their lists are; see
    ragpg.query.confidence."""

    rows: int = 0
    ms: float = 0.0
    error: str | None = None
    skipped: str | None = None
    mode: str | None = None
    signals: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fusion:
    """How the lists of the arms became one: the method, the weight of each arm that found
    anything, the signals that the weights came from, the milliseconds it took, and why scores could
    not be fused where ranks had to do. `rrf_k` is the constant of reciprocal ranks."""

    method: str
    weights: Mapping[str, float] = field(default_factory=dict)
    signals: Mapping[str, Json] = field(default_factory=dict)
    ms: float = 0.0
    rrf_k: int = 10
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered source: `number` is what the text shows as [number]."""

    number: int
    hit: Hit
