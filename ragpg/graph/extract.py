"""Fill the graph of a namespace by a chat model: batched, resumable, and never paid for twice."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError, ProviderError
from ragpg.graph import extraction
from ragpg.graph.extraction_batches import Estimate, Pending, add_usage, batches
from ragpg.observe.stage import observed
from ragpg.steps import Complete, Query, all_columns, fetch, together
from ragpg.tokens import counter_for_model
from ragpg.types import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ragpg.graph.extraction import Extraction
    from ragpg.protocols import AsyncGenerator, Generator
    from ragpg.steps import Flow

#: How a service says that it knows no structured output.
_REFUSED = re.compile(r"response_?format|json_?schema|structured.?output", re.IGNORECASE)
#: How many reasons of failures a report keeps.
_REASONS = 20
#: So many failures without a success, and the run gives up.
_HOPELESS = 20


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

    def plus(self, other: ExtractionReport) -> ExtractionReport:
        """Both together."""
        return ExtractionReport(
            self.read + other.read,
            self.known + other.known,
            self.failed + other.failed,
            self.entities + other.entities,
            self.relations + other.relations,
            add_usage(self.usage, other.usage),
            (*self.errors, *other.errors)[:_REASONS],
        )


@dataclass(frozen=True, slots=True)
class _Task:
    """What all requests of a run have in common."""

    namespace: str
    extractor: str
    generator: Generator | AsyncGenerator
    prompt: str
    options: Mapping[str, Any]
    structured: bool
    # Why the service took no structured output: then it is not asked for again.
    refusals: list[str] = field(default_factory=list)

    @property
    def sent(self) -> Mapping[str, Any]:
        """Options of the next request."""
        if not self.structured or self.refusals:
            return self.options
        return {**self.options, "response_format": extraction.RESPONSE_FORMAT}


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
    all_columns,
)
EXISTS = Query("select cardinality(ragpg.namespace_ids(array[%(namespace)s]))", int, reads=True)
FORGET = Query("select ragpg.forget_extractions(%(namespace)s)", int)


@observed("extract", category="graph")
def extract(
    namespace: str,
    generator: Generator | AsyncGenerator,
    *,
    prompt: str = extraction.PROMPT,
    batch: int = 6,
    tokens: int = 4000,
    limit: int | None = None,
    parallel: int = 1,
    structured: bool = True,
    options: Mapping[str, Any] | None = None,
    on_batch: Callable[[ExtractionReport], object] | None = None,
) -> Flow[ExtractionReport]:
    """Let a chat model name the entities and relations of every chunk that it has not read.

    prompt      the task; the form of the answer is added
    batch       chunks of one request, at most; those that an answer leaves out are asked alone
    tokens      of the chunks of one request, at most
    limit       at most so many chunks go to the model
    parallel    requests that are out at the same time
    structured  ask for structured output; a service that refuses the field is asked without it
    options     for the generator, as temperature
    on_batch    is called with the report so far

    Every batch is stored when it is there: an interrupted run goes on where it stopped, a changed
    chunk is read again, and a text that comes back is not. Raises ProviderError where the service
    fails as a whole, and where none of the first 20 chunks could be read; a chunk that alone cannot
    be read is counted and left for the next run.
    """
    _check(prompt, batch, tokens, limit, parallel)
    yield from fetch(EXISTS, {"namespace": namespace})
    yield from fetch(FORGET, {"namespace": namespace}, timeout=0)
    name = extraction.extractor_name(generator.model, prompt)
    task = _Task(namespace, name, generator, prompt, options or {}, structured)
    count = counter_for_model(generator.model)
    report = ExtractionReport()
    after, asked = 0, 0
    while limit is None or asked < limit or after == 0:
        found = yield from _page(namespace, name, after, 20 * batch * parallel)
        if not found:
            break
        after = found[-1].chunk
        known = [(one, json.loads(one.known)) for one in found if one.known]
        if known:
            stored = yield from _store(task, known)
            report = report.plus(replace(stored, known=len(known)))
        fresh = _fresh(found)[: None if limit is None else limit - asked]
        asked += len(fresh)
        parts = batches(fresh, most=batch, tokens=tokens, count=count)
        while side_by_side := list(islice(parts, parallel)):
            outcomes = yield from together(*(_read(task, part, found) for part in side_by_side))
            for outcome in outcomes:
                report = report.plus(outcome.value or ExtractionReport())
            if on_batch is not None:
                on_batch(report)
            for outcome in outcomes:
                outcome.take()
            if report.failed >= _HOPELESS and not report.read:
                raise ProviderError(
                    f"{generator.model} could read none of {report.failed} chunks: "
                    f"{report.errors[0]}",
                    hint="Try another model or prompt, or look at one: --limit 1.",
                )
    return report


def estimate(
    namespace: str,
    model: str,
    *,
    prompt: str = extraction.PROMPT,
    batch: int = 6,
    tokens: int = 4000,
    limit: int | None = None,
) -> Flow[Estimate]:
    """What `extract` would send with these arguments; nothing is asked and nothing is written."""
    _check(prompt, batch, tokens, limit, 1)
    yield from fetch(EXISTS, {"namespace": namespace})
    name = extraction.extractor_name(model, prompt)
    count = counter_for_model(model)
    total = Estimate()
    seen: set[bytes] = set()
    after = 0
    while limit is None or total.chunks < limit:
        found = yield from _page(namespace, name, after, 20 * batch)
        if not found:
            break
        after = found[-1].chunk
        total = replace(total, known=total.known + sum(one.known is not None for one in found))
        fresh = [one for one in _fresh(found) if one.hash not in seen]
        fresh = fresh[: None if limit is None else limit - total.chunks]
        seen |= {one.hash for one in fresh}
        total = total.plus(batches(fresh, most=batch, tokens=tokens, count=count), prompt, count)
    return total


def _check(prompt: str, batch: int, tokens: int, limit: int | None, parallel: int) -> None:
    if min(batch, tokens, parallel) < 1 or (limit is not None and limit < 0):
        raise ConfigError("batch, tokens and parallel are at least 1, and limit at least 0")
    if not prompt.strip():
        raise ConfigError("the prompt of an extraction is blank")


def _page(namespace: str, extractor: str, after: int, k: int) -> Flow[list[Pending]]:
    wanted = {"namespace": namespace, "extractor": extractor, "after": after, "k": k}
    return (yield from fetch(PENDING, wanted))


def _fresh(found: Sequence[Pending]) -> list[Pending]:
    """Those to be read; equal texts are one question."""
    return list({one.hash: one for one in reversed(found) if not one.known}.values())[::-1]


def _read(task: _Task, part: Sequence[Pending], page: Sequence[Pending]) -> Flow[ExtractionReport]:
    """Ask about some chunks, and store what is said of all chunks of the page with their texts."""
    report, read = yield from _ask(task, part)
    said = [(one, read[one.hash].as_json()) for one in page if not one.known and one.hash in read]
    stored = yield from _store(task, said)
    return report.plus(replace(stored, read=len(read)))


def _ask(
    task: _Task, part: Sequence[Pending]
) -> Flow[tuple[ExtractionReport, dict[bytes, Extraction]]]:
    """What the model says of chunks, by hash of their text; those that failed are in the report."""
    texts = [one.passage for one in part]
    report = ExtractionReport()
    found: dict[bytes, Extraction] = {}
    reason = "the answer leaves it out"
    try:
        asked = extraction.messages(texts, task.prompt)
        sent = task.sent
        answer, usage = yield Complete(task.generator, asked, sent)
        report = replace(report, usage=usage)
        found = {part[at].hash: said for at, said in extraction.read(answer, texts).items()}
    except ProviderError as error:
        if error.scope == "service":
            raise
        if "response_format" in sent and _REFUSED.search(error.message):
            task.refusals.append(error.message)
            return (yield from _ask(task, part))
        reason = error.message
    left = [one for one in part if one.hash not in found]
    if len(part) == 1 and left:
        failed = (f"chunk {part[0].chunk}: {reason}",)
        return replace(report, failed=1, errors=failed), {}
    for one in left:
        more, said = yield from _ask(task, [one])
        report = report.plus(more)
        found |= said
    return report, found


def _store(
    task: _Task, said: Sequence[tuple[Pending, Mapping[str, Any]]]
) -> Flow[ExtractionReport]:
    if not said:
        return ExtractionReport()
    results = [
        {"chunk": one.chunk, "hash": one.hash.hex(), "result": result} for one, result in said
    ]
    values = {
        "namespace": task.namespace,
        "extractor": task.extractor,
        "results": json.dumps(results, ensure_ascii=False),
    }
    [[_, entities, relations]] = yield from fetch(STORE, values, timeout=0)
    return ExtractionReport(entities=entities, relations=relations)
