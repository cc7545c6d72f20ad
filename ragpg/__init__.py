"""Retrieval-augmented generation where Postgres is the engine.

    import ragpg

    with ragpg.connect("postgresql:///shop", embedder=ragpg.LocalEmbedder()) as rag:
        rag.ingest("handbook/", namespace="handbook")
        result = rag.search("How long do refunds take?", namespace="handbook")

Importing does nothing: a name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ragpg.client import Client as Client
    from ragpg.client import connect as connect
    from ragpg.client_async import AsyncClient as AsyncClient
    from ragpg.client_async import aconnect as aconnect
    from ragpg.errors import RagpgError as RagpgError
    from ragpg.ingest.chunk import HeadingChunker as HeadingChunker
    from ragpg.ingest.chunk import WholeChunker as WholeChunker
    from ragpg.providers.hashing import HashEmbedder as HashEmbedder
    from ragpg.providers.onnx import LocalEmbedder as LocalEmbedder
    from ragpg.providers.openai import OpenAIEmbedder as OpenAIEmbedder
    from ragpg.providers.openai import OpenAIGenerator as OpenAIGenerator
    from ragpg.queries import NamespaceInfo as NamespaceInfo
    from ragpg.query.cache import Cache as Cache
    from ragpg.query.profile import Profile as Profile
    from ragpg.query.profile import read_profile as read_profile
    from ragpg.query.prompt import Prompt as Prompt
    from ragpg.query.rerank import HeuristicReranker as HeuristicReranker
    from ragpg.rerankers.chain import RerankChain as RerankChain
    from ragpg.rerankers.chain import RerankStage as RerankStage
    from ragpg.rerankers.cross_encoder import ONNXReranker as ONNXReranker
    from ragpg.rerankers.cross_encoder import (
        SentenceTransformersReranker as SentenceTransformersReranker,
    )
    from ragpg.rerankers.http import HTTPReranker as HTTPReranker
    from ragpg.rerankers.late import LateInteractionReranker as LateInteractionReranker
    from ragpg.rerankers.llm import LLMReranker as LLMReranker
    from ragpg.settings import Settings as Settings
    from ragpg.types import Answer as Answer
    from ragpg.types import Document as Document
    from ragpg.types import FileReport as FileReport
    from ragpg.types import Grounding as Grounding
    from ragpg.types import Hit as Hit
    from ragpg.types import IngestReport as IngestReport
    from ragpg.types import SearchResult as SearchResult

_PLACES = {
    "Answer": "types",
    "AsyncClient": "client_async",
    "Cache": "query.cache",
    "Client": "client",
    "Document": "types",
    "FileReport": "types",
    "Grounding": "types",
    "HTTPReranker": "rerankers.http",
    "HashEmbedder": "providers.hashing",
    "HeadingChunker": "ingest.chunk",
    "HeuristicReranker": "query.rerank",
    "Hit": "types",
    "IngestReport": "types",
    "LLMReranker": "rerankers.llm",
    "LateInteractionReranker": "rerankers.late",
    "LocalEmbedder": "providers.onnx",
    "NamespaceInfo": "queries",
    "ONNXReranker": "rerankers.cross_encoder",
    "OpenAIEmbedder": "providers.openai",
    "OpenAIGenerator": "providers.openai",
    "Profile": "query.profile",
    "Prompt": "query.prompt",
    "RagpgError": "errors",
    "RerankChain": "rerankers.chain",
    "RerankStage": "rerankers.chain",
    "SearchResult": "types",
    "SentenceTransformersReranker": "rerankers.cross_encoder",
    "Settings": "settings",
    "WholeChunker": "ingest.chunk",
    "aconnect": "client_async",
    "connect": "client",
    "read_profile": "query.profile",
}

__all__ = [
    *_PLACES,
    "__version__",
]


def __getattr__(name: str) -> object:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'ragpg' has no attribute {name!r}")
    value = getattr(import_module(f"ragpg.{place}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
