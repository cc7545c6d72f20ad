"""Whether a new fact takes the place of an older one, without a model.

Careful on purpose: what is superseded is kept and only stops being current, and what is missed can
be said with a key (`remember(..., key="favourite colour")`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragpg.memory.frames import State, replaced, states
from ragpg.query.ground import ground
from ragpg.types import Hit
from ragpg.words import STOPWORDS, fold, stem

if TYPE_CHECKING:
    from ragpg.types import Claim

#: Share of a claim's words that must be in the other text before they can be about the same thing.
_SAME_TOPIC = 0.4
#: Texts that differ in one word in the same place: "lives in Berlin", "lives in Hamburg".
_SAME_SENTENCE = 0.6
_SWAPPED = re.compile(r"stands where the evidence has|in the claim is")
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_NEGATED = re.compile(r"negates")
_CHANGED = re.compile(
    r"\b(?:no longer|not any ?more|any ?more|stopped|used to|instead|from now on|as of now"
    r"|nicht mehr|statt ?dessen|ne .{1,40} plus)\b",
    re.IGNORECASE,
)


def state_keys(text: str) -> list[str]:
    """What a text tells the state of, so that others of the same are found whatever their words."""
    keys = (f"{one.subject}: {one.attribute}"[:200] for one in states(text))
    return list(dict.fromkeys(keys))


def takes_the_place(new: str, old: str) -> str | None:
    """Why `new` contradicts `old`, or None when both may hold."""
    if new.rstrip().endswith(("?", "？")) or old.rstrip().endswith(("?", "？")):
        return None
    mine, its = states(new), states(old)
    for one in mine:
        for other in its:
            if replaced(one, other):
                return _changed(one, other)
    claims = (*_claims(new, old), *_claims(old, new))
    # What speaks against a claim lowers its support: whether both are about one thing shows in the
    # other direction.
    elsewhere = _of_something_else(new, old)
    shared = max((claim.support for claim in claims), default=0.0)
    for claim in claims:
        said = "; ".join(claim.reasons)
        if shared >= _SAME_TOPIC and _NEGATED.search(said) and _CHANGED.search(new):
            return said
        if elsewhere:
            continue
        if claim.verdict == "contradicted":
            return said or "they contradict each other"
        if claim.support >= _SAME_SENTENCE and _SWAPPED.search(said):
            return said
    return None


def _of_something_else(new: str, old: str) -> bool:
    """Whether two texts differ in more than a value: in what they are about, or in a second word on
    both sides ("the build takes 10 minutes", "the tests take 4 minutes")."""
    sides = [{stem(fold(word)): word for word in _WORD.findall(text)} for text in (new, old)]
    firsts, rests = [], []
    for side, other in zip(sides, reversed(sides), strict=True):
        content = [word for word in side if word not in STOPWORDS]
        firsts.append(content[:1])
        rests.append([word for word in content if word not in other])
    if rests[0] == firsts[0] and rests[1] == firsts[1]:
        return True
    plain = [
        [word for word in rest if word.isalpha() and not side[word][0].isupper()]
        for rest, side in zip(rests, sides, strict=True)
    ]
    return all(plain)


def _changed(new: State, old: State) -> str:
    what = new.attribute if new.subject == "the" else f"{new.attribute} of {new.subject}"
    if new.ended:
        return f"{old.said!r} is over"
    return f"{what}: {new.said!r} stands where {old.said!r} stood"


def _claims(text: str, evidence: str) -> list[Claim]:
    hit = Hit(rank=1, score=1.0, namespace="", source="", content=evidence)
    return list(ground(text, [hit]).claims)
