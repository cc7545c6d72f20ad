"""Compares negation, opposites and quantifiers of a claim and its evidence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragpg.query.opposites import OPPOSITES
from ragpg.query.sentence_words import Disagreement, word_set
from ragpg.words import STOPWORDS, stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.query.sentence_words import SentenceWords

_NEGATING = re.compile(r"^(?:un|in|im|ir|il|dis|non|de)-?(?=\w{4})")
# Chinese, Japanese, Korean.
_UNSPACED_NOT = re.compile("[不没沒未無无禁]|(?:ない|ません|なく)|않|없|못")


def compare_negation(claim: SentenceWords, evidence: SentenceWords) -> list[Disagreement]:
    """A word that one side negates and the other affirms; at most one."""
    for scope in claim.scopes:
        # "not impossible" denies nothing that "possible" says.
        if scope and _twice(claim, evidence, scope[0]):
            continue
        affirmed = [at for at in scope if _state(evidence, claim, at) == "affirmed"]
        if affirmed and not any(_state(evidence, claim, at) == "negated" for at in scope):
            reason = f"the claim negates {claim.raw[affirmed[0]]!r}, the evidence does not"
            return [Disagreement("conflict", "negation", reason)]
    for scope in evidence.scopes:
        if not scope or _state(claim, evidence, scope[0]) != "affirmed":
            continue
        if _twice(evidence, claim, scope[0]):
            continue
        # "covers defects but not damage": the word is both; what follows it decides.
        both = any(at not in evidence.negated for at in evidence.places(evidence.stems[scope[0]]))
        if both and not any(claim.places(evidence.stems[at]) for at in scope[1:]):
            continue
        reason = f"the evidence negates {evidence.raw[scope[0]]!r}, the claim does not"
        return [Disagreement("conflict", "negation", reason)]
    return _compare_prefixes(claim, evidence) or _compare_unspaced(claim, evidence)


def _state(words: SentenceWords, other: SentenceWords, at: int) -> str:
    """How `words` has the word at a place of the other text: affirmed, negated, both or absent."""
    places = words.places(other.stems[at])
    if not places:
        forms = (other.raw[at], other.stems[at])
        prefixed = [
            at in words.negated
            for at, raw in enumerate(words.raw)
            if raw not in forms and _NEGATING.sub("", raw) in forms
        ]
        # "not disallowed" is allowed.
        return "absent" if not prefixed else "affirmed" if all(prefixed) else "negated"
    negated = [place in words.negated for place in places]
    return "negated" if all(negated) else "both" if any(negated) else "affirmed"


def _twice(words: SentenceWords, other: SentenceWords, at: int) -> bool:
    """Whether a word behind a negation denies by itself what the other text says."""
    bare = _NEGATING.sub("", words.raw[at])
    return bare != words.raw[at] and bool(other.places(stem(bare)))


def _compare_unspaced(claim: SentenceWords, evidence: SentenceWords) -> list[Disagreement]:
    """Negation in scripts without blanks: there or not there, between sentences of like length."""
    mine, its = "".join(claim.raw), "".join(evidence.raw)
    if not mine or mine.isascii() or len(its) > 2 * len(mine):
        return []
    found, other = _UNSPACED_NOT.search(mine), _UNSPACED_NOT.search(its)
    if bool(found) == bool(other):
        return []
    reason = "one of claim and evidence is negated, the other is not"
    return [Disagreement("conflict", "negation", reason)]


def _compare_prefixes(claim: SentenceWords, evidence: SentenceWords) -> list[Disagreement]:
    """ "invalid" against "valid", where neither side has a negation that would make up for it."""
    for mine, its, side in ((claim, evidence, "claim"), (evidence, claim, "evidence")):
        for at, raw in enumerate(mine.raw):
            bare = _NEGATING.sub("", raw)
            if bare == raw or mine.stems[at] in its.stems:
                continue
            places = its.places(stem(bare))
            if places and at not in mine.negated and not its.negated.intersection(places):
                reason = f"{raw!r} in the {side} is {bare!r} in the other"
                return [Disagreement("conflict", "negation", reason)]
    return []


_NEIGHBOURS = 4
_NOTHING: frozenset[str] = frozenset()
_ALL = word_set("""
    all every each always any everyone everybody everything entire jede jeder alle
""")
_SOME = word_set("""
    some sometimes several few many most often usually occasionally rarely partly mostly
    certain typically generally may might half majority minority einige manche
""")
_ONLY = word_set("""
    only solely exclusively alone nur ausschliesslich lediglich seulement
""")
_LIMITING = _ONLY | word_set("""
    unless except limited restricted must sole other
""")


def _near(words: SentenceWords, at: int) -> set[str]:
    around = range(max(at - _NEIGHBOURS, 0), min(at + _NEIGHBOURS + 1, len(words.raw)))
    return {words.stems[place] for place in around if words.raw[place] not in STOPWORDS}


def compare_opposites(claim: SentenceWords, evidence: SentenceWords) -> list[Disagreement]:
    """A word of the claim whose opposite the evidence has in like company; at most one."""
    for at, raw in enumerate(claim.raw):
        opposites = OPPOSITES.get(raw, _NOTHING) | OPPOSITES.get(claim.stems[at], _NOTHING)
        if not opposites:
            continue
        if opposites.isdisjoint(evidence.by_stem) and opposites.isdisjoint(evidence.raw):
            continue
        own = [
            place
            for place, other in enumerate(evidence.raw)
            if raw == other or claim.stems[at] == evidence.stems[place]
        ]
        for place, other in enumerate(evidence.raw):
            if other not in opposites and evidence.stems[place] not in opposites:
                continue
            # With a prefix that negates, the one is the negation of the other: see above.
            if raw == _NEGATING.sub("", other) or other == _NEGATING.sub("", raw):
                continue
            if other in claim.raw or not _near(claim, at) & _near(evidence, place):
                continue
            if own and not _belongs(claim, at, evidence, own, place):
                continue
            reason = f"{raw!r} in the claim is {other!r} in the evidence"
            return [Disagreement("conflict", "opposite", reason)]
    return []


def _belongs(
    claim: SentenceWords, at: int, evidence: SentenceWords, own: Sequence[int], opposite: int
) -> bool:
    """Whether what follows the word in the claim stands nearer to its opposite in the evidence."""
    following = [
        place
        for place in claim.content
        if at < place <= at + _NEIGHBOURS and claim.clause[place] == claim.clause[at]
    ]
    if not following:
        return False
    places = evidence.places(claim.stems[following[0]])
    if not places:
        return False
    return min(abs(one - opposite) for one in places) < min(
        abs(one - mine) for one in places for mine in own
    )


def compare_quantifiers(claim: SentenceWords, evidence: SentenceWords) -> list[Disagreement]:
    """All for some, must for may, and an added "only", in this order."""
    mine, its = set(claim.raw), set(evidence.raw)
    found = []
    if mine & _ALL and not its & _ALL and its & _SOME and not mine & _SOME:
        word, other = min(mine & _ALL), min(its & _SOME)
        reason = f"the claim says {word!r}, the evidence only {other!r}"
        found.append(Disagreement("conflict", "quantifier", reason))
    must, may = {"must", "required", "mandatory"}, {"may", "can", "optional", "might", "could"}
    if mine & must and its & may and not its & (must | {"should", "shall"}) and not mine & may:
        found.append(
            Disagreement("conflict", "quantifier", "the claim requires what the evidence permits")
        )
    added = mine & _ONLY
    if added and not its & _LIMITING and not _counts(claim):
        reason = f"{min(added)!r} is not in the evidence"
        found.append(Disagreement("missing", "quantifier", reason))
    return found


def _counts(words: SentenceWords) -> bool:
    """Whether "only" stands before a number ("only 5 users"), which is compared by itself."""
    return any(
        raw in _ONLY and at + 1 < len(words.raw) and words.raw[at + 1][0].isdigit()
        for at, raw in enumerate(words.raw)
    )
