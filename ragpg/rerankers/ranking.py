"""Scores in the answer of a reranking service, whatever order and form it comes in."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from typing import Any

from ragpg.errors import ProviderError

log = logging.getLogger("ragpg")

_LISTS = ("results", "data", "rankings")
_SCORES = ("relevance_score", "score")


def read_ranking(answer: Any, count: int) -> list[float | None]:
    """Scores in the order in which the passages were sent; None for one without an entry.

    Takes {"results": [...]}, {"data": [...]} or a bare list, of entries with "index" (from 0) and
    "relevance_score" or "score". An entry for an index that was not sent, for one that had its
    entry before, or without a number as its score is left out, and the log says so. Raises
    ProviderError when there is no list, or when it has entries and none is good.
    """
    entries = answer
    if isinstance(answer, Mapping):
        entries = next((answer[key] for key in _LISTS if isinstance(answer.get(key), list)), None)
    if not isinstance(entries, list):
        raise ProviderError("the rerank service answered without a list of results")
    scores: list[float | None] = [None] * count
    strange: list[str] = []
    for entry in entries:
        index = entry.get("index") if isinstance(entry, Mapping) else None
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count:
            strange.append(f"index {index!r}")
        elif scores[index] is not None:
            strange.append(f"index {index} again")
        elif (score := _score(entry)) is None:
            strange.append(f"no score of index {index}")
        else:
            scores[index] = score
    if strange:
        log.warning(
            "the rerank service's answer for %d passages has entries that were ignored: %s",
            count,
            ", ".join(strange[:5]),
        )
    if strange and not any(score is not None for score in scores):
        raise ProviderError(
            f"no entry of the rerank service's answer is good: {', '.join(strange[:5])}"
        )
    return scores


def _score(entry: Mapping[str, Any]) -> float | None:
    value = next((entry[key] for key in _SCORES if key in entry), None)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) else None
