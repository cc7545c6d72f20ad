"""A configuration at work: the arguments of a client, its models, the tools, a memory."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from ragpg.config.read import read_config
from ragpg.config.values import Config
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
    return replace(config, embedder=None, generator=None)


def embedder_of(config: Config) -> Embedder | None:
    """The embedder that is configured; None without one. Raises ConfigError for an unknown name."""
    from ragpg.providers.named import embedder_named

    if not config.embedder:
        return None
    given = config.openai.arguments("base_url", "api_key", "dimensions", "timeout", "max_retries")
    return embedder_named(config.embedder, **given)


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


def chunker_of(config: Config, embedder: Any = None) -> Chunker | None:
    """The chunker that is configured; None for the one that goes by a document's format."""
    from ragpg.ingest.chunkers.named import chunker_named

    return (
        None if config.ingest.chunker == "auto" else chunker_named(config.ingest.chunker, embedder)
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
