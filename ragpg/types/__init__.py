"""The values that flow through ragpg: frozen, comparable, printable."""

from __future__ import annotations

from ragpg.types.answers import (
    Answer,
    AnswerEvent,
    Delta,
    Done,
    Repairing,
    Revised,
    Revision,
    SearchResult,
    Started,
)
from ragpg.types.documents import Chunk, Document, Json, Link, Metadata, Section
from ragpg.types.grounding import (
    CitationCheck,
    CitationState,
    Claim,
    Evidence,
    Grounding,
    Judgement,
    Pair,
    Verdict,
)
from ragpg.types.hits import ArmHit, ArmReport, Citation, Core, Duplicate, Fusion, Hit
from ragpg.types.ingested import FileReport, IngestReport, IngestStatus
from ragpg.types.usage import Embedding, Embeddings, Usage

__all__ = [
    "Answer",
    "AnswerEvent",
    "ArmHit",
    "ArmReport",
    "Chunk",
    "Citation",
    "CitationCheck",
    "CitationState",
    "Claim",
    "Core",
    "Delta",
    "Document",
    "Done",
    "Duplicate",
    "Embedding",
    "Embeddings",
    "Evidence",
    "FileReport",
    "Fusion",
    "Grounding",
    "Hit",
    "IngestReport",
    "IngestStatus",
    "Json",
    "Judgement",
    "Link",
    "Metadata",
    "Pair",
    "Repairing",
    "Revised",
    "Revision",
    "SearchResult",
    "Section",
    "Started",
    "Usage",
    "Verdict",
]
