"""The spans of hits that may speak for a claim, best overlap first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from heapq import nsmallest
from typing import TYPE_CHECKING

from ragpg.sentences import split_sentences
from ragpg.types import Pair
from ragpg.words import STOPWORDS, content_words, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ragpg.query.markers import Marker
    from ragpg.types import Hit

#: Two sentences are taken for evidence only where they support this much more than one.
PAIR_GAIN = 0.15


@dataclass(frozen=True, slots=True)
class Span:
    """One or two sentences of a hit: hit.content[start:end], with their words and its headings'."""

    number: int
    start: int
    end: int
    words: frozenset[str]
    sentences: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """Evidence that a judge is asked about: one span, or two from different places."""

    spans: tuple[Span, ...]
    pair: Pair


def spans_of(hits: Sequence[Hit]) -> list[Span]:
    """Each sentence of the hits, and each two neighbouring ones of a paragraph."""
    return [span for number, hit in enumerate(hits, start=1) for span in _spans(number, hit)]


def _spans(number: int, hit: Hit) -> list[Span]:
    bounds = split_sentences(hit.content)
    heads = frozenset(words(f"{hit.title} {hit.breadcrumb}"))
    own = [frozenset(words(hit.content[start:end])) for start, end in bounds]
    spans = [
        Span(number, start, end, found, 1) for (start, end), found in zip(bounds, own, strict=True)
    ]
    for at in range(len(bounds) - 1):
        start, end = bounds[at][0], bounds[at + 1][1]
        if "\n\n" not in hit.content[bounds[at][1] : bounds[at + 1][0]]:
            spans.append(Span(number, start, end, own[at] | own[at + 1], 2))
    # A heading names the subject that its sentences only call "it"; it cannot be evidence alone.
    return [
        Span(one.number, one.start, one.end, one.words | heads, one.sentences)
        for one in spans
        if one.words - STOPWORDS
    ]


class Spans:
    """The spans of hits, to be looked up by the words of a claim."""

    def __init__(self, hits: Sequence[Hit]) -> None:
        self.hits = hits
        self.all = spans_of(hits)
        self._holding: dict[str, list[int]] = {}
        for at, span in enumerate(self.all):
            for word in span.words:
                self._holding.setdefault(word, []).append(at)

    def candidates(self, claim: str, cited: Sequence[int], count: int) -> list[Candidate]:
        """The `count` spans of highest overlap with a claim, cited sources first among equals, and
        the best one of each cited source; then the best of all joined with the span that adds most
        to it, where that is much."""
        asked = content_words(claim)
        shares = self._overlaps(asked)

        def order(at: int) -> tuple[float, bool, int]:
            span = self.all[at]
            gain = PAIR_GAIN if span.sentences == 2 else 0.0
            # Spans stand in the order of their sources.
            return gain - shares.get(at, 0.0), span.number not in cited, at

        pool: Iterable[int] = shares if len(shares) >= count else range(len(self.all))
        chosen = nsmallest(count, pool, key=order)
        seen = {self.all[at].number for at in chosen}
        for number in dict.fromkeys(cited):
            if number not in seen:
                own = (at for at, span in enumerate(self.all) if span.number == number)
                chosen += nsmallest(1, own, key=order)
        found = [
            Candidate(
                (self.all[at],), _pair(claim, shares.get(at, 0.0), (self.all[at],), self.hits)
            )
            for at in chosen
        ]
        singles = (at for at in shares if self.all[at].sentences == 1)
        first = min(singles, key=order, default=None)
        second = None if first is None else self._adding(asked, first)
        if first is not None and second is not None:
            joined = self.all[first], self.all[second]
            share = overlap(asked, joined[0].words | joined[1].words)
            found.append(Candidate(joined, _pair(claim, share, joined, self.hits)))
        return found

    def _adding(self, asked: Sequence[str], first: int) -> int | None:
        """The single sentence that has most of what another one lacks, where that is much."""
        lacking = [word for word in asked if word not in self.all[first].words]
        shares = self._overlaps(lacking)
        others = [at for at in shares if self.all[at].sentences == 1 and at != first]
        second = min(others, key=lambda at: (-shares[at], at), default=None)
        if second is None or shares[second] * len(lacking) / len(asked) < PAIR_GAIN:
            return None
        return second

    def _overlaps(self, asked: Sequence[str]) -> dict[int, float]:
        """The overlap of each span that has any of these words."""
        counts: Counter[int] = Counter()
        for word in asked:
            counts.update(self._holding.get(word, ()))
        return {at: count / len(asked) for at, count in counts.items()}


def overlap(asked: Sequence[str], found: frozenset[str]) -> float:
    """The share of a claim's content words among the words of a span."""
    return sum(word in found for word in asked) / len(asked) if asked else 0.0


def _pair(claim: str, share: float, spans: Sequence[Span], hits: Sequence[Hit]) -> Pair:
    owners = [hits[span.number - 1] for span in spans]
    return Pair(
        claim=claim,
        evidence=" ".join(
            hit.content[span.start : span.end] for hit, span in zip(owners, spans, strict=True)
        ),
        heading=" ".join(f"{hit.title} {hit.breadcrumb} {hit.source}" for hit in owners),
        around="\n".join(dict.fromkeys(hit.content for hit in owners)),
        overlap=share,
    )


def without_markers(text: str, start: int, markers: Sequence[Marker]) -> str:
    """A claim that begins at `start` of its answer, without its citation markers."""
    for marker in reversed(markers):
        text = f"{text[: marker.start - start]} {text[marker.end - start :]}"
    return text
