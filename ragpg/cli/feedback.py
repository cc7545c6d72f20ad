"""`ragpg feedback`: what was learned of passages, and how to forget it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Unpack

import click

from ragpg.cli import clients, options, output
from ragpg.cli.groups import Group

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragpg.cli.options import Connection


@click.group(cls=Group)
def feedback() -> None:
    """Which passages people follow, and the priors that come of it.

    \b
    ragpg feedback show -n handbook
    ragpg feedback switch off -n handbook
    """


def _namespace(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "-n", "--namespace", default="default", show_default=True, help="Whose feedback"
    )(command)


@feedback.command()
@_namespace
@click.option("-k", "--k", default=20, show_default=True, type=click.IntRange(0), help="How many")
@options.address
@options.json_output
def show(namespace: str, *, k: int, as_json: bool, **connection: Unpack[Connection]) -> None:
    """Passages with their counts and priors, the strongest first.

    \b
    ragpg feedback show -n handbook
    """
    from ragpg.feedback.feedback import Feedback

    with clients.connect(**connection, needs_embedder=False) as rag:
        found = Feedback(rag).summary(namespace, k=k)
    if as_json:
        output.print_json([asdict(one) for one in found])
        return
    head = ("source", "chunk", "shown", "followed", "expected", "prior")
    rows = [
        (one.source, one.chunk_index, f"{one.shown:.0f}", f"{one.followed:.0f}",
         f"{one.expected:.1f}", f"{one.prior:.3f}")
        for one in found
    ]  # fmt: skip
    click.echo(output.table(head, rows) if rows else "No feedback yet.")
    if found and not found[0].enabled:
        output.note(f"feedback is switched off in {namespace}: no prior is applied")


@feedback.command()
@_namespace
@click.option("--source", "sources", multiple=True, help="Only of this document; repeat it")
@options.address
@options.json_output
def reset(
    namespace: str, *, sources: tuple[str, ...], as_json: bool, **connection: Unpack[Connection]
) -> None:
    """Forget what was counted, in a namespace or of some documents.

    \b
    ragpg feedback reset -n handbook --source refund.md
    """
    from ragpg.feedback.feedback import Feedback

    with clients.connect(**connection, needs_embedder=False) as rag:
        count = Feedback(rag).reset(namespace, sources=sources or None)
    if as_json:
        output.print_json({"namespace": namespace, "forgotten": count})
    else:
        click.echo(f"forgotten: {count}")


@feedback.command()
@_namespace
@click.argument("state", type=click.Choice(["on", "off"]))
@options.address
@options.json_output
def switch(namespace: str, *, state: str, as_json: bool, **connection: Unpack[Connection]) -> None:
    """Switch the learning loop of a namespace on or off; nothing is forgotten.

    \b
    ragpg feedback switch off -n handbook
    """
    from ragpg.feedback.feedback import Feedback

    with clients.connect(**connection, needs_embedder=False) as rag:
        Feedback(rag).switch(namespace, enabled=state == "on")
    if as_json:
        output.print_json({"namespace": namespace, "enabled": state == "on"})
    else:
        output.say(f"feedback of {namespace}: {state}")
