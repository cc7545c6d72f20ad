"""`ragpg ingest`: files and folders into a namespace, one line a file."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click

from ragpg.cli import clients, options, output
from ragpg.errors import RagpgError
from ragpg.ingest.chunkers.named import CHUNKERS, chunker_named
from ragpg.ingest.discover import discover
from ragpg.ingest.indexing import POLICIES, IndexPolicy
from ragpg.ingest.patterns import is_pattern
from ragpg.terminal import shell_word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ragpg.cli.options import Connection
    from ragpg.client import Client
    from ragpg.types import FileReport, IngestReport, IngestStatus

#: The statuses in the order of the summary.
STATUSES: tuple[IngestStatus, ...] = (
    "stored",
    "unchanged",
    "empty",
    "skipped",
    "removed",
    "failed",
)


@click.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("-n", "--namespace", default="default", show_default=True, help="Created if missing")
@options.language
@click.option(
    "--metadata", callback=options.json_object, metavar="JSON", help="For every document, as JSON"
)
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False),
    help="Folder that sources are named from; default: the folder given, else the current one",
)
@click.option("--prune", is_flag=True, help="Delete documents whose files are gone from PATHS")
@click.option("--include", multiple=True, metavar="PATTERN", help="Only files that match")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="No files that match")
@click.option("--chunker", help=f"{CHUNKERS} [default: as configured, else auto]")
@click.option(
    "--fields",
    callback=options.json_object,
    metavar="JSON",
    help='Fields of JSON records: {"text": "body", "title": "head", "metadata": ["id"]}',
)
@click.option("--follow-links", is_flag=True, help="Follow symbolic links out of the folder")
@click.option(
    "--index",
    type=click.Choice(POLICIES),
    help="The vector index: kept up with every row, or built after [RAGPG_INDEX; default: auto]",
)
@click.option("--queue", is_flag=True, help="Leave it to `ragpg worker`: one job a file")
@click.option("--dry-run", is_flag=True, help="Say what would be done; write nothing")
@click.option("-q", "--quiet", is_flag=True, help="Print only failures and the totals")
@options.connection
@options.json_output
@click.pass_context
def ingest(
    ctx: click.Context,
    paths: tuple[str, ...],
    *,
    namespace: str,
    language: str | None,
    metadata: dict[str, Any] | None,
    root: str | None,
    prune: bool,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    chunker: str | None,
    fields: dict[str, Any] | None,
    follow_links: bool,
    index: IndexPolicy | None,
    queue: bool,
    dry_run: bool,
    quiet: bool,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Read, cut, embed and store PATHS: files, folders and patterns ("docs/**/*.md").

    A document is one transaction, an unchanged file is skipped, and a run that was interrupted is
    completed by the next one. The exit code is 1 if a file failed; the others are stored then. An
    empty folder is no failure.

    \b
    ragpg ingest docs/ README.md -n handbook
    ragpg ingest docs/ -n handbook --prune
    ragpg ingest docs/ --dry-run --json
    ragpg ingest docs/ -n handbook --queue
    """
    missing = [path for path in paths if not is_pattern(path) and not Path(path).exists()]
    if missing:
        raise click.UsageError(f"there is no {missing[0]}")
    if queue:
        source = click.core.ParameterSource.COMMANDLINE
        for name in ("chunker", "fields", "index", "dry_run"):
            if ctx.get_parameter_source(name) == source:
                option = name.replace("_", "-")
                raise click.UsageError(f"--{option} is the worker's: it does not go with --queue")
        from ragpg.cli.jobs import show_enqueued
        from ragpg.jobs.queue import Queue

        with clients.connect(**connection, needs_embedder=False) as rag:
            enqueued = Queue(rag).enqueue(
                paths, namespace=namespace, language=language, metadata=metadata, root=root,
                prune=prune, include=include, exclude=exclude, follow_links=follow_links,
            )  # fmt: skip
        show_enqueued(enqueued, as_json=as_json)
        ctx.exit(0 if enqueued.ok else output.FAILED)
    building = output.IndexLine()
    with (
        _json_fields(fields),
        clients.connect(**connection) as rag,
        progress(paths, hidden=as_json) as advance,
    ):

        def on_file(file: FileReport) -> None:
            advance(None if as_json or (quiet and file.status != "failed") else line(file))

        report = rag.ingest(
            paths,
            metadata=metadata,
            namespace=namespace,
            language=language,
            root=root,
            prune=prune,
            follow_links=follow_links,
            include=include,
            exclude=exclude,
            chunker=None if chunker is None else chunker_named(chunker, rag.embedder),  # type: ignore[arg-type]
            dry_run=dry_run,
            index=index,
            on_index=building,
            on_file=on_file,
        )
        building.end()
        graph = None if dry_run else _graph(rag, namespace)
    if as_json:
        output.print_json(report_json(report, dry_run=dry_run) | {"graph": graph})
    else:
        output.say(("Dry run: " if dry_run else "") + totals(report))
        if graph and graph["stale"]:
            output.note(graph["hint"])
    for remark in report.notes:
        output.note(remark)
    ctx.exit(0 if report.ok else output.FAILED)


def _graph(rag: Client, namespace: str) -> dict[str, Any] | None:
    """How fresh the analysis of the graph is after an ingest; that of a small namespace is made
    here. None where it cannot be seen: the documents are stored all the same."""
    from ragpg.graph import analysis

    knobs = rag.config.graph
    try:
        found = rag.run(analysis.stale([namespace], knobs.share))
        analysed = False
        if found and knobs.analyse and found[0].documents <= analysis.SMALL:
            # None: another session is at it, whose analysis may not know of these documents yet.
            analysed = rag.run(analysis.refresh(namespace)) is not None
    except RagpgError:
        return None
    if not found or analysed:
        return {"stale": False, "changed": 0, "analysed": analysed, "hint": None}
    [graph] = found
    hint = f"{graph}; run: ragpg graph analyse -n {shell_word(namespace)}"
    if knobs.analyse:
        hint += ", or leave it to ragpg worker or ragpg watch"
    return {"stale": True, "changed": graph.changed, "analysed": False, "hint": hint}


@contextmanager
def _json_fields(fields: dict[str, Any] | None) -> Iterator[None]:
    """Reads JSON by a map of fields meanwhile."""
    if fields is None:
        yield
        return
    from ragpg.ingest.loaders import LOADERS, register
    from ragpg.ingest.loaders.json_records import FieldMap, JsonLoader

    former = LOADERS["json"]
    register("json", JsonLoader(FieldMap.parse(fields)))
    try:
        yield
    finally:
        register("json", former)


def line(file: FileReport) -> str:
    """What happened to one file: `OK guide.md (3 chunks, 0 cached)`."""
    if file.status == "stored":
        text = f"OK {file.source} ({_count(file.chunks, 'chunk')}, {file.cached} cached)"
    elif file.status == "unchanged":
        text = f"UNCHANGED {file.source} ({_count(file.chunks, 'chunk')})"
    else:
        text = f"{file.status.upper()} {file.source}"
    if file.reason:
        # Errors of loaders name the source themselves.
        text += f": {' '.join(file.reason.split()).removeprefix(f'{file.source}: ')}"
    return text + (f"  [{'; '.join(file.notes)}]" if file.notes else "")


def totals(report: IngestReport) -> str:
    """The last line: sources by status, chunks, embeddings, time and cost."""
    parts = [f"{report.count(status)} {status}" for status in STATUSES if report.count(status)]
    embedded = sum(file.embedded for file in report.files)
    cached = sum(file.cached for file in report.files)
    text = (
        f"{report.namespace}: {', '.join(parts) or 'no files'}; "
        f"{_count(report.chunks, 'chunk')}, {embedded} embedded, {cached} cached "
        f"in {report.seconds:.1f} s"
    )
    if report.usage.cost_usd is not None:
        text += f", {report.usage.cost_usd:.4f} USD"
    return text


def report_json(report: IngestReport, *, dry_run: bool) -> dict[str, Any]:
    """The report in the documented form; see docs/cli.md."""
    return {
        "namespace": report.namespace,
        "dry_run": dry_run,
        "ok": report.ok,
        "counts": {status: report.count(status) for status in STATUSES},
        "chunks": report.chunks,
        "embedded": sum(file.embedded for file in report.files),
        "cached": sum(file.cached for file in report.files),
        "seconds": round(report.seconds, 3),
        "usage": {
            "input_tokens": report.usage.input_tokens,
            "output_tokens": report.usage.output_tokens,
            "cost_usd": report.usage.cost_usd,
        },
        "files": [file_json(file) for file in report.files],
        "notes": list(report.notes),
    }


def file_json(file: FileReport) -> dict[str, Any]:
    """What happened to one source, in the documented form; see docs/cli.md."""
    return {
        "source": file.source,
        "status": file.status,
        "chunks": file.chunks,
        "new_chunks": file.new_chunks,
        "embedded": file.embedded,
        "cached": file.cached,
        "reason": file.reason,
        "notes": list(file.notes),
    }


@contextmanager
def progress(paths: Sequence[str], *, hidden: bool) -> Iterator[Callable[[str | None], None]]:
    """A function that prints a line and moves a bar on, where standard error is a terminal."""
    if hidden or not sys.stderr.isatty():

        def echo(text: str | None) -> None:
            if text is not None:
                output.say(text)

        yield echo
        return
    with click.progressbar(length=_files(paths), file=sys.stderr, show_pos=True) as bar:

        def advance(text: str | None) -> None:
            if text is not None:
                # The bar's line is cleared before, and drawn again by the step.
                click.echo("\r\x1b[K", nl=False, err=True)
                output.say(text)
            bar.update(1)

        yield advance


def _files(paths: Sequence[str]) -> int:
    """How many files there are to read: the end of the bar, which may not be 0."""
    return max(len(discover(paths).files), 1)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
