"""Whether the names of a configuration stand for something: models, rerankers, chunker, folders."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ragpg.config.use import chunker_of, embedder_of, generator_of, reranker_of
from ragpg.connection_address import read_dsn
from ragpg.errors import RagpgError
from ragpg.ingest.chunkers.named import chunker_named

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragpg.config.values import Config


def problems_of(config: Config) -> list[str]:
    """What is wrong with a configuration that could be read; nothing is connected to, no model is
    loaded and none is asked."""
    # Its patterns alone: the chunker of all other files is a key of its own.
    patterned = replace(config, ingest=replace(config.ingest, chunker="auto"))
    checks: list[tuple[str, Callable[[], object]]] = [
        ("dsn", lambda: config.dsn and read_dsn(config.dsn)),
        ("embedder", lambda: embedder_of(config)),
        ("generator", lambda: generator_of(config)),
        ("reranker", lambda: reranker_of(config)),
        ("ingest.chunker", lambda: chunker_named(config.ingest.chunker, _ANY)),
        ("ingest.chunkers", lambda: chunker_of(patterned, _ANY, "")),
    ]
    checks += [
        (f"namespaces.{name}.chunker", partial(chunker_named, one.chunker, _ANY))
        for name, one in config.namespaces.items()
        if one.chunker is not None
    ]
    checks += [
        (f"folder.{one.path}.chunker", partial(chunker_named, one.chunker, _ANY))
        for one in config.folder
        if one.chunker is not None
    ]
    found = []
    for key, check in checks:
        try:
            check()
        except RagpgError as error:
            origin = config.origins.get(key, "file")
            where = config.path if origin != "environment" else "environment"
            found.append(f"{where}: {key}: {error}")
    found += [
        f"{config.path}: folder: there is no folder {one.path}"
        for one in config.folder
        if not os.path.isdir(one.path)
    ]
    found += [
        f"{config.path}: worker.folders: there is no folder {one}"
        for one in config.worker.folders
        if not os.path.isdir(one)
    ]
    prices = config.settings.prices
    if prices is not None and not os.path.isfile(prices):
        found.append(f"{config.path or 'environment'}: settings.prices: there is no file {prices}")
    models = {"embedder": config.embedder} | {
        f"namespaces.{name}.embedder": one.embedder for name, one in config.namespaces.items()
    }
    for key, spec in models.items():
        if spec and spec.startswith("path:"):
            folder = os.path.expanduser(spec.removeprefix("path:"))
            if not os.path.isdir(folder):
                found.append(f"{config.path or 'environment'}: {key}: there is no folder {folder}")
    return found


class _Any:
    """Stands for an embedder, whose name has been checked already."""

    model = "any"
    dimensions = 1


_ANY: Any = _Any()
