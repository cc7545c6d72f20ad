"""Workers: they take jobs, ingest them, and tell what became of them, until they are stopped.

with ragpg.connect(dsn, embedder=embedder) as rag:
    work(rag, WorkOptions(folders=["/srv/docs"]), stop=threading.Event())
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ragpg.errors import ConfigError
from ragpg.graph.background import Analyst
from ragpg.jobs.listen import Listener
from ragpg.jobs.loop import Loop
from ragpg.jobs.options import WorkOptions
from ragpg.jobs.queries import OPEN_JOBS
from ragpg.steps import fetch

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragpg.client import Client
    from ragpg.jobs.queries import Job
    from ragpg.types import FileReport


def work(
    client: Client,
    options: WorkOptions | None = None,
    *,
    stop: threading.Event,
    on_job: Callable[[Job, FileReport], object] | None = None,
    on_note: Callable[[str], object] | None = None,
) -> None:
    """Work until `stop` is set, or, with `drain`, until nothing is left to do.

    When stopped, documents that are being written are finished, and the other jobs are given back
    as if they had not been taken. A lost database or service is waited for. Raises ConfigError for
    a client on a single connection, and SchemaMissing or SchemaOutdated at the start.
    """
    options = options or WorkOptions()
    if client._database.source.joins:
        raise ConfigError(
            "a worker cannot share one connection with its caller",
            hint="Connect with an address, a pool or an engine.",
        )
    if client.embedder is not None and not hasattr(client.embedder, "embed_documents"):
        raise ConfigError(f"a worker cannot use {type(client.embedder).__name__}: it is async only")
    # The first look also tells whether the schema is there at all.
    client.run(fetch(OPEN_JOBS, {"folders": [], "refused": []}))
    over = threading.Event()
    team = [Loop(client, options, stop, on_job, on_note) for _ in range(options.threads)]

    def wake() -> None:
        for one in team:
            one.wake.set()

    listener = Listener(client, wake, over)
    listener.start()
    others = [threading.Thread(target=one.run, daemon=True) for one in team[1:]]
    analyst = Analyst(
        client,
        quiet=lambda: min(one.quiet() for one in team),
        note=on_note or (lambda text: None),
        stop=stop,
    )
    try:
        with analyst:
            for thread in others:
                thread.start()
            team[0].run()
            for thread in others:
                thread.join()
        if options.drain and not stop.is_set():
            analyst.finish()
    finally:
        stop.set()
        over.set()
        listener.join(2)
