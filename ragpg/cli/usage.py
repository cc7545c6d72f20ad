"""`ragpg usage`: what models cost, and how to forget it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Unpack

import click

from ragpg.cli import clients, options, output

if TYPE_CHECKING:
    from datetime import datetime

    from ragpg.cli.options import Connection

_COLUMNS = ("day", "item", "category", "model", "requests", "input_tokens", "output_tokens", "usd")
_DAY = click.DateTime(["%Y-%m-%d"])


@click.command()
@options.namespace_argument(required=False)
@click.option("--since", type=_DAY, help="The first day (UTC) to show")
@click.option("--forget-before", type=_DAY, help="Delete what is older than this day instead")
@click.option("--forget", is_flag=True, help="Delete all of it instead")
@options.address
@options.json_output
def usage(
    namespace: str | None,
    *,
    since: datetime | None,
    forget_before: datetime | None,
    forget: bool,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """What models cost, by day, namespace, category and model.

    Clients add it up where RAGPG_USAGE=1 is set, or `usage = true` in the settings.

    \b
    ragpg usage handbook --since 2026-01-01
    """
    from ragpg.observe.ledger import reset_usage, usage_of

    with clients.connect(**connection, needs_embedder=False) as rag:
        if forget or forget_before:
            before = None if forget or forget_before is None else forget_before.date()
            count = rag.run(reset_usage(namespace, before))
            click.echo(f"forgotten: {count}")
            return
        found = rag.run(usage_of(namespace, None if since is None else since.date()))
    if as_json:
        output.print_json([asdict(one) | {"day": one.day.isoformat()} for one in found])
        return
    rows = [
        (one.day, one.item, one.category, one.model, one.requests, one.input_tokens,
         one.output_tokens, "?" if one.cost_usd is None else f"{one.cost_usd:.6f}")
        for one in found
    ]  # fmt: skip
    click.echo(output.table(_COLUMNS, rows) if rows else "Nothing was added up yet.")
    costs = [one.cost_usd for one in found if one.cost_usd is not None]
    if costs:
        output.note(f"{sum(costs):.6f} USD in all")
    unpriced = sum(one.unpriced for one in found)
    if unpriced:
        output.note(f"{unpriced} requests have no known price: see RAGPG_PRICES")
