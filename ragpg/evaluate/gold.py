"""What the answer to a question is: whole documents, or spans of characters.

A span counts as found where the hits so far cover enough of its characters: a neighbouring chunk,
or one that overlaps it, is as good as the chunk that the span was taken from.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.types import Hit

#: The share of a span's characters that must be there.
COVERAGE = 0.5


class Gold(Protocol):
    """What is to be found, by id with its gain."""

    @property
    def gains(self) -> Mapping[str, float]: ...

    def ranking(self, hits: Sequence[Hit]) -> list[str]:
        """Ids in the order of the hits: one of `gains` where a hit brings it, others elsewhere."""
        ...

    def covered(self, hits: Sequence[Hit]) -> float:
        """How much of what is to be found these hits show, between 0 and 1."""
        ...


@dataclass(frozen=True, slots=True)
class Span:
    """Characters [start, end) of a document."""

    source: str
    start: int
    end: int

    @property
    def id(self) -> str:
        """A name that no document has by accident."""
        return f"{self.source}[{self.start}:{self.end}]"


@dataclass(frozen=True, slots=True)
class GoldDocuments:
    """Documents by source; several hits of a document count at the place of the first.

    `evidence` are the sentences that matter in them, where known: what a context must show.
    """

    gains: Mapping[str, float]
    evidence: Sequence[Span] = ()

    def ranking(self, hits: Sequence[Hit]) -> list[str]:
        """The distinct sources."""
        return list(dict.fromkeys(hit.source for hit in hits))

    def covered(self, hits: Sequence[Hit]) -> float:
        """The share of the evidence that the hits show, else of the relevant documents."""
        if self.evidence:
            return _covered(self.evidence, hits)
        relevant = {source for source, gain in self.gains.items() if gain > 0}
        return len(relevant & {hit.source for hit in hits}) / len(relevant) if relevant else 0.0


@dataclass(frozen=True, slots=True)
class GoldSpans:
    """Spans of characters; each one counts 1. `evidence` are the parts that a context must show,
    where that is not the whole."""

    spans: Sequence[Span]
    coverage: float = COVERAGE
    evidence: Sequence[Span] = ()

    @property
    def gains(self) -> Mapping[str, float]:
        """Each span has gain 1."""
        return {span.id: 1.0 for span in self.spans}

    def ranking(self, hits: Sequence[Hit]) -> list[str]:
        """A hit stands for the spans that it completes, else for itself. A hit that completes two
        takes two places, so that the best possible list still scores 1."""
        missing = list(self.spans)
        seen: dict[str, list[tuple[int, int]]] = {}
        ids: list[str] = []
        for place, hit in enumerate(hits):
            if hit.start_char is None or hit.end_char is None:
                ids.append(f"hit {place}")
                continue
            seen.setdefault(hit.source, []).append((hit.start_char, hit.end_char))
            found = [
                span
                for span in missing
                if span.source == hit.source
                and _overlap(span, [seen[hit.source][-1]])
                and _share(span, seen[hit.source]) >= self.coverage
            ]
            missing = [span for span in missing if span not in found]
            ids += [span.id for span in found] or [f"hit {place}"]
        return ids

    def covered(self, hits: Sequence[Hit]) -> float:
        """The share of all characters of the evidence, else of the spans, that the hits show."""
        return _covered(self.evidence or self.spans, hits)


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its gold. `kind` groups questions in reports; those of one `group` were made
    from one text and are not independent; `history` holds the questions before it."""

    id: str
    text: str
    gold: Gold
    kind: str = ""
    group: str = ""
    history: Sequence[str] = field(default=())


def _covered(spans: Sequence[Span], hits: Sequence[Hit]) -> float:
    shown: dict[str, list[tuple[int, int]]] = {}
    for hit in hits:
        if hit.start_char is not None and hit.end_char is not None:
            shown.setdefault(hit.source, []).append((hit.start_char, hit.end_char))
    total = sum(span.end - span.start for span in spans)
    found = sum(_overlap(span, shown.get(span.source, [])) for span in spans)
    return found / total if total else 0.0


def _share(span: Span, shown: Sequence[tuple[int, int]]) -> float:
    length = span.end - span.start
    return _overlap(span, shown) / length if length > 0 else 0.0


def _overlap(span: Span, shown: Sequence[tuple[int, int]]) -> int:
    """Characters of the span inside the union of the intervals."""
    total, at = 0, span.start
    for start, end in sorted(shown):
        start, end = max(start, at), min(end, span.end)
        if end > start:
            total += end - start
            at = end
    return total
