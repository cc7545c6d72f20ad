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
    from ragpg.config.values import Config as Config
    from ragpg.errors import RagpgError as RagpgError
    from ragpg.feedback.feedback import AsyncFeedback as AsyncFeedback
    from ragpg.feedback.feedback import Feedback as Feedback
    from ragpg.graph.graph import AsyncGraph as AsyncGraph
    from ragpg.graph.graph import Graph as Graph
    from ragpg.ingest.chunk import HeadingChunker as HeadingChunker
    from ragpg.ingest.chunk import WholeChunker as WholeChunker
    from ragpg.jobs.queue import AsyncQueue as AsyncQueue
    from ragpg.jobs.queue import Queue as Queue
    from ragpg.memory.memory import AsyncMemory as AsyncMemory
    from ragpg.memory.memory import Memory as Memory
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
    from ragpg.tools.ground_tool import GroundTool as GroundTool
    from ragpg.tools.knowledge import RagKnowledge as RagKnowledge
    from ragpg.tools.proactive import Proactive as Proactive
    from ragpg.tools.search_tool import SearchTool as SearchTool
    from ragpg.tools.toolbox import Toolbox as Toolbox
    from ragpg.types import Answer as Answer
    from ragpg.types import Citation as Citation
    from ragpg.types import Claim as Claim
    from ragpg.types import Delta as Delta
    from ragpg.types import Document as Document
    from ragpg.types import Done as Done
    from ragpg.types import FileReport as FileReport
    from ragpg.types import Grounding as Grounding
    from ragpg.types import Hit as Hit
    from ragpg.types import IngestReport as IngestReport
    from ragpg.types import Repairing as Repairing
    from ragpg.types import Revised as Revised
    from ragpg.types import SearchResult as SearchResult
    from ragpg.types import Started as Started
    from ragpg.types import Usage as Usage

_PLACES = {
    "Answer": "types",
    "AsyncClient": "client_async",
    "AsyncFeedback": "feedback.feedback",
    "AsyncGraph": "graph.graph",
    "AsyncMemory": "memory.memory",
    "AsyncQueue": "jobs.queue",
    "Cache": "query.cache",
    "Citation": "types",
    "Claim": "types",
    "Client": "client",
    "Config": "config.values",
    "Delta": "types",
    "Document": "types",
    "Done": "types",
    "Feedback": "feedback.feedback",
    "FileReport": "types",
    "Graph": "graph.graph",
    "GroundTool": "tools.ground_tool",
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
    "Memory": "memory.memory",
    "NamespaceInfo": "queries",
    "ONNXReranker": "rerankers.cross_encoder",
    "OpenAIEmbedder": "providers.openai",
    "OpenAIGenerator": "providers.openai",
    "Proactive": "tools.proactive",
    "Profile": "query.profile",
    "Prompt": "query.prompt",
    "Queue": "jobs.queue",
    "RagKnowledge": "tools.knowledge",
    "RagpgError": "errors",
    "Repairing": "types",
    "RerankChain": "rerankers.chain",
    "RerankStage": "rerankers.chain",
    "Revised": "types",
    "SearchResult": "types",
    "SearchTool": "tools.search_tool",
    "SentenceTransformersReranker": "rerankers.cross_encoder",
    "Settings": "settings",
    "Started": "types",
    "Toolbox": "tools.toolbox",
    "Usage": "types",
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
