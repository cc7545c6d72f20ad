"""A change of model through a client: each function, and its twin for the async client."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragpg.reembed.filling import (
    Pace,
    ReembedReport,
    build_space,
    drop_spaces,
    fill_missing_vectors,
    spaces_of,
    switch_space,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragpg.client import Client
    from ragpg.client_async import AsyncClient
    from ragpg.protocols import AsyncEmbedder, Embedder
    from ragpg.queries_spaces import SpaceInfo


def build(
    rag: Client,
    namespace: str,
    embedder: Embedder,
    *,
    pace: Pace | None = None,
    on_step: Callable[[ReembedReport], object] | None = None,
) -> ReembedReport:
    """Build the embedding space of another model beside the one that a namespace is searched in.

    Nothing changes for searches. Ingests write into both from now on: one that has both models
    (ragpg.embedders.Embedders) gives vectors to both; for one that has not, call this again. It
    goes on where it was. Raises ConfigError, NamespaceNotFound and ProviderError.
    """
    return rag.run(build_space(namespace, embedder, pace=_pace(rag, pace), on_step=on_step))


async def abuild(
    rag: AsyncClient,
    namespace: str,
    embedder: Embedder | AsyncEmbedder,
    *,
    pace: Pace | None = None,
    on_step: Callable[[ReembedReport], object] | None = None,
) -> ReembedReport:
    """As build, awaited."""
    return await rag.run(build_space(namespace, embedder, pace=_pace(rag, pace), on_step=on_step))


def fill_missing(
    rag: Client,
    namespace: str,
    *,
    pace: Pace | None = None,
    on_step: Callable[[ReembedReport], object] | None = None,
) -> ReembedReport:
    """Try the chunks again that have no vector, with the client's embedder. Raises as build."""
    pace = _pace(rag, pace)
    return rag.run(fill_missing_vectors(namespace, rag.embedder, pace=pace, on_step=on_step))


async def afill_missing(
    rag: AsyncClient,
    namespace: str,
    *,
    pace: Pace | None = None,
    on_step: Callable[[ReembedReport], object] | None = None,
) -> ReembedReport:
    """As fill_missing, awaited."""
    pace = _pace(rag, pace)
    return await rag.run(fill_missing_vectors(namespace, rag.embedder, pace=pace, on_step=on_step))


def switch(
    rag: Client,
    namespace: str,
    *,
    model: str | None = None,
    back: bool = False,
    missing: int = 0,
) -> SpaceInfo:
    """Search a namespace in the space that was built, from the next search on; with `back` in the
    former one again. Raises ConfigError where more than `missing` chunks have no vector in it."""
    return rag.run(switch_space(namespace, model=model, back=back, missing=missing))


async def aswitch(
    rag: AsyncClient,
    namespace: str,
    *,
    model: str | None = None,
    back: bool = False,
    missing: int = 0,
) -> SpaceInfo:
    """As switch, awaited."""
    return await rag.run(switch_space(namespace, model=model, back=back, missing=missing))


def drop(rag: Client, namespace: str, *, model: str | None = None) -> list[SpaceInfo]:
    """Delete the spaces that a namespace keeps beside the one that is searched (or that of `model`)
    with their vectors; which they were. There is no way back."""
    return rag.run(drop_spaces(namespace, model=model))


async def adrop(rag: AsyncClient, namespace: str, *, model: str | None = None) -> list[SpaceInfo]:
    """As drop, awaited."""
    return await rag.run(drop_spaces(namespace, model=model))


def spaces(rag: Client, namespace: str) -> list[SpaceInfo]:
    """The embedding spaces of a namespace and how far they are."""
    return rag.run(spaces_of(namespace))


async def aspaces(rag: AsyncClient, namespace: str) -> list[SpaceInfo]:
    """As spaces, awaited."""
    return await rag.run(spaces_of(namespace))


def _pace(rag: Client | AsyncClient, pace: Pace | None) -> Pace:
    """The pace with the client's table of prices."""
    pace = pace or Pace(claim_ttl=rag.settings.claim_ttl)
    return replace(pace, prices=pace.prices or rag.settings.prices)
