"""A configuration at work: the arguments of a client, its models, the tools, a memory."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from ragpg.config.read import read_config
from ragpg.config.sections import Namespace
from ragpg.config.values import Config
from ragpg.embedders import Embedders
from ragpg.errors import ConfigError
from ragpg.ingest.chunkers.by_source import SourceChunker
from ragpg.ingest.patterns import matches
from ragpg.settings import Settings
from ragpg.sqlfiles import DEFAULT_SCHEMA

if TYPE_CHECKING:
    import os

    from ragpg.protocols import Chunker, Embedder, Generator, Reranker
    from ragpg.query.cache import Cache

#: A configuration, or the path of its file.
ConfigChoice: TypeAlias = "Config | str | os.PathLike[str]"


def configured(choice: ConfigChoice | None, **given: Any) -> tuple[Config, dict[str, Any]]:
    """A configuration, and the arguments of a client by it; what is given here wins.

    choice  None: no file is read, and of the environment only RAGPG_PROFILE and the settings
    given   embedder, reranker, generator, schema, settings, profile, cache; None is what nobody
            gave
    """
    if choice is None:
        settings = given.get("settings") or Settings.from_env()
        plain = Config(settings=settings)
        return plain, given | {
            "settings": settings,
            "schema": DEFAULT_SCHEMA if given.get("schema") is None else given["schema"],
        }
    config = choice if isinstance(choice, Config) else read_config(choice)
    embedder = given.get("embedder") or embedder_of(config)
    found = given | {
        "embedder": embedder,
        "generator": given.get("generator") or generator_of(config),
        "reranker": given.get("reranker") or reranker_of(config, embedder),
        "schema": config.schema if given.get("schema") is None else given["schema"],
        "settings": given.get("settings") or replace(config.settings, dsn=config.dsn),
        "profile": given.get("profile") or config.profile,
        "cache": cache_of(config) if given.get("cache") is None else given["cache"],
    }
    return config, found


def without_models(config: Config) -> Config:
    """The same for a client that gets its embedder and its chat model otherwise, or needs none."""
    return replace(with_one_embedder(config), embedder=None, generator=None)


def with_one_embedder(config: Config) -> Config:
    """The same without the embedders that namespaces have of their own."""
    plain = {name: replace(one, embedder=None) for name, one in config.namespaces.items()}
    return replace(config, namespaces=plain)


def embedder_of(config: Config) -> Embedder | None:
    """The embedder that is configured, which knows those of namespaces too; None without one.

    Raises ConfigError for an unknown name, and for one of a namespace without one for the others.
    """
    own = {name: one.embedder for name, one in config.namespaces.items() if one.embedder}
    if not config.embedder:
        if own:
            raise ConfigError(
                f"namespaces.{min(own)} has an embedder, and there is none for the others",
                hint='Write embedder = "local", or another, at the top of the file.',
            )
        return None
    first = _embedder_named(config.embedder, config)
    if not own:
        return first
    models = {spec: _embedder_named(spec, config) for spec in own.values()}
    missing = [name for name, spec in own.items() if models[spec] is None]
    if first is None or missing:
        raise ConfigError(
            f"the embedder of {f'namespaces.{missing[0]}' if missing else 'the others'} is none",
            hint="Where namespaces have embedders of their own, all need one.",
        )
    known = [one for one in models.values() if one is not None]
    chosen = {name: one for name, spec in own.items() if (one := models[spec]) is not None}
    return Embedders(*(first if isinstance(first, Embedders) else [first]), *known, chosen=chosen)


def _embedder_named(spec: str, config: Config) -> Embedder | None:
    from ragpg.providers.named import embedder_named

    given = config.openai.arguments("base_url", "api_key", "dimensions", "timeout", "max_retries")
    return embedder_named(spec, **given)


def generator_of(config: Config) -> Generator | None:
    """The chat model that is configured; None without one. Raises ConfigError."""
    from ragpg.providers.named import generator_named

    if not config.generator:
        return None
    given = config.openai.arguments("base_url", "api_key", "timeout", "max_retries")
    return generator_named(config.generator, **given)


def reranker_of(config: Config, embedder: Any = None) -> Reranker | None:
    """The rerankers that are configured, as one; None leaves them to the profile."""
    from ragpg.rerankers.named import named_reranker

    names = [name.strip() for name in (config.reranker or "").split(",") if name.strip()]
    return named_reranker(names, embedder)


def cache_of(config: Config) -> Cache | None:
    """The cache of results that is configured; None where it is off."""
    from ragpg.query.cache import Cache

    said = config.cache
    return Cache(max_bytes=said.max_bytes, ttl=said.ttl) if said.enabled else None


def chunker_of(config: Config, embedder: Any, namespace: str) -> Chunker | None:
    """The chunker that is configured for a namespace; None for the one that goes by a document's
    format. Raises ConfigError for an unknown name or a malformed pattern."""
    from ragpg.ingest.chunkers.named import chunker_named

    own = config.namespaces.get(namespace, Namespace()).chunker
    if own is not None:
        return chunker_named(own, embedder)
    said = config.ingest
    if not said.chunkers:
        return None if said.chunker == "auto" else chunker_named(said.chunker, embedder)
    for pattern in said.chunkers:
        matches("", [pattern])
    return SourceChunker(
        [(pattern, chunker_named(one, embedder)) for pattern, one in said.chunkers.items()],
        chunker_named(said.chunker, embedder),
    )


def tool_arguments(config: Config) -> dict[str, Any]:
    """The arguments of ragpg.tools.search_tool.SearchTool as configured."""
    tools = config.tools
    given = {one.name: getattr(tools, one.name) for one in fields(tools)}
    given["default_namespaces"] = tools.default_namespaces or None
    given["filter"] = dict(tools.filter) or None
    if tools.description is None:
        del given["description"]
    return given
