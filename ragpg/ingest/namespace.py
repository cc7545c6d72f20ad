"""The namespace that an ingest goes to, and the space of its vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragpg.errors import (
    ConfigError,
    DimensionMismatch,
)
from ragpg.ingest.embedding import Space
from ragpg.queries import (
    CREATE_NAMESPACE,
    CREATE_SPACE,
    FIRST_SPACE,
    NAMESPACE,
    NamespaceRow,
)
from ragpg.steps import Flow, call, fetch, fetch_one

if TYPE_CHECKING:
    from ragpg.protocols import AsyncEmbedder, Embedder


def open_namespace(
    name: str, language: str, embedder: Embedder | AsyncEmbedder | None, *, create: bool
) -> Flow[tuple[NamespaceRow | None, Space | None]]:
    """Find the namespace, or create it; None when it is not there and not to be created.

    A namespace without vectors gets the embedder's space. Raises DimensionMismatch or ConfigError,
    having written nothing, when its vectors are of another model.
    """
    rows = yield from fetch(NAMESPACE, {"namespace": name})
    model = dimensions = None
    if embedder is not None:
        model = embedder.model
        # A service may have to be asked.
        dimensions = yield from call(getattr, embedder, "dimensions")
    if rows:
        _check_space(name, rows[0], model, dimensions)
    elif create:
        yield from fetch(
            CREATE_NAMESPACE, {"namespace": name, "kind": "knowledge", "language": language}
        )
        rows = yield from fetch(NAMESPACE, {"namespace": name})
    namespace = rows[0] if rows else None
    if embedder is None or model is None or dimensions is None:
        return namespace, None
    space_id = namespace.space_id if namespace else None
    if space_id is None and create:
        space_id = yield from fetch_one(CREATE_SPACE, {"model": model, "dimensions": dimensions})
        yield from fetch(FIRST_SPACE, {"namespace": name, "space_id": space_id})
        namespace = yield from fetch_one(NAMESPACE, {"namespace": name})
        _check_space(name, namespace, model, dimensions)
    return namespace, Space(embedder, model, dimensions, space_id)


def _check_space(
    namespace: str, row: NamespaceRow, model: str | None, dimensions: int | None
) -> None:
    if model is None or row.space_id is None or (row.model, row.dimensions) == (model, dimensions):
        return
    kind = ConfigError if row.dimensions == dimensions else DimensionMismatch
    raise kind(
        f"namespace {namespace!r} holds vectors of {row.model} with {row.dimensions} dimensions, "
        f"the embedder is {model} with {dimensions}",
        hint="Ingest with the former model, ingest into another namespace, or drop this one "
        f"(ragpg namespaces drop {namespace}) and ingest again. Nothing was changed.",
    )
