"""What a model was shown, until it is known what of it carried an answer.

A search of a learning Toolbox is answered with a `search_id`. When an answer written from it is
checked, the passages that carry its supported claims are the followed ones and the others were only
shown. Having been read earns nothing, nor having been named as a source, and a search that nobody
reports on counts neither for nor against its passages.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import Counter, OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ragpg.feedback.attribution import supporting
from ragpg.types import SearchResult
from ragpg.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ragpg.types import Claim, Grounding, Hit

#: Who copies every passage into an answer has chosen none: only the first of them are followed.
FOLLOWED = 3


class _Shown(NamedTuple):
    result: SearchResult
    at: float


class Learning:
    """Searches that wait for their answer, at most `most` of them and for `seconds`. May be used by
    several conversations and threads."""

    def __init__(self, *, most: int = 1000, seconds: float = 3600.0) -> None:
        self.most, self.seconds = most, seconds
        self._waiting: OrderedDict[str, _Shown] = OrderedDict()
        self._settled: list[tuple[SearchResult, Sequence[Hit]]] = []
        self._lock = threading.Lock()

    def show(self, result: SearchResult) -> str:
        """Keep what a model is shown; its id, which nobody can guess."""
        key = secrets.token_urlsafe(9)
        with self._lock:
            self._waiting[key] = _Shown(result, time.monotonic())
            while len(self._waiting) > self.most:
                self._waiting.popitem(last=False)
        return key

    def waiting(self) -> list[str]:
        """The ids of the searches that wait, oldest first."""
        since = time.monotonic() - self.seconds
        with self._lock:
            return [key for key, one in self._waiting.items() if one.at >= since]

    def shown(self, searches: Iterable[str]) -> SearchResult | None:
        """The passages of some searches as one result, each once; None where no search waits."""
        with self._lock:
            found = [one.result for key in searches if (one := self._fresh(key)) is not None]
        if not found:
            return None
        hits: dict[object, Hit] = {}
        for result in found:
            for hit in result.hits:
                hits.setdefault((hit.namespace, hit.source, hit.chunk_id, hit.content), hit)
        ranked = [replace(hit, rank=rank) for rank, hit in enumerate(hits.values(), 1)]
        return SearchResult(query=found[-1].query, hits=ranked, report={})

    def settle(self, searches: Iterable[str], grounding: Grounding) -> int:
        """Decide what of some searches was followed; how many passages. Each search counts once."""
        told = replace(grounding, claims=list(filter(_quotes, grounding.claims)))
        claims = Counter(supporting(told))
        best = {chunk for chunk, _ in claims.most_common(FOLLOWED)}
        followed: set[int | None] = set()
        with self._lock:
            for key in searches:
                if self._fresh(key) is not None:
                    result = self._waiting.pop(key).result
                    used = [hit for hit in result.hits if hit.chunk_id in best]
                    followed.update(hit.chunk_id for hit in used)
                    self._settled.append((result, used))
        return len(followed)

    def _fresh(self, key: str) -> _Shown | None:
        """A search that still waits; to be asked under the lock."""
        one = self._waiting.get(key)
        return one if one is not None and one.at >= time.monotonic() - self.seconds else None

    def take(self) -> list[tuple[SearchResult, Sequence[Hit]]]:
        """What was settled, for Client.feedback; each once."""
        with self._lock:
            taken, self._settled = self._settled, []
        return taken


def _quotes(claim: Claim) -> bool:
    """Whether a claim says what its evidence says, not only how its document is called: the lexical
    judge reads titles and sources too."""
    if claim.judge != "lexical" or not claim.evidence:
        return True
    best = max(claim.evidence, key=lambda one: one.support)
    words, said = (set(content_words(text)) for text in (claim.text, best.quote))
    shared = len(words & said)
    return shared >= 2 and 2 * shared >= len(words)
