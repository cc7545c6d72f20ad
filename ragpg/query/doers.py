"""Compares who does it: what the claim says of one, the evidence may say of another.

"Anna Bauer leads sales. Karl Bauer leads support." has every word of "Karl Bauer leads sales".
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from ragpg.query.sentence_words import Disagreement, word_set
from ragpg.query.units import NUMBER_WORDS
from ragpg.words import STOPWORDS, fold, stem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_TOKEN = re.compile(r"[^\W_]+(?:[-_./'’][^\W_]+)*|[.,;:!?()|\n]")
_ARTICLES = word_set("the a an this these those its their our your his her")
_OPENING, _RELATIVE, _LINKING = (
    frozenset(map(stem, words.split()))
    for words in (
        "and but while whereas because since",
        "that which who whom whose where when",
        "of in for to with from by on at as if although though unless until so therefore then",
    )
)
#: Words of a doer and of a deed, without articles; beyond these nothing is compared.
_LONGEST_DOER, _LEAST_DEED = 5, 2
#: As many words may stand between several doers of one deed: "Anna, Karl and Bob".
_TOGETHER = 3


def compare_doers(claim: str, evidence: str, around: str = "") -> list[Disagreement]:
    """A deed of the claim that the evidence has, word by word, of another doer alone, while it
    knows the claim's doer too; at most one. Where the evidence lacks words of the claim, it is
    looked for in the text around it."""
    asked = {one for one in _words(claim)[0] if one[0].isalnum() and one not in STOPWORDS}
    whole = asked <= _words(evidence)[2].keys()
    its, sentences, places = _words(evidence if whole else around or evidence)
    for mine in _clauses(claim):
        for length in range(min(_LONGEST_DOER, len(mine) - _LEAST_DEED) + 1):
            doer, deed = mine[:length], mine[length:]
            if deed[0] in _LINKING:
                continue
            found = [at for at in places.get(deed[0], ()) if its[at : at + len(deed)] == deed]
            if not found:
                continue
            others = [_other(doer, its, sentences, at) for at in found]
            if all(others) and places.keys() >= set(doer):
                reason = f"{' '.join(doer)!r} stands where the evidence has {others[0]!r}"
                return [Disagreement("missing", "role", reason)]
            break
    return []


def _other(
    doer: Sequence[str], its: Sequence[str], sentences: Sequence[int], deed: int
) -> str | None:
    """Who does it in the evidence instead; None where that may be the doer of the claim."""
    sentence = begin = deed
    while sentence > 0 and sentences[sentence - 1] == sentences[deed]:
        sentence -= 1
    while begin > sentence and its[begin - 1] not in _OPENING and its[begin - 1][0].isalnum():
        begin -= 1
    other = its[begin:deed]
    if not _is_doer(doer) or not _is_doer(other):
        return None
    if set(other) <= set(doer) or set(doer) <= set(other):
        return None
    before = [at for at in range(sentence, begin) if its[at] == doer[-1]]
    if before:
        words = [one for one in its[before[-1] + 1 : begin] if one[0].isalnum()]
        repeated = its[deed] in words
        if _RELATIVE.intersection(words) or len(words) < _TOGETHER - repeated:
            return None
        if _LINKING.intersection(words) and not repeated:
            return None
    return " ".join(other)


def _is_doer(words: Sequence[str]) -> bool:
    """Whether words may be a subject: a few, with a meaning of their own at both ends."""
    if not 0 < len(words) <= _LONGEST_DOER or not _LINKING.isdisjoint(words):
        return False
    return words[0] not in STOPWORDS and words[-1] not in STOPWORDS


def _clauses(claim: str) -> Iterator[Sequence[str]]:
    """The words of each clause of the claim; what stands behind a bracket begins none."""
    clause: list[str] = []
    begins = True
    for word in (*_words(claim)[0], "."):
        if word in _OPENING or not word[0].isalnum():
            if begins and len(clause) > _LEAST_DEED:
                yield clause
            clause, begins = [], word not in ("(", ")")
        else:
            clause.append(word)


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[Sequence[str], Sequence[int], Mapping[str, Sequence[int]]]:
    """Stems and marks in order, without articles; for each the number of its sentence; and the
    places of each."""
    words: list[str] = []
    sentences: list[int] = []
    places: dict[str, list[int]] = {}
    number = 0
    for found in _TOKEN.finditer(text):
        token = fold(found[0])
        if token in _ARTICLES:
            continue
        if token in NUMBER_WORDS:
            token = str(NUMBER_WORDS[token])
        words.append(stem(token) if token[0].isalnum() else token)
        sentences.append(number)
        places.setdefault(words[-1], []).append(len(words) - 1)
        number += token in (".", "!", "?", "\n")
    return words, sentences, places
