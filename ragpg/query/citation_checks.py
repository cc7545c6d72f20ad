"""Holds the numbers that a claim cites against what they cite: missing, out of range, wrong source.

A claim that has the evidence in one of its cited sources is rightly cited; another number beside it
that holds nothing of the claim is a wrong one all the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragpg.types import CitationCheck

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.types import Claim

_SPEAKING = ("supported", "partial")


def check_citations(
    answer: str,
    claims: Sequence[Claim],
    count: int,
    holding: Sequence[frozenset[int]],
) -> list[Claim]:
    """The claims with their citations checked, and reasons for those that are wrong.

    `count` is the number of sources. `holding` are for each claim the sources that support it as
    well as its verdict says. In an answer that cites at all, a supported claim without a number is
    missing one, unless a later claim of its paragraph has one: it may stand for both.
    """
    citing = any(claim.cited for claim in claims)
    later = _cited_later(answer, claims)
    checked = []
    for at, claim in enumerate(claims):
        checks = [
            CitationCheck(
                number,
                "out of range"
                if not 1 <= number <= count
                else "wrong source"
                if claim.verdict in _SPEAKING and number not in holding[at]
                else "right",
            )
            for number in claim.cited
        ]
        uncited = citing and not checks and claim.verdict in _SPEAKING
        if uncited and not later[at]:
            checks.append(CitationCheck(None, "missing"))
        reasons = [*claim.reasons, *_reasons(claim, checks, count)]
        checked.append(replace(claim, citations=checks, reasons=reasons))
    return checked


def _cited_later(answer: str, claims: Sequence[Claim]) -> list[bool]:
    """Whether a later claim of the same paragraph has a number, for each claim."""
    found = [False] * len(claims)
    for at in range(len(claims) - 2, -1, -1):
        following = claims[at + 1]
        if "\n\n" not in answer[claims[at].end : following.start]:
            found[at] = bool(following.cited) or found[at + 1]
    return found


def _reasons(claim: Claim, checks: Sequence[CitationCheck], count: int) -> list[str]:
    reasons = [
        f"[{check.number}] names no source: there are {count}"
        for check in checks
        if check.state == "out of range"
    ]
    wrong = [check.number for check in checks if check.state == "wrong source"]
    if wrong and claim.evidence and not any(check.state == "right" for check in checks):
        names = ", ".join(f"[{number}]" for number in wrong)
        found = claim.evidence[0].number
        reasons.append(f"the evidence is in [{found}], not in the cited {names}")
    return reasons
