"""Reports on the communities of a namespace by a chat model: only on what has changed.

A report is kept by the content of its community's documents. A community without one is answered
for by its hub: see ragpg.search_reports.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError, ProviderError, RagpgError
from ragpg.graph import community_reports_prompt as prompts
from ragpg.graph.community_reports_prompt import Passage, Report, StatedRelation
from ragpg.graph.extraction_batches import add_usage
from ragpg.observe.stage import observed
from ragpg.steps import Complete, Query, all_columns, embed, fetch, fetch_one, together
from ragpg.tokens import counter_for_model
from ragpg.types import Usage
from ragpg.vectors import array_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ragpg.protocols import AsyncEmbedder, AsyncGenerator, Embedder, Generator
    from ragpg.steps import Flow
    from ragpg.tokens import TokenCounter

#: Reasons of failures that a run keeps, and failures without a success after which it gives up.
_REASONS, _HOPELESS = 20, 10


@dataclass(frozen=True, slots=True)
class ReportsRun:
    """What a run did. Of all communities, `current` had a report of what they say now, `written`
    got one, `failed` are answered for by their hub, `changed` while they were read, and `left`
    were not asked about: for the next run. `forgotten` old reports were deleted. `input_tokens`
    is what a dry run counts."""

    communities: int = 0
    current: int = 0
    written: int = 0
    failed: int = 0
    changed: int = 0
    left: int = 0
    forgotten: int = 0
    embedded: int = 0
    input_tokens: int = 0
    usage: Usage = field(default_factory=Usage)
    errors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Community:
    id: int
    digest: bytes
    name: str
    size: int


@dataclass(frozen=True, slots=True)
class _Task:
    namespace: str
    reporter: str
    generator: Generator | AsyncGenerator
    prompt: str
    tokens: int
    count: TokenCounter
    options: Mapping[str, Any]


ATTACH = Query(
    """
select communities, current, forgotten
  from ragpg.attach_reports(%(namespace)s, %(reporter)s, %(smallest)s)
""",
    all_columns,
)
PENDING = Query(
    """
select community_id, digest, name, size
  from ragpg.pending_reports(%(namespace)s, %(reporter)s, %(smallest)s)
""",
    _Community,
    reads=True,
)
PASSAGES = Query(
    """
select source, title, breadcrumb, content
  from ragpg.community_passages(%(namespace)s, %(community)s)
""",
    Passage,
    reads=True,
)
RELATIONS = Query(
    """
select source, kind, target, description, weight, chunks
  from ragpg.community_relations(%(namespace)s, %(community)s)
""",
    StatedRelation,
    reads=True,
)
STORE = Query(
    """
select ragpg.store_report(%(namespace)s, %(reporter)s, %(community)s, %(digest)s, %(report)s::jsonb)
""",
    bool,
)
SPACE = Query(
    """
select space.model, space.dimensions
  from ragpg.namespace join ragpg.embedding_space as space on space.id = namespace.space_id
 where namespace.name = %(namespace)s
""",
    all_columns,
    reads=True,
)
BARE = Query(
    """
select digest, title, summary, findings::text
  from ragpg.reports_without_vector(%(namespace)s, %(reporter)s)
""",
    all_columns,
    reads=True,
)
STORE_VECTORS = Query(
    """
select ragpg.store_report_vectors(%(namespace)s, %(reporter)s, %(digests)s, %(vectors)s)
""",
    int,
)


@observed("reports", category="graph")
def write_reports(
    namespace: str,
    generator: Generator | AsyncGenerator,
    embedder: Embedder | AsyncEmbedder | None = None,
    *,
    prompt: str = prompts.PROMPT,
    smallest: int = 2,
    limit: int | None = None,
    tokens: int = 6000,
    parallel: int = 1,
    structured: bool = True,
    options: Mapping[str, Any] | None = None,
    dry_run: bool = False,
    on_report: Callable[[ReportsRun], object] | None = None,
) -> Flow[ReportsRun]:
    """Let a chat model report on communities, but for those whose documents are as it knows them.

    prompt      the task; the form of the answer is added
    smallest    communities of fewer documents are left out
    limit       ask about so many communities at most, the largest first
    tokens      of excerpts and relations that one request holds
    parallel    requests that are out at the same time
    structured  ask for structured output; False for services that refuse the field
    options     for the generator, as temperature
    dry_run     count what would be asked, and its tokens; ask and write nothing
    on_report   is called with the run so far

    The embedder gives the reports vectors where it is the namespace's. Reports are stored one by
    one. One that fails is not kept, and tried again by the next run; its community's hub stands in
    for it. Raises ProviderError where the service fails as a whole: what was written stays.
    """
    if min(smallest, tokens, parallel) < 1 or (limit is not None and limit < 0):
        raise ConfigError("smallest, tokens and parallel are at least 1, and limit at least 0")
    if not prompt.strip():
        raise ConfigError("the prompt of reports is blank")
    reporter = prompts.reporter_name(generator.model, prompt)
    sent = dict(options or {}) | (
        {"response_format": prompts.RESPONSE_FORMAT} if structured else {}
    )
    count = counter_for_model(generator.model)
    task = _Task(namespace, reporter, generator, prompt, tokens, count, sent)
    wanted = {"namespace": namespace, "reporter": reporter, "smallest": smallest}
    pending = yield from fetch(PENDING, wanted, timeout=0)
    chosen = pending[:limit]
    run = ReportsRun(left=len(pending) - len(chosen))
    if dry_run:
        for community in chosen:
            asked = yield from _question(task, community)
            size = sum(count(one["content"]) for one in asked)
            run = replace(run, input_tokens=run.input_tokens + size)
        return replace(run, communities=len(pending), left=len(pending))
    [[communities, current, forgotten]] = yield from fetch(ATTACH, wanted, timeout=0)
    run = replace(run, communities=communities, current=current, forgotten=forgotten)
    if not communities:
        note = "there are no communities: run ragpg graph analyse"
        return replace(run, notes=(note,))
    waiting = iter(chosen)
    while group := list(islice(waiting, parallel)):
        outcomes = yield from together(*(_report_on(task, one) for one in group))
        for outcome in outcomes:
            run = _counted(run, outcome.value) if outcome.value else run
        if on_report is not None:
            on_report(run)
        for outcome in outcomes:
            outcome.take()
        if run.failed >= _HOPELESS and not run.written:
            reason = f"{generator.model} could report on none of {run.failed}: {run.errors[0]}"
            raise ProviderError(reason, hint="Try another model or prompt, with --limit 1.")
    return (yield from _embed(task, embedder, run))


@dataclass(frozen=True, slots=True)
class _Done:
    usage: Usage
    stored: bool = False
    error: str | None = None


def _counted(run: ReportsRun, done: _Done) -> ReportsRun:
    run = replace(run, usage=add_usage(run.usage, done.usage))
    if done.error is not None:
        return replace(run, failed=run.failed + 1, errors=(*run.errors, done.error)[:_REASONS])
    if done.stored:
        return replace(run, written=run.written + 1)
    return replace(run, changed=run.changed + 1)


def _question(task: _Task, community: _Community) -> Flow[list[dict[str, str]]]:
    which = {"namespace": task.namespace, "community": community.id}
    passages = yield from fetch(PASSAGES, which, timeout=0)
    relations = yield from fetch(RELATIONS, which, timeout=0)
    return prompts.messages(
        passages, relations, prompt=task.prompt, tokens=task.tokens, count=task.count
    )


def _report_on(task: _Task, community: _Community) -> Flow[_Done]:
    asked = yield from _question(task, community)
    usage = Usage()
    try:
        answer, usage = yield Complete(task.generator, asked, task.options)
        report = prompts.read(answer, asked[1]["content"])
    except ProviderError as error:
        if error.scope == "service":
            raise
        return _Done(usage, error=f"{community.name} ({community.size}): {error.message}")
    values = {
        "namespace": task.namespace,
        "reporter": task.reporter,
        "community": community.id,
        "digest": community.digest,
        "report": json.dumps(
            {"title": report.title, "summary": report.summary, "findings": report.findings},
            ensure_ascii=False,
        ),
    }
    stored = yield from fetch_one(STORE, values)
    return _Done(usage, stored=stored)


def _embed(
    task: _Task, embedder: Embedder | AsyncEmbedder | None, run: ReportsRun
) -> Flow[ReportsRun]:
    """Vectors for reports that have none, also for those of earlier runs."""
    which = {"namespace": task.namespace, "reporter": task.reporter}
    space = yield from fetch(SPACE, which)
    if not space:
        return run
    if embedder is None or (embedder.model, embedder.dimensions) != space[0]:
        model = "none was given" if embedder is None else f"{embedder.model} is another one"
        note = f"reports have no vectors: the embedder of the namespace is {space[0][0]}, {model}"
        return replace(run, notes=(*run.notes, note))
    while True:
        bare = yield from fetch(BARE, which)
        if not bare:
            return run
        texts = [Report(title, summary, tuple(json.loads(found))).text
                 for _, title, summary, found in bare]  # fmt: skip
        try:
            vectors = yield from embed(embedder, texts)
            values = {"digests": [one[0] for one in bare], "vectors": array_literal(vectors)}
            written = yield from fetch_one(STORE_VECTORS, which | values)
        except RagpgError as error:
            note = f"reports have no vectors, words alone find them: {error.message}"
            return replace(run, notes=(*run.notes, note))
        run = replace(run, embedded=run.embedded + written)
        if not written:
            return run
