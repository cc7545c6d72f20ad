"""Grounding: is each claim of an answer supported by the hits it was written from?

A claim is an assertive sentence; evidence is a span of one or two sentences of a hit. A judge gives
each claim with its best spans a verdict; the claim gets the best of them. The default judge is
lexical (ragpg.judges.lexical), and it stands in where another one fails.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragpg.judges.lexical import LexicalJudge
from ragpg.query.citation_checks import check_citations
from ragpg.query.claims import extract_claims
from ragpg.query.evidence import PAIR_GAIN, Candidate, Spans, without_markers
from ragpg.query.markers import find_markers
from ragpg.steps import Flow, call, within
from ragpg.types import Claim, Evidence, Grounding, Judgement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.protocols import Judge
    from ragpg.query.claims import Sentence
    from ragpg.query.markers import Marker
    from ragpg.types import Hit, Pair

#: Who judges where nobody else does.
_LEXICAL = LexicalJudge()
#: So many spans a claim are judged where a judge does not say how many it wants.
_CANDIDATES = 6
#: How far the support of an agreeing span may be below that of one with reasons against the claim:
#: in general, and where that one has nearly all of the claim's words.
_MARGIN, _CLOSE_MARGIN, _CLOSE = 0.3, 0.1, 0.85
#: Less support says nothing against other spans.
_DENYING = 0.5
#: Evidence of one claim: the best span and so many others, one of a source.
_SOURCES = 3
#: Which verdict wins when spans differ: support first, then what speaks against the claim.
_ORDER = {"unsupported": 0, "partial": 1, "contradicted": 2, "supported": 3}


@dataclass(frozen=True, slots=True)
class _Work:
    """An answer taken apart: claims with their markers and the evidence to be judged."""

    answer: str
    hits: Sequence[Hit]
    markers: Sequence[Marker]
    claims: Sequence[tuple[Sentence, Sequence[Marker], Sequence[Candidate]]]

    @property
    def pairs(self) -> list[Pair]:
        """All pairs of all claims, in order: a judge gets them in one call."""
        return [one.pair for _, _, found in self.claims for one in found]


@dataclass(frozen=True, slots=True)
class _Judged:
    """A judgement for each pair, the name of who gave it, and what went wrong."""

    judgements: Sequence[Judgement]
    names: Sequence[str]
    notes: Sequence[str] = ()


def ground(
    answer: str, hits: Sequence[Hit], judge: Judge | None = None, lexical: LexicalJudge = _LEXICAL
) -> Grounding:
    """Verdicts on the claims of an answer; `hits` in the order of their numbers, [1] first.

    Every hit may be evidence, whether cited or not; a claim that cites only sources which do not
    support it says so in its reasons. Numbers without a source are listed and support nothing. A
    judge that fails is noted, and `lexical` takes its place, as it does where there is none.
    """
    work = _take_apart(answer, hits, judge)
    if judge is None:
        return _put_together(work, _judged_lexically(lexical, work.pairs), "lexical")
    try:
        found: Sequence[Judgement | None] = judge.judge(work.pairs) if work.pairs else ()
        judged = _with_lexical(lexical, work.pairs, found, judge.name)
    except Exception as error:
        judged = _judged_lexically(lexical, work.pairs, f"judge {judge.name} failed: {error}")
    return _put_together(work, judged, judge.name)


def ground_flow(
    answer: str,
    hits: Sequence[Hit],
    judge: Judge | None = None,
    timeout: float | None = None,
    lexical: LexicalJudge = _LEXICAL,
) -> Flow[Grounding]:
    """As `ground`, in steps: models are asked where sync and async clients ask theirs. A judge that
    takes longer than `timeout` seconds has failed."""
    if judge is None:
        plain: Grounding = yield from call(ground, answer, hits, None, lexical)
        return plain
    work: _Work = yield from call(_take_apart, answer, hits, judge)
    flow = getattr(judge, "flow", None)
    try:
        found: Sequence[Judgement | None] = ()
        if work.pairs:
            steps = flow(work.pairs) if flow is not None else call(judge.judge, work.pairs)
            found = yield from within(steps, timeout)
        judged: _Judged = yield from call(_with_lexical, lexical, work.pairs, found, judge.name)
    except Exception as error:
        reason = f"judge {judge.name} failed: {error}"
        judged = yield from call(_judged_lexically, lexical, work.pairs, reason)
    return _put_together(work, judged, judge.name)


def _take_apart(answer: str, hits: Sequence[Hit], judge: Judge | None) -> _Work:
    markers = find_markers(answer, [hit.content for hit in hits])
    spans = Spans(hits)
    count = getattr(judge, "candidates", _CANDIDATES)
    starts = [one.start for one in markers]
    claims = []
    for sentence in extract_claims(answer):
        own = markers[bisect_left(starts, sentence.start) : bisect_left(starts, sentence.end)]
        plain = without_markers(sentence.text, sentence.start, own)
        claims.append((sentence, own, spans.candidates(plain, _numbers(own), count)))
    return _Work(answer, hits, markers, claims)


def _judged_lexically(lexical: LexicalJudge, pairs: Sequence[Pair], *notes: str) -> _Judged:
    return _Judged(
        lexical.judge(pairs),
        ["lexical"] * len(pairs),
        [f"{note}; the lexical judge took its place" for note in notes],
    )


def _with_lexical(
    lexical: LexicalJudge, pairs: Sequence[Pair], found: Sequence[Judgement | None], name: str
) -> _Judged:
    """What a judge found, with lexical judgements where it has none."""
    if len(found) != len(pairs):
        said = f"judge {name} gave {len(found)} verdicts for {len(pairs)} pairs"
        return _judged_lexically(lexical, pairs, said)
    missing = [at for at, one in enumerate(found) if not isinstance(one, Judgement)]
    filled = lexical.judge([pairs[at] for at in missing])
    whole = dict(zip(missing, filled, strict=True))
    notes = (
        [
            f"judge {name} gave no verdict on {len(missing)} of {len(pairs)} pairs; the lexical"
            " judge took them"
        ]
        if missing
        else []
    )
    return _Judged(
        [one if one is not None else whole[at] for at, one in enumerate(found)],
        ["lexical" if one is None else name for one in found],
        notes,
    )


def _put_together(work: _Work, judged: _Judged, name: str) -> Grounding:
    claims: list[Claim] = []
    holding: list[frozenset[int]] = []
    at = 0
    for sentence, own, found in work.claims:
        part = slice(at, at + len(found))
        at += len(found)
        judgements = judged.judgements[part]
        claim = _claim(sentence, own, work.hits, found, judgements, judged.names[part])
        claims.append(claim)
        holding.append(_holding(claim, found, judgements))
    numbers = _numbers(work.markers)
    known = [number for number in numbers if 1 <= number <= len(work.hits)]
    return Grounding(
        answer=work.answer,
        claims=check_citations(work.answer, claims, len(work.hits), holding),
        confidence=_confidence(claims),
        bad_citations=[number for number in numbers if number not in known],
        uncited=not known,
        judge=name,
        notes=judged.notes,
    )


def _numbers(markers: Sequence[Marker]) -> list[int]:
    return list(dict.fromkeys(number for marker in markers for number in marker.numbers))


def _confidence(claims: Sequence[Claim]) -> float | None:
    if not claims:
        return None
    counts: Counter[str] = Counter(claim.verdict for claim in claims)
    return (counts["supported"] + counts["partial"] / 2) / len(claims)


def _claim(
    sentence: Sentence,
    markers: Sequence[Marker],
    hits: Sequence[Hit],
    found: Sequence[Candidate],
    judgements: Sequence[Judgement],
    names: Sequence[str],
) -> Claim:
    chosen = _best(found, judgements, names)
    evidence: list[Evidence] = []
    if chosen is not None and judgements[chosen].support > 0:
        best = judgements[chosen]
        evidence = _evidence(found[chosen], best.support, hits)
        for candidate, one in zip(found, judgements, strict=True):
            seen = {piece.number for piece in evidence}
            same = one.verdict == best.verdict != "unsupported" and len(candidate.spans) == 1
            if same and candidate.spans[0].number not in seen and len(seen) < _SOURCES:
                evidence += _evidence(candidate, one.support, hits)
    return Claim(
        text=sentence.text,
        start=sentence.start,
        end=sentence.end,
        verdict="unsupported" if chosen is None else judgements[chosen].verdict,
        # One number to rank claims by, whichever span decided the verdict.
        support=max((one.support for one in judgements), default=0.0),
        evidence=evidence,
        cited=_numbers(markers),
        reasons=[] if chosen is None else list(judgements[chosen].reasons),
        judge="lexical" if chosen is None else names[chosen],
    )


def _holding(
    claim: Claim, found: Sequence[Candidate], judgements: Sequence[Judgement]
) -> frozenset[int]:
    """The sources that support a claim as well as its verdict says."""
    least = _ORDER[claim.verdict]
    alone = {
        candidate.spans[0].number
        for candidate, one in zip(found, judgements, strict=True)
        if len(candidate.spans) == 1
        and one.verdict in ("supported", "partial")
        and _ORDER[one.verdict] >= least
    }
    return frozenset(alone | {piece.number for piece in claim.evidence})


def _best(
    found: Sequence[Candidate], judgements: Sequence[Judgement], names: Sequence[str]
) -> int | None:
    """Which candidate decides a claim; joined spans only where no span alone says as much.

    Candidates come by overlap. Among equal verdicts the first counts, of a model the surest.
    """
    best: int | None = None
    for at, one in enumerate(judgements):
        if best is None:
            best = at
            continue
        held = judgements[best]
        outweighed = bool(held.reasons) and _outweighed(
            found[at], _weight(found[at], one, names[at]),
            found[best], _weight(found[best], held, names[best]),
        )  # fmt: skip
        joined = len(found[at].spans) > 1
        if joined and (held.verdict == "contradicted" or one.verdict == "contradicted"):
            continue
        ranks = [
            (_ORDER[each.verdict], 0.0 if name == "lexical" else each.support)
            for each, name in ((one, names[at]), (held, names[best]))
        ]
        if ranks[0] > ranks[1] and not outweighed:
            best = at
    return best


def _weight(candidate: Candidate, judgement: Judgement, name: str) -> float:
    """How much of a claim a span speaks of, for or against it."""
    return candidate.pair.overlap if name == "lexical" else judgement.support


def _outweighed(candidate: Candidate, weight: float, holding: Candidate, held: float) -> bool:
    """Whether a span that agrees has too few of the claim's words beside one that denies them.

    Half of the words do not outweigh a span that has nearly all of them; and where one sentence has
    them all, neither do two sentences, one of which it is.
    """
    if held < _DENYING:
        return False
    margin = _CLOSE_MARGIN if held >= _CLOSE else _MARGIN
    own, other = (
        value - (PAIR_GAIN if each.spans[0].sentences == 2 else 0.0)
        for each, value in ((candidate, weight), (holding, held))
    )
    return own < other - margin


def _evidence(candidate: Candidate, support: float, hits: Sequence[Hit]) -> list[Evidence]:
    pieces = []
    for span in candidate.spans:
        hit = hits[span.number - 1]
        quote = hit.content[span.start : span.end]
        pieces.append(Evidence(span.number, hit, span.start, span.end, quote, support))
    return pieces
