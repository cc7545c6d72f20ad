"""`ragpg inspect`: one query's way through all arms and stages, as a page."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Any, Unpack

import click

from ragpg.cli import clients, files, judge_options, options, output
from ragpg.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragpg.cli.options import Connection
    from ragpg.inspection.inspect import Inspection


#: How long the end of --serve waits for inspections that run, in seconds.
_PATIENCE = 2.0


@click.command()
@click.argument("query", default="")
@options.namespaces_to_search
@click.option(
    "-k", "--k", default=10, show_default=True, type=click.IntRange(1, 100), help="How many hits"
)
@options.filter_option
@options.ranking
@click.option("--answer", metavar="TEXT", help="Check the claims of this text; - reads it")
@judge_options.judge
@click.option("--out", type=click.Path(dir_okay=False, allow_dash=True), metavar="FILE",
              help="Write the page to this file; - prints it")  # fmt: skip
@click.option("--serve", is_flag=True, help="Serve it on this machine, with a box for queries")
@click.option("--port", default=8787, show_default=True, type=click.IntRange(0, 65535),
              help="Port of --serve; 0 takes a free one")  # fmt: skip
@click.option("--depth", default=12, show_default=True, type=click.IntRange(1, 100),
              help="How many entries a list shows")  # fmt: skip
@options.profile
@options.connection
@options.json_output
def inspect(
    query: str,
    *,
    namespace: tuple[str, ...],
    k: int,
    filter_: dict[str, Any] | None,
    arms: dict[str, Any] | list[str] | None,
    rerank: bool,
    answer: str | None,
    judge: str | None,
    generator: str | None,
    out: str | None,
    serve: bool,
    port: int,
    depth: int,
    profile: str | None,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Show the way of QUERY through all arms, fusion, reranking and context, side by side.

    The page is one file without network and libraries. One chunk can be followed through all
    lists, by mouse or keyboard.

    \b
    ragpg inspect "how long do refunds take?" -n handbook --out refunds.html
    ragpg inspect "refunds" --answer "Refunds take 14 days." --out refunds.html
    ragpg inspect --serve -n handbook
    """
    if serve and (out or as_json):
        raise click.UsageError("--serve shows pages as they are asked for: leave --out and --json")
    if not serve and not query.strip():
        raise click.UsageError("name a query, or --serve a page that asks for one")
    if not (serve or out or as_json):
        raise click.UsageError("say where to: --out FILE, --serve or --json")
    files.check_places(out)
    from ragpg.inspection.inspect import inspect as look
    from ragpg.inspection.page import as_html

    text = sys.stdin.read() if answer == "-" else answer
    chosen = judge or clients.chosen_profile(profile).judge
    model = clients.make_generator(generator) if chosen == "llm" else None
    with clients.connect(**connection, profile=profile, generator=model) as rag:

        def inspected(fields: Mapping[str, str]) -> Inspection:
            names = [one.strip() for one in fields["n"].split(",") if one.strip()]
            flow = look(
                rag, fields["q"], namespace=names, answer=fields.get("answer") or None,
                k=count_of(fields["k"]), filter=filter_, arms=arms, rerank=rerank, judge=judge,
            )  # fmt: skip
            return rag.run(flow)

        asked = {"q": query, "n": ", ".join(namespace), "k": str(k), "answer": text or ""}
        if serve:
            _serve(inspected, asked, port, depth)
            return
        found = inspected(asked)
    for remark in found.result.notes:
        output.note(remark)
    if as_json:
        from ragpg.inspection.columns import as_json as board_json

        output.print_json(board_json(found, depth))
    if out == "-":
        click.echo(as_html(found, depth=depth))
    elif out:
        page = as_html(found, depth=depth)
        files.write_file(out, page)
        output.say(f"{out}: {len(found.result.hits)} of {len(found.trace.fused)} hits", err=True)


def count_of(text: str) -> int:
    """How many results a form asks for, 1 to 100. Raises ConfigError for anything else."""
    # Three digits: of thousands Python makes no number.
    if not text.isdecimal() or len(text) > 3 or not 1 <= int(text) <= 100:
        raise ConfigError(f"the number of results must be from 1 to 100, not {text[:20]!r}")
    return int(text)


def _serve(inspected: Any, fields: Mapping[str, str], port: int, depth: int) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    from ragpg.inspection.server import InspectServer

    try:
        server = InspectServer(inspected, fields, port=port, depth=depth)
    except OSError as error:
        raise ConfigError(
            f"port {port} cannot be used: {error.strerror}", hint="Choose another: --port 0"
        ) from error

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGTERM, stop)
    click.echo(server.address)
    output.note("Ctrl-C ends it")
    try:
        server.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        left = server.settle(_PATIENCE)
        output.note(f"stopped, with {left} requests unanswered" if left else "stopped")
    finally:
        signal.signal(signal.SIGTERM, former)
        server.server_close()
