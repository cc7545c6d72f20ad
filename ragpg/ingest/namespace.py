"""The namespace that an ingest goes to, and the space of its vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragpg.embedders import embedder_of, first_for
from ragpg.errors import (
    ConfigError,
    DimensionMismatch,
    NamespaceNotFound,
)
from ragpg.ingest.embedding import Space
from ragpg.queries import CREATE_NAMESPACE, NAMESPACE, NamespaceRow
from ragpg.queries_spaces import KEPT_SPACES
from ragpg.queries_store import CREATE_SPACE, FIRST_SPACE
from ragpg.steps import Flow, call, fetch, fetch_one
from ragpg.terminal import shell_argument

if TYPE_CHECKING:
    from ragpg.protocols import AsyncEmbedder, Embedder


def open_namespace(
    name: str,
    language: str,
    embedder: Embedder | AsyncEmbedder | None,
    *,
    create: bool,
    kind: str = "knowledge",
) -> Flow[tuple[NamespaceRow | None, Space | None]]:
    """Find the namespace, or create it; None when it is not there and not to be created.

    A namespace without vectors gets the embedder's space. Raises DimensionMismatch or ConfigError,
    having written nothing, when its vectors are of another model.
    """
    rows = yield from fetch(NAMESPACE, {"namespace": name})
    model = dimensions = None
    if embedder is not None:
        fitting = None
        if rows and rows[0].model is not None and rows[0].dimensions is not None:
            fitting = yield from call(embedder_of, embedder, rows[0].model, rows[0].dimensions)
        embedder = fitting or first_for(embedder, name)
    if embedder is not None:
        model = embedder.model
        # A service may have to be asked.
        dimensions = yield from call(getattr, embedder, "dimensions")
    if rows:
        _check_space(name, rows[0], model, dimensions)
    elif create:
        yield from fetch(CREATE_NAMESPACE, {"namespace": name, "kind": kind, "language": language})
        rows = yield from fetch(NAMESPACE, {"namespace": name})
    namespace = rows[0] if rows else None
    if embedder is None or model is None or dimensions is None:
        return namespace, None
    space_id = namespace.space_id if namespace else None
    if space_id is None and create:
        space_id = yield from fetch_one(CREATE_SPACE, {"model": model, "dimensions": dimensions})
        yield from fetch(FIRST_SPACE, {"namespace": name, "space_id": space_id})
        rows = yield from fetch(NAMESPACE, {"namespace": name})
        if not rows:
            raise NamespaceNotFound(
                f'namespace "{name}" does not exist any more',
                hint="Somebody dropped it meanwhile. Ingest again to make it anew.",
            )
        namespace = rows[0]
        _check_space(name, namespace, model, dimensions)
    return namespace, Space(embedder, model, dimensions, space_id)


def kept_spaces(
    namespace: NamespaceRow, embedder: Embedder | AsyncEmbedder | None
) -> Flow[tuple[list[Space], list[str]]]:
    """The spaces that a namespace fills beside the one that is searched, as far as there is an
    embedder for them; and notes of those for which there is none."""
    spaces: list[Space] = []
    notes: list[str] = []
    for space_id, model, dimensions in (
        yield from fetch(KEPT_SPACES, {"namespace_id": namespace.id})
    ):
        one = None
        if embedder is not None:
            one = yield from call(embedder_of, embedder, model, dimensions)
        if one is None:
            notes.append(
                f"no embedder of {model} ({dimensions} dimensions), which is kept beside: "
                "ragpg reembed gives it the vectors of new chunks"
            )
        else:
            spaces.append(Space(one, model, dimensions, space_id))
    return spaces, notes


def _check_space(
    namespace: str, row: NamespaceRow, model: str | None, dimensions: int | None
) -> None:
    if model is None or row.space_id is None or (row.model, row.dimensions) == (model, dimensions):
        return
    kind = ConfigError if row.dimensions == dimensions else DimensionMismatch
    raise kind(
        f"namespace {namespace!r} holds vectors of {row.model} with {row.dimensions} dimensions, "
        f"the embedder is {model} with {dimensions}",
        hint="Ingest with the namespace's model, change its model (ragpg reembed "
        f"--embedder MODEL {shell_argument(namespace)}), or ingest into another namespace. "
        "Nothing was changed.",
    )
