"""Who may import whom: data flows one way."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "ragpg"

#: Layers from the bottom; a module imports from layers below, and from its own where it says so.
LAYERS = {
    "ragpg": 0,
    "ragpg.types": 1,
    "ragpg.arguments": 1,
    "ragpg.page_template": 1,
    "ragpg.errors": 1,
    "ragpg.words": 1,
    "ragpg.terminal": 1,
    "ragpg.sentences": 1,
    "ragpg.sentence_units": 1,
    "ragpg.vectors": 1,
    "ragpg.stages": 1,
    "ragpg.model_json": 1,
    "ragpg.native_calls": 2,
    "ragpg.onnx_model": 2,
    "ragpg.protocols": 2,
    "ragpg.tokens": 2,
    "ragpg.embedders": 2,
    "ragpg.prices": 2,
    "ragpg.settings": 2,
    "ragpg.sqlfiles": 2,
    "ragpg.table_files": 2,
    "ragpg.steps": 3,
    "ragpg.queries": 3,
    "ragpg.queries_learned": 3,
    "ragpg.queries_spaces": 3,
    "ragpg.queries_store": 3,
    "ragpg.observe": 3,
    "ragpg.counts": 4,
    "ragpg.observe.ledger": 4,
    "ragpg.ingest": 4,
    "ragpg.query": 4,
    "ragpg.rerankers": 4,
    "ragpg.judges": 4,
    "ragpg.judges.named": 5,
    "ragpg.rerankers.http": 5,
    "ragpg.rerankers.late": 5,
    "ragpg.rerankers.sentence_cosines": 5,
    "ragpg.rerankers.chain": 5,
    "ragpg.rerankers.named": 5,
    "ragpg.ingest.prepare": 5,
    "ragpg.ingest.embedding": 5,
    "ragpg.ingest.indexing": 5,
    "ragpg.ingest.changes": 5,
    "ragpg.ingest.large": 5,
    "ragpg.ingest.windows": 5,
    "ragpg.ingest.forgetting": 5,
    "ragpg.ingest.missing_vectors": 5,
    "ragpg.ingest.namespace": 5,
    "ragpg.ingest.prune": 5,
    "ragpg.ingest.reports": 5,
    "ragpg.ingest.sentences": 5,
    "ragpg.ingest.tidy": 5,
    "ragpg.ingest.run": 5,
    "ragpg.ingest.gather": 5,
    "ragpg.ingest.write": 5,
    "ragpg.ingest.pipeline": 5,
    "ragpg.graph": 4,
    "ragpg.graph.background": 5,
    "ragpg.graph.graph": 8,
    "ragpg.query.sources": 5,
    "ragpg.query.understand": 5,
    "ragpg.query.selection": 5,
    "ragpg.query.pipeline": 5,
    "ragpg.query.answer": 5,
    "ragpg.streams": 6,
    "ragpg.connection": 5,
    "ragpg.connection_access": 2,
    "ragpg.connection_address": 5,
    "ragpg.connection_errors": 5,
    "ragpg.connection_sync": 5,
    "ragpg.connection_handles": 5,
    "ragpg.connection_async_handles": 5,
    "ragpg.flows": 6,
    "ragpg.connection_async": 5,
    "ragpg.perform": 5,
    "ragpg.providers": 5,
    "ragpg.testing": 6,
    "ragpg.schema": 6,
    "ragpg.localdb": 6,
    "ragpg.targets": 6,
    "ragpg.installed": 6,
    "ragpg.migrate": 6,
    "ragpg.repair": 6,
    "ragpg.faults": 6,
    "ragpg.doctor": 6,
    "ragpg.reembed": 8,
    "ragpg.reembed.filling": 6,
    "ragpg.vector_index": 5,
    "ragpg.reembed.compare": 8,
    "ragpg.client": 7,
    "ragpg.client_async": 7,
    "ragpg.feedback": 6,
    "ragpg.feedback.feedback": 8,
    "ragpg.feedback.attribution": 4,
    "ragpg.feedback.recorder": 4,
    "ragpg.config": 6,
    "ragpg.memory": 6,
    "ragpg.memory.conflict": 5,
    "ragpg.memory.frames": 5,
    "ragpg.memory.frame_words": 5,
    "ragpg.memory.memory": 8,
    "ragpg.jobs": 6,
    "ragpg.jobs.queries": 4,
    "ragpg.jobs.listen": 8,
    "ragpg.jobs.worker": 8,
    "ragpg.jobs.loop": 8,
    "ragpg.inspection": 8,
    "ragpg.tools": 8,
    "ragpg.adapters": 8,
    "ragpg.watch": 8,
    "ragpg.evaluate": 8,
    "ragpg.cli": 8,
    "ragpg.demo": 8,
}
#: The stages of ingest and of search: none of them imports another.
STAGES = {
    "ragpg.ingest.discover",
    "ragpg.ingest.load",
    "ragpg.ingest.chunk",
    "ragpg.ingest.embed",
    "ragpg.ingest.store",
    "ragpg.query.retrieve",
    "ragpg.query.fuse",
    "ragpg.query.rerank",
    "ragpg.query.diversity",
    "ragpg.query.parents",
    "ragpg.query.compress",
    "ragpg.query.context",
    "ragpg.query.prompt",
    "ragpg.query.cite",
    "ragpg.query.ground",
}
#: Only these may import it.
ONLY = {
    "openai": {"ragpg.providers"},
    "onnxruntime": {"ragpg.onnx_model"},
    "bs4": {"ragpg.ingest"},
    "docutils": {"ragpg.ingest"},
    "opentelemetry": {"ragpg.observe.spans"},
    "click": {"ragpg.cli", "ragpg.demo"},
    "langchain_core": {"ragpg.adapters"},
    "llama_index": {"ragpg.adapters"},
    "haystack": {"ragpg.adapters"},
    "alembic": {"ragpg.migrate", "ragpg.installed"},
    "psycopg_pool": {
        "ragpg.connection_handles",
        "ragpg.connection_async_handles",
        "ragpg.connection_errors",
    },
}
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


@cache
def _imports(module: str) -> set[str]:
    """What a module imports when it runs, also inside functions; not for types alone."""
    tree = ast.parse(MODULES[module].read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inside & set(MODULES) or {node.module}
    return found


def _layer(module: str) -> int:
    while module not in LAYERS:
        assert "." in module, f"{module} has no layer"
        module = module.rpartition(".")[0]
    return LAYERS[module]


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_downwards(module: str) -> None:
    ours = {name for name in _imports(module) if name.partition(".")[0] == "ragpg"}
    above = {name for name in ours if _layer(name) > _layer(module) and name in MODULES}
    assert not above, f"{module} imports {sorted(above)}"


@pytest.mark.parametrize("module", sorted(STAGES))
def test_stages_do_not_import_each_other(module: str) -> None:
    assert not _imports(module) & (STAGES - {module})


@pytest.mark.parametrize("library", ONLY)
def test_libraries_stay_in_their_rooms(library: str) -> None:
    users = {
        module
        for module in MODULES
        if library in {name.partition(".")[0] for name in _imports(module)}
    }
    strangers = {
        user
        for user in users
        if not any(user == room or user.startswith(f"{room}.") for room in ONLY[library])
    }
    assert not strangers
