"""An inspection as columns of entries, and everything that is known of each chunk in them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ragpg.inspection.inspect import key_of
from ragpg.query.grounding_report import grounding_json
from ragpg.query.label import place

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.inspection.inspect import Inspection
    from ragpg.types import ArmReport, Hit

#: The arms of SQL, in the order in which they are shown; retrievers of the caller come after them.
ARMS = ("vector", "keyword", "prf", "sentence", "graph", "metadata")
#: A chunk is shown up to so many characters.
_LONGEST = 6000


@dataclass(frozen=True, slots=True)
class Entry:
    """A chunk in a column: which, at what rank, with which score; by how many places it moved
    against the column before, what there is to say, and its number in the context."""

    chunk: int
    rank: int
    score: float
    move: int | None = None
    note: str = ""
    tag: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A ranked list: of an arm, or after a stage. `said` is why it is empty or short."""

    name: str
    title: str
    entries: Sequence[Entry]
    total: int
    facts: Sequence[str] = ()
    said: str = ""
    is_arm: bool = True


@dataclass(frozen=True, slots=True)
class Board:
    """The columns side by side, and the chunks in them by number."""

    columns: Sequence[Column]
    chunks: Sequence[Mapping[str, Any]]
    #: Number of a chunk by what makes a hit the same hit.
    numbers: Mapping[tuple[str, int | str], int] = field(default_factory=dict)


def board(found: Inspection, depth: int = 12) -> Board:
    """The columns with the first `depth` entries each."""
    hits: dict[tuple[str, int | str], Hit] = {}
    for hit in (*found.trace.fused, *found.beyond):
        hits.setdefault(key_of(hit), hit)
    numbers = {key: number for number, key in enumerate(hits)}
    columns = [*_arms(found, hits, numbers, depth), *_stages(found, numbers, depth)]
    wanted = {entry.chunk for column in columns for entry in column.entries}
    known = _known(found, numbers)
    chunks = [known(hit) if number in wanted else {} for number, hit in enumerate(hits.values())]
    return Board(columns, chunks, numbers)


def _arms(
    found: Inspection,
    hits: Mapping[tuple[str, int | str], Hit],
    numbers: Mapping[tuple[str, int | str], int],
    depth: int,
) -> list[Column]:
    result = found.result
    spoke = {name for hit in hits.values() for name in hit.arms}
    told = [name for name in ARMS if name in spoke or name in result.report]
    told += sorted(spoke - set(ARMS))
    weights = result.fusion.weights if result.fusion else {}
    columns = []
    for name in told:
        report = result.report.get(name)
        # Of two chunks at one rank the later one is of the wider search.
        by_rank: dict[int, tuple[tuple[str, int | str], Hit]] = {}
        for key, hit in hits.items():
            if name in hit.arms:
                by_rank.setdefault(hit.arms[name].rank, (key, hit))
        entries = [
            Entry(numbers[key], rank, hit.arms[name].score,
                  note=(hit.arms[name].mode or "") if name == "graph" else "")
            for rank, (key, hit) in sorted(by_rank.items())
        ]  # fmt: skip
        facts = [f"weight {weights[name]:.2f}"] if name in weights else []
        columns.append(
            Column(
                name=name,
                title=name,
                entries=entries[:depth],
                total=report.rows if report else len(entries),
                facts=[*facts, *_facts(report)],
                said=_why(report),
            )
        )
    return columns


def _facts(report: ArmReport | None) -> list[str]:
    if report is None:
        return []
    return [f"{report.ms:.1f} ms" + (f", {report.mode}" if report.mode else "")]


def _why(report: ArmReport | None) -> str:
    if report is None:
        return ""
    if report.error:
        return f"failed: {report.error}"
    return f"skipped: {report.skipped}" if report.skipped else ""


def _stages(
    found: Inspection, numbers: Mapping[tuple[str, int | str], int], depth: int
) -> list[Column]:
    trace, result = found.trace, found.result
    fusion = result.fusion
    made = [
        _stage("fused", "fused", trace.fused, (), numbers, depth,
               [fusion.method, f"{fusion.ms:.1f} ms"] if fusion else [])
    ]  # fmt: skip
    before: Sequence[Hit] = trace.fused
    if found.reranker:
        reports = [one for name, one in result.report.items() if name.startswith("rerank")]
        facts = [found.reranker, f"{sum(one.ms for one in reports):.1f} ms"]
        failed = "; ".join(filter(None, map(_why, reports)))
        made.append(
            _stage("reranked", "reranked", trace.reranked, before, numbers, depth, facts, failed)
        )
        before = trace.reranked
    if any(hit.prior is not None for hit in trace.weighed):
        made.append(_stage("prior", "feedback", trace.weighed, before, numbers, depth, []))
        before = trace.weighed
    number_of = {key_of(one.hit): one.number for one in result.citations}
    tags = {key: f"[{number}]" for key, number in number_of.items()}
    facts = [f"{len(result.citations)} in {result.context_tokens} tokens"]
    made.append(
        _stage("shown", "result", result.hits, before, numbers, max(depth, len(result.hits)),
               facts, tags=tags)
    )  # fmt: skip
    return made


def _stage(
    name: str,
    title: str,
    hits: Sequence[Hit],
    before: Sequence[Hit],
    numbers: Mapping[tuple[str, int | str], int],
    depth: int,
    facts: Sequence[str],
    said: str = "",
    tags: Mapping[tuple[str, int | str], str] | None = None,
) -> Column:
    former = {key_of(hit): rank for rank, hit in enumerate(before, start=1)}
    entries = []
    for rank, hit in enumerate(hits[:depth], start=1):
        key = key_of(hit)
        if key in numbers:
            move = former[key] - rank if key in former else None
            tag = (tags or {}).get(key, "")
            entries.append(Entry(numbers[key], rank, hit.score, move, tag=tag))
    return Column(name, title, entries, len(hits), facts, said, is_arm=False)


def _known(found: Inspection, numbers: Mapping[tuple[str, int | str], int]) -> Any:
    """A function that tells all that is known of a chunk."""
    trace, fusion = found.trace, found.result.fusion
    weights = fusion.weights if fusion else {}
    seen = {
        name: {key_of(hit): (rank, hit) for rank, hit in enumerate(hits, start=1)}
        for name, hits in (
            ("fused", trace.fused),
            ("reranked", trace.reranked),
            ("result", found.result.hits),
        )
    }
    marks = {
        key_of(hit): {name: round(value, 3) for name, value in asdict(one).items()}
        for hit, one in zip(trace.fused, found.features, strict=True)
    }

    def told(hit: Hit) -> dict[str, Any]:
        key = key_of(hit)
        places = {
            name: {"rank": by_key[key][0], "score": by_key[key][1].score}
            for name, by_key in seen.items()
            if key in by_key and (name != "reranked" or found.reranker)
        }
        shown = seen["result"].get(key, (0, hit))[1]
        return {
            "label": label(hit),
            "where": where(hit),
            "namespace": hit.namespace,
            "breadcrumb": hit.breadcrumb,
            "content": hit.content[:_LONGEST] + ("…" if len(hit.content) > _LONGEST else ""),
            "arms": [
                {"name": name, "rank": arm.rank, "score": arm.score, "mode": arm.mode,
                 "weight": weights.get(name)}
                for name, arm in sorted(hit.arms.items(), key=lambda one: one[1].rank)
            ],
            "places": places,
            "features": marks.get(key, {}),
            "prior": shown.prior,
            "duplicates": len(shown.duplicates),
            "metadata": dict(hit.metadata),
        }  # fmt: skip

    return told


def label(hit: Hit) -> str:
    """What a hit is called in a narrow column: its last heading, else title or source."""
    last = hit.breadcrumb.rpartition(" > ")[2].strip()
    text = " ".join((last or hit.title or hit.source).split())
    return text if len(text) <= 120 else f"{text[:119]}…"


def where(hit: Hit) -> str:
    """Source and lines of a hit, as an editor takes them."""
    if hit.page is not None or hit.lines is None:
        return " ".join(filter(None, (hit.source, place(hit))))
    first, last = hit.lines
    return f"{hit.source}:{first}-{last}"


def as_json(found: Inspection, depth: int = 12) -> dict[str, Any]:
    """The board for programs: lists of chunks by number, and the chunks."""
    lists = board(found, depth)
    return {
        "query": found.result.query,
        "namespaces": list(found.namespaces),
        "profile": found.profile,
        "confidence": found.result.confidence,
        "signals": dict(found.confidence),
        "fusion": None if found.result.fusion is None else asdict(found.result.fusion),
        "stages": [{"name": name, "ms": round(ms, 3)} for name, ms in found.stages],
        "columns": [asdict(column) for column in lists.columns],
        "chunks": {number: one for number, one in enumerate(lists.chunks) if one},
        "context": found.result.context,
        "grounding": None
        if found.result.grounding is None
        else grounding_json(found.result.grounding),
        "notes": list(found.result.notes),
    }
