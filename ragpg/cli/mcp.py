"""`ragpg mcp`: the knowledge base for agents that speak the Model Context Protocol."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import click

from ragpg.cli import clients, config_option, judge_options, options, output

if TYPE_CHECKING:
    from ragpg.cli.options import Connection
    from ragpg.query.profile import Unsupported


@click.command()
@click.option(
    "-n",
    "--namespace",
    multiple=True,
    required=True,
    help="Namespace that may be searched; repeat it for several",
)
@click.option("--top-k", default=5, show_default=True, type=click.IntRange(1, 50),
              help="How many passages when the model does not say")  # fmt: skip
@click.option("--tool-name", default="knowledge_search", show_default=True,
              help="What the search is called")  # fmt: skip
@click.option("--memory", metavar="AGENT",
              help="Also remember, recall and forget, in the memory of AGENT")  # fmt: skip
@click.option("--learn", is_flag=True,
              help="Let later searches learn from what answers were written from")  # fmt: skip
@click.option("--http", is_flag=True, help="Streamable HTTP at /mcp; default: stdio")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address of --http")
@click.option("--port", default=8000, show_default=True, help="Port of --http")
@judge_options.judge
@judge_options.about_unsupported
@options.profile
@options.connection
def mcp(
    *,
    namespace: tuple[str, ...],
    top_k: int,
    tool_name: str,
    memory: str | None,
    learn: bool,
    http: bool,
    host: str,
    port: int,
    judge: str | None,
    generator: str | None,
    gate: float | None,
    unsupported: Unsupported | None,
    profile: str | None,
    **connection: Unpack[Connection],
) -> None:
    """Serve search, grounding and, with --generator, answers as MCP tools; needs ragpg[mcp].

    Only the namespaces given are ever searched, and all of them must be there; the database
    refuses the server every other. With --memory it also writes, to memory/AGENT and nothing else.
    Over HTTP there is no authentication: put it behind a proxy that has some, or leave it on
    127.0.0.1. Ctrl-C ends it, with exit code 0.

    \b
    ragpg mcp -n handbook
    ragpg mcp -n handbook --memory helper
    ragpg mcp -n handbook -n faq --http --port 8080
    """
    import ragpg
    from ragpg.tools.mcp_server import build_server, require_namespaces
    from ragpg.tools.search_tool import SearchTool

    chosen = clients.chosen_profile(profile)
    said: dict[str, Any] = {"judge": judge, "gate": gate, "unsupported": unsupported}
    chosen = replace(chosen, **{key: one for key, one in said.items() if one is not None})
    tool = SearchTool(**_tool() | {"namespaces": namespace, "name": tool_name, "top_k": top_k})
    embedder = clients.make_embedder(connection["embedder"])
    with clients.open_client(connection["dsn"], connection["schema"], embedder) as checked:
        require_namespaces(checked.namespaces(), namespace)
    rag = ragpg.aconnect(
        clients.database(connection["dsn"]),
        schema=connection["schema"],
        embedder=embedder,
        generator=clients.make_generator(generator) if generator else None,
        profile=chosen,
        config=clients.modelless(),
    )
    server = build_server(rag, tool, memory=memory, learn=learn)
    try:
        if http:
            server.run("streamable-http", host=host, port=port)
        else:
            server.run("stdio")
    except KeyboardInterrupt:
        output.note("stopped")


def _tool() -> dict[str, Any]:
    """What is configured of the tool, beside the options."""
    from ragpg.config.use import tool_arguments

    config = config_option.configuration()
    return {} if config is None else tool_arguments(config)
