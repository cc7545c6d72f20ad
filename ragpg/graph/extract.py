"""Fill the graph of a namespace by a chat model: batched, resumable, and never paid for twice."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError, ProviderError
from ragpg.graph import extraction
from ragpg.steps import Complete, Query, fetch
from ragpg.types import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ragpg.graph.extraction import Extraction
    from ragpg.protocols import AsyncGenerator, Generator
    from ragpg.steps import Flow


@dataclass(frozen=True, slots=True)
class Pending:
    """A chunk that an extractor has not read, and what it said of the same text before."""

    chunk: int
    hash: bytes
    title: str
    breadcrumb: str
    content: str
    known: str | None


@dataclass(frozen=True, slots=True)
class ExtractionReport:
    """What a run did: chunks read by the model, known from before, and failed; what was written."""

    read: int = 0
    known: int = 0
    failed: int = 0
    entities: int = 0
    relations: int = 0
    usage: Usage = field(default_factory=Usage)
    errors: tuple[str, ...] = ()


def _row(*values: Any) -> tuple[Any, ...]:
    return values


PENDING = Query(
    """
select chunk_id, hash, title, breadcrumb, content, known::text
  from ragpg.pending_extractions(%(namespace)s, %(extractor)s, %(after)s, %(k)s)
""",
    Pending,
    reads=True,
)
STORE = Query(
    """
select chunks, entities, relations
  from ragpg.store_extractions(%(namespace)s, %(extractor)s, %(results)s::jsonb)
""",
    _row,
)
EXISTS = Query("select cardinality(ragpg.namespace_ids(array[%(namespace)s]))", int, reads=True)


def extract(
    namespace: str,
    generator: Generator | AsyncGenerator,
    *,
    prompt: str = extraction.PROMPT,
    batch: int = 6,
    limit: int | None = None,
    structured: bool = True,
    options: Mapping[str, Any] | None = None,
    on_batch: Callable[[ExtractionReport], object] | None = None,
) -> Flow[ExtractionReport]:
    """Let a chat model name the entities and relations of every chunk that it has not read.

    prompt      the task; the form of the answer is added
    batch       chunks of one request; a batch that fails is asked chunk by chunk
    limit       at most so many chunks go to the model
    structured  ask for structured output; False for services that refuse the field
    options     for the generator, as temperature
    on_batch    is called with the report so far

    Every batch is stored when it is there: an interrupted run goes on where it stopped, a changed
    chunk is read again, and a text that comes back is not. Raises ProviderError where the service
    fails as a whole; a chunk that alone cannot be read is counted and left for the next run.
    """
    if batch < 1 or not prompt.strip():
        raise ConfigError("a batch holds at least one chunk, and the prompt says something")
    yield from fetch(EXISTS, {"namespace": namespace})
    extractor = extraction.extractor_name(generator.model, prompt)
    sent = dict(options or {}) | (
        {"response_format": extraction.RESPONSE_FORMAT} if structured else {}
    )
    report = ExtractionReport()
    after, asked = 0, 0
    while True:
        wanted = {"namespace": namespace, "extractor": extractor, "after": after, "k": 20 * batch}
        found = yield from fetch(PENDING, wanted)
        if not found:
            return report
        after = found[-1].chunk
        known = [(one, json.loads(one.known)) for one in found if one.known]
        if known:
            report = yield from _store(namespace, extractor, known, report)
            report = replace(report, known=report.known + len(known))
        # Equal texts are one question.
        fresh = list({one.hash: one for one in found if not one.known}.values())
        for start in range(0, len(fresh), batch):
            part = fresh[start : start + batch]
            if limit is not None:
                part = part[: max(limit - asked, 0)]
            if not part:
                return report
            asked += len(part)
            report, read = yield from _ask(generator, part, prompt, sent, report)
            twins = [
                (one, read[one.hash].as_json())
                for one in found
                if not one.known and one.hash in read
            ]
            report = yield from _store(namespace, extractor, twins, report)
            report = replace(report, read=report.read + len(read))
            if on_batch is not None:
                on_batch(report)


def _ask(
    generator: Generator | AsyncGenerator,
    part: Sequence[Pending],
    prompt: str,
    options: Mapping[str, Any],
    report: ExtractionReport,
) -> Flow[tuple[ExtractionReport, dict[bytes, Extraction]]]:
    """What the model says of chunks, by hash of their text; those that failed are in the report."""
    texts = [_passage(one) for one in part]
    try:
        answer, usage = yield Complete(generator, extraction.messages(texts, prompt), options)
        report = replace(report, usage=_sum(report.usage, usage))
        read = extraction.read(answer, texts)
    except ProviderError as error:
        if error.scope == "service":
            raise
        if len(part) == 1:
            where = f"chunk {part[0].chunk}: {error.message}"
            return (
                replace(report, failed=report.failed + 1, errors=(*report.errors, where)[:20]),
                {},
            )
        found: dict[bytes, Extraction] = {}
        for one in part:
            report, more = yield from _ask(generator, [one], prompt, options, report)
            found |= more
        return report, found
    return report, {one.hash: said for one, said in zip(part, read, strict=True)}


def _store(
    namespace: str,
    extractor: str,
    said: Sequence[tuple[Pending, Mapping[str, Any]]],
    report: ExtractionReport,
) -> Flow[ExtractionReport]:
    if not said:
        return report
    results = [
        {"chunk": one.chunk, "hash": one.hash.hex(), "result": result} for one, result in said
    ]
    values = {
        "namespace": namespace,
        "extractor": extractor,
        "results": json.dumps(results, ensure_ascii=False),
    }
    [[_, entities, relations]] = yield from fetch(STORE, values, timeout=0)
    return replace(
        report,
        entities=report.entities + entities,
        relations=report.relations + relations,
    )


def _passage(one: Pending) -> str:
    """The text with the place where it stands, which often names what "it" is."""
    place = " > ".join(part for part in (one.title, one.breadcrumb) if part)
    return f"{place}\n\n{one.content}" if place else one.content


def _sum(one: Usage, other: Usage) -> Usage:
    costs = [cost for cost in (one.cost_usd, other.cost_usd) if cost is not None]
    return Usage(
        one.input_tokens + other.input_tokens,
        one.output_tokens + other.output_tokens,
        sum(costs) if costs else None,
    )
