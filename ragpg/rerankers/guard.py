"""What a reranker gave back, made to be the same hits again, on a scale that is named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.types import Hit


def name_of(reranker: object) -> str:
    """What reports call a reranker: its name, else its class."""
    return str(getattr(reranker, "name", "") or type(reranker).__name__)


def scale_of(reranker: object) -> str:
    """The scale of its scores: what it says, else its name. Two models never share one."""
    return str(getattr(reranker, "scale", "") or name_of(reranker))


def same_hits(
    before: Sequence[Hit], after: Sequence[Hit], scale: str
) -> tuple[list[Hit], str | None]:
    """The hits of `before` in the order and with the scores of `after`, and what had to be mended.

    A repeated or invented hit is taken out. A lost one comes behind the others in its old order,
    with the score and the scale that it had. Of a reranker that says nothing of scales every score
    is on `scale`.
    """
    left = {_key(hit): hit for hit in before}
    own_scale = any(
        hit.score_kind != left[_key(hit)].score_kind for hit in after if _key(hit) in left
    )
    kept: list[Hit] = []
    strange = 0
    for hit in after:
        original = left.pop(_key(hit), None)
        if original is None:
            strange += 1
            continue
        kind = hit.score_kind if own_scale else scale
        kept.append(replace(original, score=hit.score, score_kind=kind))
    lost = list(left.values())
    hits = [replace(hit, rank=rank) for rank, hit in enumerate([*kept, *lost], start=1)]
    problems = []
    if strange:
        problems.append(f"{strange} unknown or repeated hits were taken out")
    if lost:
        problems.append(f"{len(lost)} lost hits were put back at the end")
    return hits, "; ".join(problems) or None


def _key(hit: Hit) -> tuple[object, ...]:
    return (hit.namespace, hit.chunk_id, hit.source, hit.start_char, hit.content)
