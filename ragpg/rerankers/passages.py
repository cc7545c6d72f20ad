"""What a reranking model reads of a hit, and a list put in the order of its scores."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.types import Hit


def passage(hit: Hit, characters: int | None = None) -> str:
    """The headings of a hit, then its text; cut at a blank before so many characters."""
    text = f"{hit.breadcrumb}\n{hit.content}" if hit.breadcrumb.strip() else hit.content
    if characters is None or len(text) <= characters:
        return text
    cut = text[:characters]
    blank = cut.rfind(" ")
    return cut[:blank] if blank > characters // 2 else cut


def reordered(hits: Sequence[Hit], scores: Sequence[float | None], scale: str) -> list[Hit]:
    """The hits by score, best first; ties keep their order.

    A hit without a score (None, or no finite number) comes behind the others in its old place,
    with the score and the scale that it had.
    """
    known = [
        score if score is not None and math.isfinite(score) else None
        for score in scores[: len(hits)]
    ]
    known += [None] * (len(hits) - len(known))
    places = sorted(
        range(len(hits)), key=lambda at: math.inf if known[at] is None else -float(known[at] or 0)
    )
    ordered = []
    for rank, place in enumerate(places, start=1):
        hit, score = hits[place], known[place]
        if score is None:
            ordered.append(replace(hit, rank=rank))
        else:
            ordered.append(replace(hit, rank=rank, score=float(score), score_kind=scale))
    return ordered
