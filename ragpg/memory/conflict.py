"""Whether a new fact takes the place of an older one, without a model.

Careful on purpose: what is superseded is kept and only stops being current, and what is missed can
be said with a key (`remember(..., key="favourite colour")`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragpg.query.ground import ground
from ragpg.types import Hit

if TYPE_CHECKING:
    from ragpg.types import Claim

#: Share of a claim's words that must be in the other text before they can be about the same thing.
_SAME_TOPIC = 0.4
#: Texts that differ in one word in the same place: "lives in Berlin", "lives in Hamburg".
_SAME_SENTENCE = 0.6
_SWAPPED = re.compile(r"stands where the evidence has|in the claim is")
_NEGATED = re.compile(r"negates")
_CHANGED = re.compile(
    r"\b(?:no longer|not any ?more|any ?more|stopped|used to|instead|from now on|as of now"
    r"|nicht mehr|statt ?dessen|ne .{1,40} plus)\b",
    re.IGNORECASE,
)


def takes_the_place(new: str, old: str) -> str | None:
    """Why `new` contradicts `old`, or None when both may hold."""
    claims = (*_claims(new, old), *_claims(old, new))
    # What speaks against a claim lowers its support: whether both are about one thing shows in the
    # other direction.
    shared = max((claim.support for claim in claims), default=0.0)
    for claim in claims:
        said = "; ".join(claim.reasons)
        if claim.verdict == "contradicted":
            return said or "they contradict each other"
        if claim.support >= _SAME_SENTENCE and _SWAPPED.search(said):
            return said
        if shared >= _SAME_TOPIC and _NEGATED.search(said) and _CHANGED.search(new):
            return said
    return None


def _claims(text: str, evidence: str) -> list[Claim]:
    hit = Hit(rank=1, score=1.0, namespace="", source="", content=evidence)
    return list(ground(text, [hit]).claims)
