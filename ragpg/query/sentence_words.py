"""The words of a sentence with clause and negation of each, and the shape of a disagreement."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ragpg.words import STOPWORDS, fold, stem


def word_set(words: str) -> frozenset[str]:
    """A set of words written with blanks between them."""
    return frozenset(words.split())


#: conflict: the evidence says otherwise. missing: the evidence does not say it.
Kind = Literal["conflict", "missing"]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One point on which claim and evidence differ, in words for the reader."""

    kind: Kind
    topic: str
    reason: str


_BOUND_PHRASE = re.compile(
    r"\b(?:not|no|never) (?=(?:more|less|fewer|later|earlier|longer|greater|higher|lower|shorter"
    r"|larger|smaller) than\b|exceed)|\bnot (?=only\b|just\b|merely\b|before \d)|\bno\.(?= ?\d)"
    r"|\b(?:whether )?or not\b|\bif not\b"
)
NEGATIONS = word_set("""
    not no never neither nor none nobody nothing without cannot hardly barely lack lacks
    lacking unable nicht kein keine keinen keiner keinem nie niemals
    ohne pas jamais nunca sin ningun niet geen inte ikke nao nem non nessuno
    не нет без никогда ни לא ليس لا لم لن
""")
#: Words that carry no meaning of their own here.
_EMPTY = STOPWORDS | NEGATIONS
_BREAKS = word_set("""
    but however although though while whereas unless except because if when until aber
    sondern mais pero
""")
_TOKEN = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*|[,;:.!?()]")
_SCOPE = 5


@dataclass(frozen=True, slots=True)
class SentenceWords:
    """The words of a text in order, folded, with clause and negation of each.

    `by_stem` says where each stem stands, `content` where words with a meaning of their own do.
    """

    raw: list[str]
    stems: list[str]
    clause: list[int]
    negated: frozenset[int]
    scopes: list[list[int]]
    by_stem: dict[str, list[int]]
    content: list[int]

    @classmethod
    @lru_cache(maxsize=4096)
    def of(cls, text: str) -> SentenceWords:
        """The words of a text; kept, because a claim meets many spans and a span many claims."""
        lower = re.sub(r"\b(\w+?)n't\b", r"\1 not", fold(text))
        lower = _BOUND_PHRASE.sub("", lower.replace("cannot", "can not"))
        lower = re.sub(r"\bfail(?:s|ed)? to\b", "not", lower)
        raw: list[str] = []
        clause: list[int] = []
        number = 0
        for token in _TOKEN.findall(lower):
            if not token[0].isalnum():
                number += 1
                continue
            if token in _BREAKS:
                number += 1
            raw.append(token)
            clause.append(number)
        stems = [stem(token) for token in raw]
        scopes = []
        for place, token in enumerate(raw):
            if token in NEGATIONS:
                scope = [
                    at
                    for at in range(place + 1, len(raw))
                    if clause[at] == clause[place] and raw[at] not in _EMPTY
                ]
                if not scope:
                    # "Die Frist gilt nicht.": it stands behind what it negates.
                    before = (at for at in range(place) if clause[at] == clause[place])
                    scope = [at for at in before if raw[at] not in _EMPTY][-1:]
                # "is not covered by the warranty": the doer is not what is negated.
                doer = next((at for at in range(place, len(raw)) if raw[at] == "by"), len(raw))
                scopes.append([at for at in scope if at < doer][:_SCOPE])
        cued = {clause[at] for at, token in enumerate(raw) if token in NEGATIONS}
        negated = frozenset(at for at, one in enumerate(clause) if one in cued)
        by_stem: dict[str, list[int]] = {}
        for at, one in enumerate(stems):
            by_stem.setdefault(one, []).append(at)
        content = [at for at, token in enumerate(raw) if token not in _EMPTY]
        return cls(raw, stems, clause, negated, scopes, by_stem, content)

    def places(self, wanted: str) -> list[int]:
        """Where a stem stands."""
        return self.by_stem.get(wanted, [])
