"""The queue of a client, sync and async.

queue = Queue(rag)
queue.enqueue("docs/", namespace="handbook", batch="first load")
queue.progress("handbook")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragpg import arguments
from ragpg.jobs.enqueue import EnqueueReport, QueueOrder, enqueue
from ragpg.jobs.queries import DELETE_JOBS, JOBS, PROGRESS, RETRY, JobInfo, Progress
from ragpg.steps import Flow, fetch, fetch_one

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ragpg.client import Client
    from ragpg.client_async import AsyncClient
    from ragpg.config.values import Config
    from ragpg.flows import Path
    from ragpg.ingest.prepare import Text
    from ragpg.types import Metadata


class Queue:
    """The queue, over a sync client."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def enqueue(
        self,
        paths: Path | Iterable[Path] = (),
        *,
        texts: Iterable[Text] = (),
        namespace: str = "default",
        prune: bool = False,
        root: Path | None = None,
        metadata: Metadata | None = None,
        follow_links: bool | None = None,
        priority: int = 0,
        delay: float = 0.0,
        max_attempts: int = 5,
        batch: str | None = None,
        language: str | None = None,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
    ) -> EnqueueReport:
        """Put files and texts into the queue, one job a document, for `ragpg worker`.

        paths         files, folders and patterns, named as by `ingest`; the worker reads the files,
                      so it must see them under the same absolute paths
        texts         as for `ingest`; they are kept in the database until they are done
        prune         also delete documents whose files below `paths` are gone
        priority      higher goes first
        delay         seconds before which nobody begins
        max_attempts  after so many failures a job is put into quarantine
        batch         a label, to see the progress of these jobs
        include       patterns of the files to take, as "*.md"; exclude: of those to leave out;
                      None: as configured
        language      text search configuration of a new namespace; None: as configured, else
                      english; `follow_links` likewise

        A waiting job of the same source gives way to the new one. Joins the transaction of a
        client on the caller's connection: then nothing is queued unless that commits. Raises
        ConfigError and LoadError as `ingest` does.
        """
        order = _order(
            self._client.config, paths, texts, metadata, namespace=namespace, prune=prune,
            root=root, follow_links=follow_links, priority=priority, delay=delay,
            max_attempts=max_attempts, batch=batch, language=language,
            include=include, exclude=exclude,
        )  # fmt: skip
        return self._client.run(enqueue(order, self._client.settings))

    def jobs(
        self, namespace: str | None = None, *, state: str | None = None, k: int = 100
    ) -> list[JobInfo]:
        """The k newest jobs; state is waiting, delayed, running, lost, done or quarantined."""
        return self._client.run(_jobs(namespace, state, k))

    def progress(self, namespace: str | None = None) -> list[Progress]:
        """How far the jobs of each namespace and batch are, newest first."""
        return self._client.run(_progress(namespace))

    def retry(self, namespace: str | None = None, *, ids: Sequence[int] | None = None) -> int:
        """Take jobs out of quarantine, all of them or some; how many."""
        return self._client.run(_retry(namespace, ids))

    def delete(
        self,
        ids: Sequence[int] | None = None,
        *,
        namespace: str | None = None,
        state: str | None = None,
    ) -> int:
        """Delete jobs by id or by state; how many. Nothing named, nothing deleted."""
        return self._client.run(_delete(ids, namespace, state))


class AsyncQueue:
    """The queue, over an async client: the methods of Queue, awaited."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def enqueue(
        self,
        paths: Path | Iterable[Path] = (),
        *,
        texts: Iterable[Text] = (),
        namespace: str = "default",
        prune: bool = False,
        root: Path | None = None,
        metadata: Metadata | None = None,
        follow_links: bool | None = None,
        priority: int = 0,
        delay: float = 0.0,
        max_attempts: int = 5,
        batch: str | None = None,
        language: str | None = None,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
    ) -> EnqueueReport:
        """As Queue.enqueue."""
        order = _order(
            self._client.config, paths, texts, metadata, namespace=namespace, prune=prune,
            root=root, follow_links=follow_links, priority=priority, delay=delay,
            max_attempts=max_attempts, batch=batch, language=language,
            include=include, exclude=exclude,
        )  # fmt: skip
        return await self._client.run(enqueue(order, self._client.settings))

    async def jobs(
        self, namespace: str | None = None, *, state: str | None = None, k: int = 100
    ) -> list[JobInfo]:
        """As Queue.jobs."""
        return await self._client.run(_jobs(namespace, state, k))

    async def progress(self, namespace: str | None = None) -> list[Progress]:
        """As Queue.progress."""
        return await self._client.run(_progress(namespace))

    async def retry(self, namespace: str | None = None, *, ids: Sequence[int] | None = None) -> int:
        """As Queue.retry."""
        return await self._client.run(_retry(namespace, ids))

    async def delete(
        self,
        ids: Sequence[int] | None = None,
        *,
        namespace: str | None = None,
        state: str | None = None,
    ) -> int:
        """As Queue.delete."""
        return await self._client.run(_delete(ids, namespace, state))


def _order(
    config: Config,
    paths: Path | Iterable[Path],
    texts: Iterable[Text],
    metadata: Metadata | None,
    *,
    namespace: str,
    language: str | None,
    follow_links: bool | None,
    include: Sequence[str] | None,
    exclude: Sequence[str] | None,
    **rest: Any,
) -> QueueOrder:
    rest |= {
        "include": list(config.ingest.include if include is None else include),
        "exclude": list(config.ingest.exclude if exclude is None else exclude),
        "namespace": arguments.text("namespace", namespace),
        "language": config.language_of(namespace) if language is None else language,
        "follow_links": config.ingest.follow_links if follow_links is None else follow_links,
    }
    return QueueOrder(
        paths=arguments.paths(paths),
        texts=arguments.texts(texts),
        metadata=arguments.table("metadata", metadata),
        **rest,
    )


def _jobs(namespace: str | None, state: str | None, k: int) -> Flow[list[JobInfo]]:
    return fetch(JOBS, {"namespace": namespace, "state": state, "k": k})


def _progress(namespace: str | None) -> Flow[list[Progress]]:
    return fetch(PROGRESS, {"namespace": namespace})


def _retry(namespace: str | None, ids: Sequence[int] | None) -> Flow[int]:
    some = None if ids is None else list(ids)
    return fetch_one(RETRY, {"namespace": namespace, "ids": some})


def _delete(ids: Sequence[int] | None, namespace: str | None, state: str | None) -> Flow[int]:
    some = None if ids is None else list(ids)
    return fetch_one(DELETE_JOBS, {"ids": some, "namespace": namespace, "state": state})
