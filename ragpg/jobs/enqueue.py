"""Paths and texts -> jobs in the queue."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError
from ragpg.ingest.clean import clean_metadata, clean_text
from ragpg.ingest.discover import Candidate, Discovery
from ragpg.ingest.patterns import fixed_part, is_pattern
from ragpg.ingest.prepare import Item, Text, find_files, items_of
from ragpg.ingest.prune import vanished
from ragpg.jobs.queries import ENQUEUE, Enqueued
from ragpg.queries import NAMESPACE
from ragpg.steps import Flow, call, fetch
from ragpg.types import FileReport, Metadata

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ragpg.settings import Settings

#: A statement takes so many jobs, and so many characters of them.
GROUP_JOBS, GROUP_CHARACTERS = 500, 8_000_000


@dataclass(frozen=True, slots=True)
class QueueOrder:
    """What is to be put into the queue; `Queue.enqueue` documents the fields."""

    paths: Sequence[str | os.PathLike[str]] = ()
    texts: Iterable[Text] = ()
    namespace: str = "default"
    prune: bool = False
    root: str | os.PathLike[str] | None = None
    metadata: Metadata = field(default_factory=dict)
    follow_links: bool = False
    priority: int = 0
    delay: float = 0.0
    max_attempts: int = 5
    batch: str | None = None
    language: str = "english"
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class EnqueueReport:
    """What went into the queue: jobs in order of source; `rejected` are files that were found and
    will not be read, with the reason; `replaced` counts waiting jobs that gave way."""

    namespace: str
    batch: str | None
    jobs: Sequence[Enqueued]
    rejected: Sequence[FileReport] = ()

    @property
    def replaced(self) -> int:
        return sum(job.replaced for job in self.jobs)

    @property
    def ok(self) -> bool:
        """Whether no file failed."""
        return not any(one.status == "failed" for one in self.rejected)


def enqueue(order: QueueOrder, settings: Settings) -> Flow[EnqueueReport]:
    """Put files and texts into the queue; files are looked for now, and read by the worker."""
    if order.max_attempts < 1:
        raise ConfigError(f"max_attempts must be at least 1: {order.max_attempts}")
    found = Discovery((), ())
    if order.paths:
        find = partial(
            find_files,
            root=order.root,
            follow_links=order.follow_links,
            max_bytes=settings.max_file_size,
            include=order.include,
            exclude=order.exclude,
        )
        found = yield from call(find, order.paths)
    items: list[Item] = yield from call(items_of, found.files, order.texts, order.metadata)
    roots = yield from call(_roots, order)
    jobs = [_file(item, item.file, roots, order) if item.file else _text(item) for item in items]
    if order.prune:
        rows = yield from fetch(NAMESPACE, {"namespace": order.namespace})
        if rows:
            gone = yield from vanished(rows[0].id, order.paths, found)
            jobs += [{"source": source, "kind": "delete"} for source in gone]
    done: list[Enqueued] = []
    for group in _groups(jobs):
        done += yield from fetch(
            ENQUEUE,
            {
                "namespace": order.namespace,
                "jobs": f"[{','.join(group)}]",
                "priority": order.priority,
                "delay": order.delay,
                "max_attempts": order.max_attempts,
                "batch": order.batch,
                "language": order.language,
            },
        )
    done.sort(key=lambda job: job.source)
    return EnqueueReport(order.namespace, order.batch, done, found.rejected)


def _text(item: Item) -> dict[str, Any]:
    if item.document is not None:
        document = item.document
        if document.sections or document.blocks or document.pages or document.links:
            raise ConfigError(
                f"{item.source}: a document with sections, blocks, pages or links cannot wait in "
                "the queue, which holds texts",
                hint="Ingest it, or enqueue its text with its format.",
            )
        text, title = document.text, document.title or None
    else:
        text, title = item.text, item.title
    if not isinstance(text, str):
        raise ConfigError(f"the text of {item.source!r} is a {type(text).__name__}")
    return {
        "source": item.source,
        "content": clean_text(text)[0],
        "title": None if title is None else clean_text(title)[0],
        "format": item.document.format if item.document is not None else item.format,
        "metadata": clean_metadata(item.metadata)[0],
    }


def _file(
    item: Item, file: Candidate, roots: Sequence[str], order: QueueOrder
) -> Mapping[str, Any]:
    path = os.path.abspath(file.path)
    root = next((one for one in roots if path.startswith(one.rstrip(os.sep) + os.sep)), None)
    return {
        "source": item.source,
        "kind": "file",
        "path": path,
        "root": root or os.path.dirname(path),
        "follow_links": order.follow_links,
        "metadata": clean_metadata(item.metadata)[0],
        "size": file.size,
    }


def _roots(order: QueueOrder) -> list[str]:
    """The folders that were given, innermost first: files must not lead out of them."""
    given = [os.fspath(path) for path in order.paths]
    if order.root is not None:
        given = [os.fspath(order.root)]
    folders = {fixed_part(path) or "." if is_pattern(path) else path for path in given}
    return sorted((os.path.abspath(one) for one in folders if os.path.isdir(one)), key=_depth)


def _depth(path: str) -> tuple[int, str]:
    return (-len(path), path)


def _groups(jobs: Iterable[Mapping[str, Any]]) -> Iterator[list[str]]:
    """The jobs as JSON, as many as go into one statement."""
    group: list[str] = []
    size = 0
    for job in jobs:
        text = json.dumps(job, ensure_ascii=False)
        if group and (len(group) >= GROUP_JOBS or size + len(text) > GROUP_CHARACTERS):
            yield group
            group, size = [], 0
        group.append(text)
        size += len(text)
    if group:
        yield group
