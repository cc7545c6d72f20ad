"""Diversity: what was written twice is shown once, and the rest is spread over its topics.

Collapse looks at texts only. Vectors cannot tell a copy from a contradiction: "costs 40 EUR" and
"costs 50 EUR" are as near to each other as two copies are.

MMR is Carbonell and Goldstein 1998: the next hit is the one with the largest
`mmr * relevance - (1 - mmr) * likeness to the nearest hit chosen before`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from ragpg.errors import ConfigError
from ragpg.queries import SIMILARITIES
from ragpg.query.shingles import Index, Shingles
from ragpg.steps import Flow, fetch
from ragpg.types import Duplicate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.types import Hit

#: Likeness of two hits by their places in a list, the lower place first.
Likeness = dict[tuple[int, int], float]


def diversify(
    hits: Sequence[Hit],
    likeness: Mapping[tuple[int, int], float] | None = None,
    *,
    mmr: float | None = None,
    collapse: float | None = None,
    k: int | None = None,
) -> list[Hit]:
    """The hits without near duplicates, ordered by MMR; ranks count anew from 1.

    collapse   a hit goes when this share of its word sequences (0 to 1) stands in a better one of
               its namespace that also has all its numbers and negations; the better one lists it in
               `duplicates`. None keeps all
    mmr        weight of relevance against novelty, 0 to 1; 1 keeps the order. None: no MMR
    likeness   cosine of two hits by their places in `hits`; what is missing is compared by text
    k          so many hits are wanted: the others are left out, and what need not be compared
               for them is not. None keeps all

    Scores stay as they were. Raises ConfigError for a number out of range.
    """
    for name, value in (("mmr", mmr), ("collapse", collapse)):
        if value is not None and not 0 <= value <= 1:
            raise ConfigError(f"{name} must be between 0 and 1, not {value!r}")
    kept, places = list(hits), list(range(len(hits)))
    wanted = len(hits) if k is None else k
    texts: dict[int, Shingles] = {}
    if collapse is not None:
        places = _collapse(kept, texts, collapse, wanted if mmr is None else len(hits))
    if mmr is not None:
        places = _mmr(kept, places, _compared(kept, places, texts, likeness or {}), mmr)
    return [replace(kept[at], rank=rank) for rank, at in enumerate(places[:wanted], start=1)]


def likeness(hits: Sequence[Hit]) -> Flow[Likeness]:
    """Cosines of all pairs of hits that have a stored vector of the same model; one round trip."""
    stored = [place for place, hit in enumerate(hits) if hit.chunk_id is not None]
    if len(stored) < 2:
        return {}
    [(first, second, cosines)] = yield from fetch(
        SIMILARITIES,
        {
            "namespaces": [hits[place].namespace for place in stored],
            "chunk_ids": [hits[place].chunk_id for place in stored],
        },
    )
    return {
        (stored[one - 1], stored[other - 1]): cosine
        for one, other, cosine in zip(first or (), second or (), cosines or (), strict=True)
    }


def _collapse(hits: list[Hit], texts: dict[int, Shingles], least: float, wanted: int) -> list[int]:
    """Places of what stays, until there are enough; kept hits get their duplicates noted, and
    `texts` the sequences of all hits looked at."""
    index = Index()
    stay: list[int] = []
    for place, hit in enumerate(hits):
        if len(stay) >= wanted:
            break
        text = texts[place] = Shingles(hit.content)
        for other, count in index.shared(text):
            part = count / len(text.parts)
            kept = hits[other]
            # A copy in another namespace belongs to another corpus, and stays.
            alike = part >= least and text.telling <= texts[other].telling
            if alike and hit.namespace == kept.namespace:
                found = (*kept.duplicates, _as_duplicate(hit, part), *hit.duplicates)
                hits[other] = replace(kept, duplicates=found)
                break
        else:
            stay.append(place)
            index.add(place, text)
    return stay


def _compared(
    hits: Sequence[Hit],
    places: Sequence[int],
    texts: dict[int, Shingles],
    likeness: Mapping[tuple[int, int], float],
) -> Mapping[tuple[int, int], float]:
    """The given likeness, and by text (Jaccard) where a pair has none."""
    if all(pair in likeness for pair in combinations(places, 2)):
        return likeness
    alike: Likeness = {}
    index = Index()
    for place in places:
        text = texts.get(place) or Shingles(hits[place].content)
        texts[place] = text
        for other, count in index.shared(text):
            alike[other, place] = count / (len(text.parts) + len(texts[other].parts) - count)
        index.add(place, text)
    return {**alike, **likeness}


def _as_duplicate(hit: Hit, similarity: float) -> Duplicate:
    return Duplicate(
        hit.namespace, hit.source, hit.chunk_id, hit.start_line, hit.end_line, similarity
    )


def _mmr(
    hits: Sequence[Hit],
    places: Sequence[int],
    likeness: Mapping[tuple[int, int], float],
    weight: float,
) -> list[int]:
    """The places in MMR order; ties go to the better hit. Relevance is the score, from the lowest
    (0) to the highest (1) of the list."""
    scores = [hits[place].score for place in places]
    low, span = min(scores, default=0.0), max(scores, default=0.0) - min(scores, default=0.0)
    relevance = {
        place: weight * ((score - low) / span if span > 0 else 0.0)
        for place, score in zip(places, scores, strict=True)
    }
    nearest = dict.fromkeys(places, 0.0)
    left = list(places)
    chosen: list[int] = []
    while left:
        best = max(left, key=lambda at: (relevance[at] - (1 - weight) * nearest[at], -at))
        left.remove(best)
        chosen.append(best)
        for at in left:
            pair = (best, at) if best < at else (at, best)
            alike = likeness.get(pair, 0.0)
            if alike > nearest[at]:
                nearest[at] = alike
    return chosen
