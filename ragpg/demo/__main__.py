"""Bring up Postgres, ingest the manual, ask three questions, check one answer.

RAGPG_DSN chooses another database; the manual is written to .ragpg/demo in the current folder.
"""

from __future__ import annotations

import os
import textwrap
import time
from pathlib import Path

import click

from ragpg.cli.clients import make_embedder
from ragpg.cli.failures import reported
from ragpg.cli.ingest import progress, totals
from ragpg.cli.output import show_hits, show_report
from ragpg.demo.corpus import write_corpus
from ragpg.query.grounding_report import render_grounding

NAMESPACE = "demo"

QUESTIONS = (
    "What causes a deadlock, and how can I avoid one?",
    "Which index should I use for full text search?",
    "Why does the table stay large on disk after I delete rows?",
)

#: The first sentence is what the manual says, the second is the opposite of it.
ANSWER = (
    "Plain VACUUM reclaims space and makes it available for re-use. "
    "VACUUM FULL does not require an ACCESS EXCLUSIVE lock on the table."
)

NEXT = """\
What to try next:
  .venv/bin/ragpg search "how do I take a base backup?" -n demo
  .venv/bin/ragpg search "row level security" -n demo --json
  .venv/bin/ragpg ground "A hash index supports range queries." -n demo
  .venv/bin/ragpg ingest docs/ -n mine && .venv/bin/ragpg search "..." -n mine
  .venv/bin/ragpg db psql
    select rank, source, start_line from ragpg.search('deadlock', namespaces => '{demo}', k => 5);
  .venv/bin/ragpg db stop
"""


@click.command()
def demo() -> None:
    """Show ragpg at work on 343 sections of the PostgreSQL manual."""
    with reported():
        _demo()


def _demo() -> None:
    began = time.perf_counter()
    import ragpg
    from ragpg import migrate

    dsn = os.environ.get("RAGPG_DSN") or _local_server()
    migrate.upgrade(dsn)
    _say("Schema ragpg is current.")
    folder = Path(".ragpg/demo/manual")
    _say(f"{write_corpus(folder)} sections of the PostgreSQL manual are in {folder}/.")
    with ragpg.connect(dsn, embedder=make_embedder(None)) as rag:
        with progress([str(folder)], hidden=False) as advance:
            report = rag.ingest(
                [folder], namespace=NAMESPACE, prune=True, on_file=lambda _: advance(None)
            )
        _say(totals(report))
        for question in QUESTIONS:
            result = rag.search(question, namespace=NAMESPACE, k=3)
            click.echo(f"\n\n=== {question}\n\n{show_hits(result.hits)}\n")
            click.echo(textwrap.indent(show_report(result.report), "    "))
        click.echo(f"\n\n=== Is this answer true? {ANSWER}\n")
        click.echo(render_grounding(rag.ground(ANSWER, question=ANSWER, namespace=NAMESPACE)))
    click.echo(f"\n\n{NEXT}")
    _say(f"All of it took {time.perf_counter() - began:.1f} s.")


def _local_server() -> str:
    from ragpg import localdb

    if not localdb.status().running:
        _say("Bringing up a private PostgreSQL; the first time takes some 20 s.")
    dsn = localdb.up()
    _say(f"PostgreSQL runs: {dsn}")
    return dsn


def _say(text: str) -> None:
    click.echo(f"[demo] {text}", err=True)


if __name__ == "__main__":
    demo()
