"""What a question on a whole corpus found: reports on communities, and the answer from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragpg.graph.global_search_prompt import Point
from ragpg.types import ArmReport, Citation, Grounding, Hit, Usage


@dataclass(frozen=True, slots=True)
class CommunityReport:
    """What stands for a community: its report (kind report), or the first chunk of its hub (hub).

    `stale` says that a document has changed since the report was written. `sources` are up to five
    of its `size` documents, `source` is its hub.
    """

    rank: int
    score: float
    kind: str
    namespace: str
    community_id: int
    name: str
    size: int
    title: str
    summary: str
    findings: tuple[str, ...] = ()
    stale: bool = False
    source: str | None = None
    chunk_id: int | None = None
    sources: tuple[str, ...] = ()
    keyword_rank: int | None = None
    vector_rank: int | None = None

    @property
    def text(self) -> str:
        """The whole report."""
        return "\n".join((self.title, self.summary, *(f"- {one}" for one in self.findings)))

    @property
    def hit(self) -> Hit:
        """The report as something to cite and to check claims against."""
        is_hub = self.kind == "hub"
        return Hit(
            rank=self.rank,
            score=self.score,
            namespace=self.namespace,
            source=(self.source if is_hub else None) or f"community {self.community_id}",
            content=self.text,
            chunk_id=self.chunk_id if is_hub else None,
            title=self.title,
            score_kind="reports",
            kind="knowledge" if is_hub else "report",
        )


@dataclass(frozen=True, slots=True)
class GlobalResult:
    """Reports that tell of the question, the best first, and the answer where a model was asked.

    `answer` is None without a model, and where it failed: then a note says why. `citations` are
    the reports that it cites, `grounding` the verdicts on its claims against all reports that the
    model saw. `points` are what it was made from, where the reports did not fit into one request.
    `notes` tell what fell back on what.
    """

    query: str
    reports: tuple[CommunityReport, ...]
    answer: str | None = None
    citations: tuple[Citation, ...] = ()
    grounding: Grounding | None = None
    points: tuple[Point, ...] = ()
    usage: Usage = field(default_factory=Usage)
    report: Mapping[str, ArmReport] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
