"""`ragpg jobs`: put documents into the queue, see how far they are, repair what failed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click

from ragpg.cli import clients, options, output
from ragpg.cli.groups import Group
from ragpg.cli.ingest import line
from ragpg.ingest.patterns import is_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.cli.options import Connection
    from ragpg.jobs.enqueue import EnqueueReport
    from ragpg.jobs.queries import JobInfo, Progress


@click.group(cls=Group)
def jobs() -> None:
    """The queue: put documents in, see how far they are, repair what failed.

    \b
    ragpg jobs add docs/ -n handbook
    ragpg worker --files docs/
    ragpg jobs list
    """


@jobs.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("-n", "--namespace", default="default", show_default=True, help="Created if missing")
@options.language
@click.option(
    "--metadata", callback=options.json_object, metavar="JSON", help="For every document, as JSON"
)
@click.option("--root", type=click.Path(exists=True, file_okay=False), help="As for ragpg ingest")
@click.option("--prune", is_flag=True, help="Delete documents whose files are gone from PATHS")
@click.option("--include", multiple=True, metavar="PATTERN", help="Only files that match")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="No files that match")
@click.option("--follow-links", is_flag=True, help="Follow symbolic links out of the folder")
@click.option("--priority", type=int, default=0, show_default=True, help="Higher goes first")
@click.option("--delay", type=click.FloatRange(min=0), default=0.0, help="Seconds to wait before")
@click.option("--max-attempts", type=click.IntRange(1), default=5, show_default=True,
              help="After so many failures a job is put into quarantine")  # fmt: skip
@click.option("--batch", help="A label, to see the progress of these jobs")
@options.address
@options.json_output
@click.pass_context
def add(
    ctx: click.Context,
    /,
    paths: tuple[str, ...],
    *,
    as_json: bool,
    **rest: Any,
) -> None:
    """Put PATHS into the queue: files, folders and patterns, one job a file.

    Workers read the files, so they must see them under the same absolute paths, and be allowed to
    (`ragpg worker --files`). From SQL: select ragpg.enqueue('source', 'text').

    \b
    ragpg jobs add docs/ -n handbook --prune
    ragpg jobs add urgent.pdf --priority 10
    """
    from ragpg.jobs.queue import Queue

    missing = [path for path in paths if not is_pattern(path) and not Path(path).exists()]
    if missing:
        raise click.UsageError(f"there is no {missing[0]}")
    connection = _connection(rest)
    with clients.connect(**connection, needs_embedder=False) as rag:
        report = Queue(rag).enqueue(paths, **rest)
    show_enqueued(report, as_json=as_json)
    ctx.exit(0 if report.ok else output.FAILED)


def show_enqueued(report: EnqueueReport, *, as_json: bool) -> None:
    """Print what went into the queue."""
    if as_json:
        output.print_json(asdict(report) | {"ok": report.ok})
        return
    for one in report.rejected:
        output.say(line(one))
    text = f"{report.namespace}: {len(report.jobs)} jobs"
    output.say(text + (f", {report.replaced} in place of others" if report.replaced else ""))


@jobs.command("list")
@click.option("-n", "--namespace", help="Only of this namespace")
@click.option(
    "--state",
    type=click.Choice(["waiting", "delayed", "running", "lost", "done", "quarantined"]),
    help="List the jobs in this state, instead of the progress",
)
@click.option(
    "-k", "--k", default=100, show_default=True, type=click.IntRange(1), help="At most so many"
)
@options.address
@options.json_output
def list_jobs(
    *,
    namespace: str | None,
    state: str | None,
    k: int,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Show the progress of each namespace and batch, and what is in quarantine.

    \b
    ragpg jobs list
    ragpg jobs list --state waiting -n handbook
    """
    from ragpg.jobs.queue import Queue

    with clients.connect(**connection, needs_embedder=False) as rag:
        queue = Queue(rag)
        progress = [] if state else queue.progress(namespace)
        found = queue.jobs(namespace, state=state or "quarantined", k=k)
    if as_json:
        output.print_json(
            {"progress": [asdict(one) for one in progress], "jobs": [asdict(one) for one in found]}
        )
        return
    if progress:
        click.echo(_progress_table(progress))
    if found:
        click.echo(("\n" if progress else "") + _job_table(found))
    if not progress and not found:
        click.echo("No jobs.")


@jobs.command()
@click.argument("ids", nargs=-1, type=int)
@click.option("-n", "--namespace", help="Those of this namespace")
@click.option("--all", "everything", is_flag=True, help="All that are in quarantine")
@options.address
@options.json_output
def retry(
    ids: tuple[int, ...],
    *,
    namespace: str | None,
    everything: bool,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Take jobs out of quarantine, by ID, namespace or --all.

    \b
    ragpg jobs retry 17 18
    ragpg jobs retry -n handbook
    """
    from ragpg.jobs.queue import Queue

    if not ids and namespace is None and not everything:
        raise click.UsageError("nothing was named: give ids, --namespace or --all")
    with clients.connect(**connection, needs_embedder=False) as rag:
        count = Queue(rag).retry(namespace, ids=list(ids) or None)
    output.print_json({"retried": count}) if as_json else click.echo(f"retried: {count}")


@jobs.command()
@click.argument("ids", nargs=-1, type=int)
@click.option("-n", "--namespace", help="Only of this namespace")
@click.option(
    "--state",
    type=click.Choice(["waiting", "running", "done", "quarantined"]),
    help="All in this state",
)
@options.address
@options.json_output
def delete(
    ids: tuple[int, ...],
    *,
    namespace: str | None,
    state: str | None,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Delete jobs, by ID or by state; what is stored of their documents stays.

    \b
    ragpg jobs delete 17 18
    ragpg jobs delete -n handbook --state quarantined
    """
    from ragpg.jobs.queue import Queue

    if not ids and state is None:
        raise click.UsageError("nothing was named: give ids, or --state")
    with clients.connect(**connection, needs_embedder=False) as rag:
        count = Queue(rag).delete(list(ids) or None, namespace=namespace, state=state)
    output.print_json({"deleted": count}) if as_json else click.echo(f"deleted: {count}")


def _connection(rest: dict[str, Any]) -> Connection:
    """Take the options of the connection out of all options."""
    return {
        "dsn": rest.pop("dsn"),
        "schema": rest.pop("schema"),
        "embedder": rest.pop("embedder"),
    }


def _progress_table(progress: Sequence[Progress]) -> str:
    return output.table(
        ("namespace", "batch", "waiting", "running", "done", "quarantined", "percent", "chunks"),
        [
            (one.namespace, one.batch, one.waiting, one.running, one.done, one.quarantined,
             one.percent, one.chunks)
            for one in progress
        ],
    )  # fmt: skip


def _job_table(found: Sequence[JobInfo]) -> str:
    return output.table(
        ("id", "namespace", "source", "state", "attempts", "error"),
        [
            (one.id, one.namespace, one.source, one.state, f"{one.attempts}/{one.max_attempts}",
             " ".join((one.error or "").split()))
            for one in found
        ],
    )  # fmt: skip
