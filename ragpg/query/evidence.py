"""The spans of hits that may speak for a claim, best overlap first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragpg.sentences import split_sentences
from ragpg.types import Pair
from ragpg.words import STOPWORDS, content_words, words

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def overlap(asked: Sequence[str], found: frozenset[str]) -> float:
    """The share of a claim's content words among the words of a span."""
    return sum(word in found for word in asked) / len(asked) if asked else 0.0


def candidates(
    claim: str, spans: Sequence[Span], hits: Sequence[Hit], cited: Sequence[int], count: int
) -> list[Candidate]:
    """The `count` spans of highest overlap with a claim, cited sources first among equals, and the
    best one of each cited source; then the best of all joined with the span that adds most to it,
    where that is much."""
    asked = content_words(claim)
    ranked = sorted(
        ((overlap(asked, span.words), span) for span in spans),
        key=lambda one: (
            -(one[0] - (PAIR_GAIN if one[1].sentences == 2 else 0.0)),
            one[1].number not in cited,
            one[1].number,
            one[1].start,
        ),
    )
    chosen = ranked[:count]
    for number in cited:
        if all(span.number != number for _, span in chosen):
            chosen += [one for one in ranked if one[1].number == number][:1]
    found = [Candidate((span,), _pair(claim, share, (span,), hits)) for share, span in chosen]
    joined = _joined(asked, ranked, spans)
    if joined:
        share = overlap(asked, joined[0].words | joined[1].words)
        found.append(Candidate(joined, _pair(claim, share, joined, hits)))
    return found


def _joined(
    asked: Sequence[str], ranked: Sequence[tuple[float, Span]], spans: Sequence[Span]
) -> tuple[Span, Span] | None:
    """The best single sentence with the one elsewhere that has most of what it lacks."""
    first = next((span for _, span in ranked if span.sentences == 1), None)
    if first is None or not asked:
        return None
    lacking = [word for word in asked if word not in first.words]
    others = [span for span in spans if span.sentences == 1 and span is not first]
    second = max(
        others,
        key=lambda one: (overlap(lacking, one.words), -one.number, -one.start),
        default=None,
    )
    if second is None or overlap(lacking, second.words) * len(lacking) / len(asked) < PAIR_GAIN:
        return None
    return first, second


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
