"""`ragpg worker`: does the jobs of the queue until it is stopped."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import click

from ragpg.cli import clients, options, output
from ragpg.cli.ingest import file_json, line
from ragpg.cli.signals import stopped_by_signals

if TYPE_CHECKING:
    from ragpg.cli.options import Connection
    from ragpg.jobs.queries import Job
    from ragpg.types import FileReport


@click.command()
@click.option(
    "--files",
    "folders",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="Folder whose files may be read; repeatable; default: the current one",
)
@click.option("--no-files", is_flag=True, help="Take texts only")
@click.option(
    "-j", "--threads", type=click.IntRange(1), default=1, show_default=True, help="Jobs at a time"
)
@click.option("--drain", is_flag=True, help="End when nothing is left to do")
@click.option(
    "--lease",
    type=click.FloatRange(min=1),
    default=60.0,
    show_default=True,
    help="Seconds after which another worker takes over from one that does not answer",
)
@click.option(
    "--poll",
    type=click.FloatRange(min=0.05),
    default=2.0,
    show_default=True,
    help="Seconds between two looks at the queue; LISTEN wakes at once where it works",
)
@click.option("-q", "--quiet", is_flag=True, help="Print only failures")
@options.connection
@options.json_lines
def worker(
    *,
    folders: tuple[str, ...],
    no_files: bool,
    threads: int,
    drain: bool,
    lease: float,
    poll: float,
    quiet: bool,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Do the jobs of the queue: cut, embed and store what was enqueued.

    Run as many as you like, on as many machines. A worker that dies loses nothing: its jobs are
    taken over after the lease, and embeddings that were computed are not computed again. On SIGTERM
    or Ctrl-C the documents at hand are finished or given back, and the exit code is 0.

    \b
    ragpg jobs add docs/ -n handbook
    ragpg worker --files docs/ -j 4
    ragpg worker --no-files --drain
    """
    from ragpg.jobs.options import WorkOptions
    from ragpg.jobs.worker import work

    chosen = [] if no_files else list(folders) or ["."]
    embedder = clients.make_embedder(connection["embedder"])
    settings = clients.settings()
    # A job uses one connection for what it stores, one for what it reads next, one for its lease.
    settings = replace(settings, pool_size=max(settings.pool_size, 3 * threads + 2))
    stop = threading.Event()
    lock = threading.Lock()
    count = 0

    def told(job: Job, file: FileReport) -> None:
        nonlocal count
        with lock:
            count += file.status != "failed"
            if file.status == "failed" or not quiet:
                if as_json:
                    output.print_json({"namespace": job.namespace, "job": job.id} | file_json(file))
                else:
                    output.say(f"{time.strftime('%H:%M:%S')} {job.namespace}: {line(file)}")

    with stopped_by_signals(stop):
        with clients.open_client(
            connection["dsn"], connection["schema"], embedder, settings=settings
        ) as rag:
            output.note(f"working; files below: {', '.join(chosen) or 'none'}")
            work(
                rag,
                WorkOptions(folders=chosen, threads=threads, drain=drain, lease=lease, poll=poll),
                stop=stop,
                on_job=told,
                on_note=output.note,
            )
        output.note(f"stopped; {count} jobs done")
