"""What `import ragpg` gives, and what it does not do."""

from __future__ import annotations

import dataclasses
import importlib
import subprocess
import sys
import typing

import pytest

import ragpg

NAMES = [
    "Answer",
    "AsyncClient",
    "AsyncFeedback",
    "AsyncGraph",
    "AsyncMemory",
    "AsyncQueue",
    "Cache",
    "Citation",
    "Claim",
    "Client",
    "Config",
    "Delta",
    "Document",
    "Done",
    "Feedback",
    "FileReport",
    "Graph",
    "GroundTool",
    "Grounding",
    "HTTPReranker",
    "HashEmbedder",
    "HeadingChunker",
    "HeuristicReranker",
    "Hit",
    "IngestReport",
    "LLMReranker",
    "LateInteractionReranker",
    "LocalEmbedder",
    "Memory",
    "NamespaceInfo",
    "ONNXReranker",
    "OpenAIEmbedder",
    "OpenAIGenerator",
    "Proactive",
    "Profile",
    "Prompt",
    "Queue",
    "RagKnowledge",
    "RagpgError",
    "Repairing",
    "RerankChain",
    "RerankStage",
    "Revised",
    "SearchResult",
    "SearchTool",
    "SentenceTransformersReranker",
    "Settings",
    "Started",
    "Toolbox",
    "Usage",
    "WholeChunker",
    "__version__",
    "aconnect",
    "connect",
    "read_profile",
]


def test_the_public_names_are_these() -> None:
    assert sorted(ragpg.__all__) == NAMES
    for name in NAMES:
        assert getattr(ragpg, name) is not None
    assert set(NAMES) <= set(dir(ragpg))
    with pytest.raises(AttributeError, match="nonsense"):
        ragpg.nonsense  # noqa: B018


def test_importing_loads_nothing_else() -> None:
    program = (
        "import sys; before = set(sys.modules); import ragpg; "
        "print(*sorted(m for m in set(sys.modules) - before if not m.startswith('_')))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert [name for name in loaded if name.partition(".")[0] == "ragpg"] == ["ragpg"]
    heavy = {"psycopg", "sqlalchemy", "openai", "onnxruntime", "numpy", "bs4", "docutils", "click"}
    assert not heavy & set(loaded)


def test_a_client_loads_no_parser_and_no_model() -> None:
    program = "import sys, ragpg; ragpg.connect; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"sqlalchemy", "openai", "onnxruntime", "numpy", "bs4", "docutils", "alembic"}
    assert not heavy & set(loaded)


RESULTS = {
    "ragpg.graph.analysis": ["GraphStatus", "StaleGraph"],
    "ragpg.graph.global_search_result": ["GlobalResult"],
    "ragpg.jobs.enqueue": ["EnqueueReport"],
    "ragpg.jobs.queries": ["JobInfo", "Progress"],
    "ragpg.memory.flows": ["Remembered", "Recalled"],
    "ragpg.queries": ["NamespaceInfo"],
    "ragpg.queries_learned": ["MemoryRow", "PassageFeedback", "UsageRow"],
    "ragpg.reembed.compare": ["Comparison"],
    "ragpg.reembed.filling": ["ReembedReport"],
    "ragpg.tools.knowledge_base": ["Retrieval", "Description"],
    "ragpg.types": [
        name for name in ragpg.types.__all__ if dataclasses.is_dataclass(getattr(ragpg.types, name))
    ],
}


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module, names in RESULTS.items() for name in names]
)
def test_results_can_be_response_models(module: str, name: str) -> None:
    # FastAPI and pydantic resolve annotations when they run.
    kind = getattr(importlib.import_module(module), name)
    hints = typing.get_type_hints(kind)
    assert {field.name for field in dataclasses.fields(kind)} <= set(hints)
