"""Grounding: is each claim of an answer supported by the hits it was written from?

A claim is an assertive sentence. Its support by a span of evidence (one or two sentences of a hit)
is the share of the claim's content words that the span has. supported >= 0.5, partial >= 0.25.
Where words overlap but numbers, dates, negation, names or roles disagree, the claim is not
supported: contradicted where the evidence says otherwise, unsupported where it does not say so.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ragpg.query.agreement import disagreements
from ragpg.query.claims import extract_claims
from ragpg.query.markers import find_markers
from ragpg.sentences import split_sentences
from ragpg.types import Claim, Evidence, Grounding
from ragpg.words import STOPWORDS, content_words, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.query.markers import Marker
    from ragpg.query.sentence_words import Disagreement
    from ragpg.types import Hit, Verdict

SUPPORTED = 0.5
PARTIAL = 0.25
#: So many spans, those of highest support, are compared with a claim in detail.
_COMPARED = 6
#: Two sentences are taken for evidence only where they support this much more than one.
_PAIR_GAIN = 0.15
#: How far the support of an agreeing span may be below that of a contradicting one.
_MARGIN = 0.3


@dataclass(frozen=True, slots=True)
class _Span:
    number: int
    start: int
    end: int
    words: frozenset[str]
    sentences: int


def ground(answer: str, hits: Sequence[Hit]) -> Grounding:
    """Verdicts on the claims of an answer; `hits` in the order of their numbers, [1] first.

    Every hit may be evidence, whether cited or not; a claim that cites only sources which do not
    support it says so in its reasons. Numbers without a source are listed and support nothing.
    """
    markers = find_markers(answer, [hit.content for hit in hits])
    spans = [span for number, hit in enumerate(hits, start=1) for span in _spans(number, hit)]
    claims = [
        _judge(
            sentence.text,
            sentence.start,
            sentence.end,
            spans,
            hits,
            [one for one in markers if sentence.start <= one.start < sentence.end],
        )
        for sentence in extract_claims(answer)
    ]
    numbers = list(dict.fromkeys(number for marker in markers for number in marker.numbers))
    known = [number for number in numbers if 1 <= number <= len(hits)]
    return Grounding(
        answer=answer,
        claims=claims,
        confidence=_confidence(claims),
        bad_citations=[number for number in numbers if number not in known],
        uncited=not known,
    )


def _confidence(claims: Sequence[Claim]) -> float | None:
    if not claims:
        return None
    counts: Counter[str] = Counter(claim.verdict for claim in claims)
    return (counts["supported"] + counts["partial"] / 2) / len(claims)


def _spans(number: int, hit: Hit) -> list[_Span]:
    """Each sentence of a hit, and each two neighbouring ones of a paragraph."""
    bounds = split_sentences(hit.content)
    heads = frozenset(words(f"{hit.title} {hit.breadcrumb}"))
    own = [frozenset(words(hit.content[start:end])) for start, end in bounds]
    spans = [
        _Span(number, start, end, found, 1) for (start, end), found in zip(bounds, own, strict=True)
    ]
    for at in range(len(bounds) - 1):
        start, end = bounds[at][0], bounds[at + 1][1]
        if "\n\n" not in hit.content[bounds[at][1] : bounds[at + 1][0]]:
            spans.append(_Span(number, start, end, own[at] | own[at + 1], 2))
    # A heading names the subject that its sentences only call "it"; it cannot be evidence alone.
    return [
        _Span(one.number, one.start, one.end, one.words | heads, one.sentences)
        for one in spans
        if one.words - STOPWORDS
    ]


def _judge(
    text: str,
    start: int,
    end: int,
    spans: Sequence[_Span],
    hits: Sequence[Hit],
    markers: Sequence[Marker],
) -> Claim:
    plain = _without(text, start, markers)
    asked = content_words(plain)
    cited = list(dict.fromkeys(number for marker in markers for number in marker.numbers))
    ranked = sorted(
        ((_support(asked, span), span) for span in spans),
        key=lambda one: (
            -(one[0] - (_PAIR_GAIN if one[1].sentences == 2 else 0.0)),
            one[1].number not in cited,
            one[1].number,
            one[1].start,
        ),
    )
    best: tuple[Verdict, float, _Span | None, list[Disagreement]] = ("unsupported", 0.0, None, [])
    for support, span in ranked[:_COMPARED]:
        hit = hits[span.number - 1]
        verdict: Verdict = "unsupported"
        differing: list[Disagreement] = []
        if support >= PARTIAL:
            heading = f"{hit.title} {hit.breadcrumb} {hit.source}"
            quote = hit.content[span.start : span.end]
            differing = disagreements(plain, quote, heading, hit.content)
            verdict = _verdict(support, differing)
        # A span that agrees by half of the words does not outweigh one that denies nearly all.
        outweighed = best[0] == "contradicted" and support < best[1] - _MARGIN
        if best[2] is None or (_ORDER[verdict] > _ORDER[best[0]] and not outweighed):
            best = (verdict, support, span, differing)
        if verdict == "supported":
            break
    verdict, support, found, differing = best
    evidence = []
    if found is not None and support > 0:
        hit = hits[found.number - 1]
        quote = hit.content[found.start : found.end]
        evidence.append(Evidence(found.number, hit, found.start, found.end, quote, support))
    return Claim(
        text=text,
        start=start,
        end=end,
        verdict=verdict,
        support=support,
        evidence=evidence,
        cited=cited,
        reasons=[
            *(one.reason for one in differing),
            *_citation_reasons(cited, found, verdict, asked, spans, len(hits)),
        ],
    )


#: Which verdict wins when spans differ: support first, then what speaks against the claim.
_ORDER = {"unsupported": 0, "partial": 1, "contradicted": 2, "supported": 3}


def _verdict(support: float, differing: Sequence[Disagreement]) -> Verdict:
    if not differing:
        return "supported" if support >= SUPPORTED else "partial"
    conflict = any(one.kind == "conflict" for one in differing)
    return "contradicted" if conflict and support >= SUPPORTED else "unsupported"


def _support(asked: Sequence[str], span: _Span) -> float:
    return sum(word in span.words for word in asked) / len(asked) if asked else 0.0


def _without(text: str, start: int, markers: Sequence[Marker]) -> str:
    for marker in reversed(markers):
        text = f"{text[: marker.start - start]} {text[marker.end - start :]}"
    return text


def _citation_reasons(
    cited: Sequence[int],
    found: _Span | None,
    verdict: Verdict,
    asked: Sequence[str],
    spans: Sequence[_Span],
    count: int,
) -> list[str]:
    reasons = [
        f"[{number}] names no source: there are {count}"
        for number in cited
        if not 1 <= number <= count
    ]
    known = [number for number in cited if 1 <= number <= count]
    if found is None or verdict not in ("supported", "partial") or found.number in known:
        return reasons
    threshold = SUPPORTED if verdict == "supported" else PARTIAL
    if known and not any(
        span.number in known and _support(asked, span) >= threshold for span in spans
    ):
        names = ", ".join(f"[{number}]" for number in known)
        reasons.append(f"the evidence is in [{found.number}], not in the cited {names}")
    return reasons


def render_grounding(grounding: Grounding) -> str:
    """A report for a terminal: one line a claim with its reasons and evidence, then the total."""
    marks = {"supported": "+", "partial": "~", "unsupported": "?", "contradicted": "!"}
    lines: list[str] = []
    for claim in grounding.claims:
        text = " ".join(claim.text.split())
        lines.append(f"{marks[claim.verdict]} {claim.verdict:<12} {claim.support:.2f}  {text}")
        lines.extend(f"    because {reason}" for reason in claim.reasons)
        for evidence in claim.evidence:
            quote = " ".join(evidence.quote.split())
            lines.append(f"    [{evidence.number}] {evidence.hit.source}: {quote}")
    if grounding.confidence is None:
        lines.append("no claims")
    else:
        counts: Counter[str] = Counter(claim.verdict for claim in grounding.claims)
        total = ", ".join(f"{counts[verdict]} {verdict}" for verdict in marks if counts[verdict])
        lines.append(f"confidence {grounding.confidence:.2f} ({grounding.state}): {total}")
    if grounding.bad_citations:
        numbers = ", ".join(map(str, grounding.bad_citations))
        lines.append(f"citations that name no source: {numbers}")
    if grounding.uncited and grounding.claims:
        lines.append("the answer cites no source")
    return "\n".join(lines)


def mark_answer(grounding: Grounding, mode: Literal["mark", "drop"] = "mark") -> str:
    """The answer with its unsupported and contradicted claims marked, or without them.

    mark puts "[unsupported]" or "[contradicted]" behind the claim; drop takes the sentence out, and
    with it a list item that holds nothing else.
    """
    text = grounding.answer
    for claim in sorted(grounding.claims, key=lambda one: one.start, reverse=True):
        if claim.verdict not in ("unsupported", "contradicted"):
            continue
        if mode == "mark":
            text = f"{text[: claim.end]} [{claim.verdict}]{text[claim.end :]}"
            continue
        before, after = text[: claim.start], text[claim.end :]
        line = before[before.rfind("\n") + 1 :]
        if not line.strip(" \t>-*+•_.)(0123456789") and not after.partition("\n")[0].strip(" *_"):
            before, after = before[: len(before) - len(line)], after.partition("\n")[2]
            text = before + after
        else:
            text = (
                before.rstrip(" \t") + after if after[:1] in ("", "\n") else before + after.lstrip()
            )
    return text.strip() if mode == "drop" else text
