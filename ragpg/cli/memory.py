"""`ragpg memory`: what an agent remembers."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Unpack

import click

from ragpg.cli import clients, options, output
from ragpg.cli.groups import Group

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragpg.cli.options import Connection
    from ragpg.client import Client


@click.group(cls=Group)
def memory() -> None:
    """Remember, recall and forget, in a namespace for each agent.

    \b
    ragpg memory remember "The release is on Friday." --agent helper
    ragpg memory recall "When is the release?" --agent helper
    """


def _agent(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--agent", default="default", show_default=True, help="Whose memory: namespace memory/AGENT"
    )(command)


@memory.command()
@click.argument("text")
@_agent
@click.option("--key", help="What the text is about: the same key takes an older text's place")
@click.option("--metadata", callback=options.json_object, metavar="JSON", help="As JSON")
@options.connection
@options.json_output
def remember(
    text: str,
    *,
    agent: str,
    key: str | None,
    metadata: dict[str, Any] | None,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Store TEXT. What it contradicts is kept, and no longer current.

    \b
    ragpg memory remember "The build runs on port 8080."
    ragpg memory remember "Green." --key "favourite colour" --agent helper
    """
    from ragpg.memory.memory import Memory

    with _open(connection) as rag:
        found = Memory(rag, agent).remember(text, key=key, metadata=metadata)
    if as_json:
        output.print_json(asdict(found))
        return
    output.say(f"{'remembered' if found.new else 'known already'}: {found.source}")
    for source, reason in found.superseded.items():
        output.say(f"no longer current: {source} ({reason})")


@memory.command()
@click.argument("query")
@_agent
@click.option("-k", "--k", default=5, show_default=True, type=click.IntRange(0), help="How many")
@click.option("--min-similarity", default=0.3, show_default=True, type=click.FloatRange(-1, 1),
              help="Cosine below which nothing is recalled")  # fmt: skip
@click.option("--all", "superseded", is_flag=True, help="Also what is no longer current")
@click.option("--block", "as_block", is_flag=True, help="Print the block of a prompt")
@options.connection
@options.json_output
def recall(
    query: str,
    *,
    agent: str,
    k: int,
    min_similarity: float,
    superseded: bool,
    as_block: bool,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Find memories that fit QUERY.

    \b
    ragpg memory recall "which port?" --agent helper
    ragpg memory recall "which port?" --block
    """
    from ragpg.memory.block import memory_block
    from ragpg.memory.memory import Memory

    with _open(connection) as rag:
        found = Memory(rag, agent).recall(
            query, k=k, min_similarity=min_similarity, superseded=superseded
        )
    if as_json:
        output.print_json([asdict(one) | {"current": one.current} for one in found])
    elif as_block:
        click.echo(memory_block(found))
    else:
        for one in found:
            old = "" if one.current else "  (no longer current)"
            output.say(f"{one.last_seen_at:%Y-%m-%d}  {one.source}  {one.text}{old}")
        if not found:
            click.echo("Nothing recalled.")


@memory.command()
@click.argument("sources", nargs=-1)
@_agent
@click.option("--everything", is_flag=True, help="Forget all that this agent remembers")
@options.address
@options.json_output
def forget(
    sources: tuple[str, ...],
    *,
    agent: str,
    everything: bool,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Delete memories by SOURCE, as recall shows it.

    \b
    ragpg memory forget 4f0c7a1d --agent helper
    ragpg memory forget --everything --agent helper
    """
    from ragpg.memory.memory import Memory

    if everything and sources:
        raise click.UsageError("give sources or --everything, not both")
    if not everything and not any(sources):
        raise click.UsageError("nothing was named: give sources, or --everything")
    with _open(connection, needs_embedder=False) as rag:
        mine = Memory(rag, agent)
        count = int(mine.forget_everything()) if everything else mine.forget(sources)
    if as_json:
        output.print_json({"forgotten": "everything" if everything and count else count})
    else:
        click.echo("forgotten: " + ("everything" if everything and count else str(count)))


def _open(connection: Connection, *, needs_embedder: bool = True) -> Client:
    return clients.connect(**connection, needs_embedder=needs_embedder)
