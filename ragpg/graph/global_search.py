"""Questions on a whole corpus, answered from the reports on its communities.

The reports are ranked in SQL (ragpg.search_reports). Where they fit into one request a model
answers from them; where they do not it first lists the points of each batch (map), and answers from
the best points of all (reduce), as in "From Local to Global" (Edge et al. 2024).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError, ProviderError, RagpgError
from ragpg.graph import global_search_prompt as prompts
from ragpg.graph.extraction_batches import add_usage
from ragpg.graph.global_search_result import CommunityReport, GlobalResult
from ragpg.model_json import one_line
from ragpg.observe.stage import operation, stage
from ragpg.query.cite import cite
from ragpg.query.ground import ground
from ragpg.steps import Query, call, complete, embed_query, fetch, together
from ragpg.tokens import counter_for_model
from ragpg.types import ArmReport, Usage
from ragpg.vectors import vector_literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragpg.graph.global_search_prompt import Point
    from ragpg.protocols import AsyncEmbedder, AsyncGenerator, Embedder, Generator
    from ragpg.steps import Flow
    from ragpg.tokens import TokenCounter
    from ragpg.types import Citation


def _report(*values: Any) -> CommunityReport:
    one = CommunityReport(*values)
    return replace(one, findings=tuple(map(str, one.findings)), sources=tuple(one.sources))


SEARCH = Query(
    """
select rank, score, kind, namespace, community_id, name, size, title, summary, findings, stale,
       source, chunk_id, sources, keyword_rank, vector_rank
  from ragpg.search_reports(%(query)s, %(embedding)s, %(namespaces)s, %(k)s, %(smallest)s)
""",
    _report,
    reads=True,
)
SPACES = Query(
    """
select distinct space.model, space.dimensions
  from ragpg.namespace join ragpg.embedding_space as space on space.id = namespace.space_id
 where namespace.name = any (%(namespaces)s)
""",
    lambda *values: values,
    reads=True,
)


def search_global(
    query: str,
    *,
    namespaces: Sequence[str] = ("default",),
    embedder: Embedder | AsyncEmbedder | None = None,
    generator: Generator | AsyncGenerator | None = None,
    k: int = 24,
    smallest: int = 2,
    tokens: int = 6000,
    parallel: int = 1,
    timeout: float | None = None,
) -> Flow[GlobalResult]:
    """What the communities of a corpus say on a question, and the answer of a model from it.

    k         reports at most; their ranking is by words and vectors, then by size
    smallest  communities of fewer documents are left out
    tokens    of the reports, or of the points, that one request holds
    parallel  requests that are out at the same time
    timeout   seconds for the ranking

    Without a generator no model is asked. Whatever fails is told in notes, and what was found is
    returned; raises NamespaceNotFound, and ConfigError for wrong arguments.
    """
    return operation(
        "search_global",
        _search(query, namespaces, embedder, generator, k, smallest, tokens, parallel, timeout),
        namespaces=namespaces,
        category="retrieval",
        facts={"k": k},
        content={"query": query},
        read=lambda result: {"rows": len(result.reports)},
        charged=lambda result, usage: replace(result, usage=usage),
    )


def _search(
    query: str,
    namespaces: Sequence[str],
    embedder: Embedder | AsyncEmbedder | None,
    generator: Generator | AsyncGenerator | None,
    k: int,
    smallest: int,
    tokens: int,
    parallel: int,
    timeout: float | None,
) -> Flow[GlobalResult]:
    if not query.strip() or not namespaces:
        raise ConfigError("a global search needs a question, and a namespace to search")
    if min(k, smallest, tokens, parallel) < 1:
        raise ConfigError("k, smallest, tokens and parallel are at least 1")
    embedding, notes = yield from _vector(query, namespaces, embedder)
    values = {
        "query": query,
        "embedding": embedding,
        "namespaces": list(namespaces),
        "k": k,
        "smallest": smallest,
    }
    began = perf_counter()
    found = tuple((yield from fetch(SEARCH, values, timeout=timeout)))
    took = ArmReport(rows=len(found), ms=(perf_counter() - began) * 1000)
    notes += _fallbacks(found)
    if generator is None or not found:
        return GlobalResult(query, found, report={"reports": took}, notes=tuple(notes))
    began = perf_counter()
    written = yield from stage(
        "generate", _answer(query, found, generator, tokens, parallel), category="generation"
    )
    told = ArmReport(
        rows=len(written.points) or len(found),
        ms=(perf_counter() - began) * 1000,
        error=written.error,
        mode="map-reduce" if written.mapped else "direct",
    )
    citations: tuple[Citation, ...] = ()
    verdicts, text = None, written.text
    if text is not None:
        hits = [one.hit for one in found]
        cited = yield from call(cite, text, hits)
        text, citations = cited.text, tuple(cited.citations)
        shown = sorted((*cited.citations, *cited.not_cited), key=lambda one: int(one.number))
        judged = call(ground, text, [one.hit for one in shown])
        verdicts = yield from stage("ground", judged, category="grounding")
        if cited.unknown:
            notes.append(f"the answer cited reports that do not exist: {list(cited.unknown)[:5]}")
    return GlobalResult(
        query,
        found,
        answer=text,
        citations=citations,
        grounding=verdicts,
        points=tuple(written.points),
        usage=written.usage,
        report={"reports": took, "answer": told},
        notes=(*notes, *written.notes),
    )


def _vector(
    query: str, namespaces: Sequence[str], embedder: Embedder | AsyncEmbedder | None
) -> Flow[tuple[str | None, list[str]]]:
    if embedder is None:
        return None, []
    spaces = yield from fetch(SPACES, {"namespaces": list(namespaces)})
    if (embedder.model, embedder.dimensions) not in spaces:
        return None, [f"reports were ranked by words alone: no namespace uses {embedder.model}"]
    try:
        vector = yield from stage("embed", embed_query(embedder, query))
    except RagpgError as error:
        return None, [f"reports were ranked by words alone: {error.message}"]
    return vector_literal(vector), []


def _fallbacks(found: Sequence[CommunityReport]) -> list[str]:
    if not found:
        return ["there are no communities: run ragpg graph analyse"]
    notes = []
    hubs = sum(one.kind == "hub" for one in found)
    stale = sum(one.stale for one in found)
    if hubs:
        notes.append(
            f"{hubs} of {len(found)} communities have no report: the first chunk of their hub "
            "stands in (ragpg graph reports writes them)"
        )
    if stale:
        notes.append(f"{stale} of {len(found)} reports are older than their documents")
    return notes


@dataclass(slots=True)
class _Written:
    text: str | None = None
    points: list[Point] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    error: str | None = None
    mapped: bool = False
    notes: list[str] = field(default_factory=list)


def _answer(
    query: str,
    found: Sequence[CommunityReport],
    generator: Generator | AsyncGenerator,
    tokens: int,
    parallel: int,
) -> Flow[_Written]:
    count = counter_for_model(generator.model)
    parts = list(_batches(found, tokens, count))
    written = _Written(mapped=len(parts) > 1)
    blocks = [block for _, block in parts[0]]
    if written.mapped:
        failed = yield from _map(query, parts, generator, parallel, written)
        if written.points:
            blocks = prompts.point_blocks(written.points, tokens, count)
        elif not failed:
            written.text = prompts.NOTHING
            return written
        else:
            written.notes.append(
                f"no points were found in the reports: the answer is from the first {len(blocks)}"
            )
    try:
        text, usage = yield from complete(generator, prompts.answer_messages(query, blocks))
    except ProviderError as error:
        written.error = error.message
        written.notes.append(f"there is no answer, only the reports: {error.message}")
        return written
    written.text, written.usage = text, add_usage(written.usage, usage)
    return written


def _map(
    query: str,
    parts: Sequence[Sequence[tuple[int, str]]],
    generator: Generator | AsyncGenerator,
    parallel: int,
    written: _Written,
) -> Flow[int]:
    """Collect the points of all batches; how many batches failed."""
    failed = 0
    waiting = iter(parts)
    while group := list(islice(waiting, parallel)):
        outcomes = yield from together(*(_points(query, part, generator) for part in group))
        for part, outcome in zip(group, outcomes, strict=True):
            if outcome.error is not None and not isinstance(outcome.error, RagpgError):
                raise outcome.error
            if outcome.error is not None:
                failed += 1
                where = f"reports {part[0][0]} to {part[-1][0]} were not read"
                written.notes.append(f"{where}: {outcome.error.message}")
                continue
            points, usage, reason = outcome.take()
            written.usage = add_usage(written.usage, usage)
            written.points += points
            if reason:
                failed += 1
                written.notes.append(f"reports {part[0][0]} to {part[-1][0]}: {reason}")
    return failed


def _points(
    query: str, part: Sequence[tuple[int, str]], generator: Generator | AsyncGenerator
) -> Flow[tuple[list[Point], Usage, str | None]]:
    asked = prompts.points_messages(query, [block for _, block in part])
    answer, usage = yield from complete(generator, asked)
    try:
        return prompts.read_points(answer, [number for number, _ in part]), usage, None
    except ProviderError as error:
        return [], usage, error.message


def _batches(
    found: Sequence[CommunityReport], tokens: int, count: TokenCounter
) -> Iterator[list[tuple[int, str]]]:
    group: list[tuple[int, str]] = []
    used = 0
    for number, one in enumerate(found, 1):
        about = one_line(f"{one.size} documents: {', '.join(one.sources)}", 400).replace('"', "'")
        block = prompts.report_block(number, one.text, about)
        size = count(block)
        if group and used + size > tokens:
            yield group
            group, used = [], 0
        group.append((number, block))
        used += size
    yield group
