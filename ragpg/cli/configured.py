"""What a configuration says for the options of a command; the environment and options win."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.config.values import Config

#: Options of every command that has them -> keys of the configuration.
_EVERYWHERE = {
    "dsn": "dsn",
    "schema": "schema",
    "embedder": "embedder",
    "generator": "generator",
    "agent": "memory.agent",
}
#: Command -> its options -> keys of the configuration.
_COMMANDS = {
    "ingest": {
        "include": "ingest.include",
        "exclude": "ingest.exclude",
        "follow_links": "ingest.follow_links",
    },
    "jobs add": {"follow_links": "ingest.follow_links"},
    "watch": {"debounce": "watch.debounce", "rescan": "watch.rescan"},
    "worker": {
        "folders": "worker.folders",
        "threads": "worker.threads",
        "lease": "worker.lease",
        "poll": "worker.poll",
    },
    "memory recall": {"k": "memory.k", "min_similarity": "memory.min_similarity"},
    "graph extract": {
        "batch": "graph.extract_batch",
        "tokens": "graph.extract_tokens",
        "parallel": "graph.parallel",
        "structured": "graph.structured",
    },
    "graph reports": {"parallel": "graph.parallel", "structured": "graph.structured"},
    "graph overview": {"parallel": "graph.parallel"},
    "mcp": {
        "namespace": "tools.namespaces",
        "top_k": "tools.top_k",
        "tool_name": "tools.name",
        "http": "mcp.http",
        "host": "mcp.host",
        "port": "mcp.port",
    },
}


def defaults_of(config: Config, command: Sequence[str]) -> dict[str, Any]:
    """Defaults of a command's options, for those keys that somebody has set."""
    keys = _EVERYWHERE | _COMMANDS.get(" ".join(command), {})
    return {
        option: _value(config, key)
        for option, key in keys.items()
        if config.origins.get(key, "default") != "default"
    }


def _value(config: Config, key: str) -> Any:
    found: Any = config
    for name in key.split("."):
        found = getattr(found, name)
    return found
