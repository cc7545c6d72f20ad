"""Compares claim and evidence word by word where the claim follows the evidence closely.

In such a claim a word in the place of another is either a synonym, which cannot be told, or a
change of fact, which can where both are names, numbers, quantifiers or modal verbs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING

from ragpg.query.quantities import quantities
from ragpg.query.sentence_words import Disagreement, word_set
from ragpg.query.units import NUMBER_WORDS, UNITS
from ragpg.words import fold, stem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TOKEN = re.compile(r"[^\W_]+(?:[-_./'’][^\W_]+)*")
#: Characters in front of a word that tell whether a sentence begins with it, and the marks that
#: say so.
_NEAR = 24
_ENDS = tuple(".!?:;\n")
_ARTICLES = word_set("the a an der die das ein eine le la les un une el los las una")
#: What makes "3rd" of 3, which in a date is the same.
_NTH = re.compile(r"(?<=\d)(?:st|nd|rd|th)$", re.IGNORECASE)
#: The share of the claim's words that must stand in the evidence in the same order.
_CLOSE = 0.6
#: Quantifiers and frequencies by how much they say.
_AMOUNTS = (
    word_set("no none never nobody neither kein keine nie aucun jamais"),
    word_set("few rarely seldom hardly scarcely wenige selten peu rarement"),
    word_set("some several sometimes occasionally certain einige manche manchmal quelques"),
    word_set("many often frequently numerous viele oft beaucoup souvent"),
    word_set("most mostly usually generally typically normally meist meistens plupart"),
    word_set("all every each always any everyone both entire alle jede jeder immer tous toujours"),
)
_LEVEL = {word: level for level, words in enumerate(_AMOUNTS) for word in words}
_SOME, _MANY, _MOST, _ALL = 2, 3, 4, 5
_MUST = word_set("must shall muss müssen mussen doit")
_ONLY = word_set("only solely exclusively just nur ausschliesslich lediglich seulement")
_LIMITING = _ONLY | word_set("not nicht")
_EXCEPT = word_set("except unless alone sole ausser sauf")
_MAY = word_set("may might could can optionally kann darf peut")


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    folded: str
    first: bool

    @property
    def named(self) -> bool:
        """Whether it is written as a name: a capital inside a sentence, an acronym, an
        identifier."""
        if re.search(r"\d", self.text) and not re.search(r"[^\W\d_]{2}", self.text):
            return False
        special = re.search(r"[^\W_][_./][^\W_]|[a-z]\w*[A-Z]|^[A-Z]{2,}s?$", self.text)
        return bool(special) or (self.text[:1].isupper() and not self.first and len(self.text) > 1)

    @property
    def number(self) -> float | None:
        """Its value, where it is a plain number."""
        if self.folded in NUMBER_WORDS:
            return float(NUMBER_WORDS[self.folded])
        return float(self.text) if re.fullmatch(r"\d+(?:\.\d+)?", self.text) else None


def compare_slots(claim: str, evidence: str) -> list[Disagreement]:
    """Words of the claim in the place of others that say something else; one of a kind."""
    mine, its = _words(claim), _words(evidence)
    found: dict[str, Disagreement] = {}
    limited = _limited(mine, its)
    if limited is not None:
        found[limited.topic] = limited
    for new, old in _exchanged(mine, its):
        one = _compare(new, old, mine, its)
        if one is not None:
            found.setdefault(one.topic, one)
    return list(found.values())


@lru_cache(maxsize=4096)
def _words(text: str) -> Sequence[_Word]:
    words = []
    for found in _TOKEN.finditer(text):
        before = text[max(found.start() - _NEAR, 0) : found.start()].rstrip(" \"'“(*_`")
        first = (not before and found.start() <= _NEAR) or before[-1:] in _ENDS
        folded = fold(found[0])
        if folded not in _ARTICLES or (found[0].isupper() and len(found[0]) > 1):
            words.append(_Word(found[0], folded, first))
    return words


def _exchanged(
    mine: Sequence[_Word], its: Sequence[_Word]
) -> Iterator[tuple[Sequence[_Word], Sequence[_Word]]]:
    """Runs of one to three words in the place of as few others, with equal words around them."""
    left, right = [stem(one.folded) for one in its], [stem(one.folded) for one in mine]
    codes = _aligned(left, right)
    for at, (kind, i1, i2, j1, j2) in enumerate(codes):
        if kind != "replace" or j2 - j1 > 3:
            continue
        before = codes[at - 1] if at else None
        after = codes[at + 1] if at + 1 < len(codes) else None
        leads = before[4] - before[3] if before and before[0] == "equal" else 0
        follows = after[4] - after[3] if after and after[0] == "equal" else 0
        if after is None:
            i2 = min(i2, i1 + j2 - j1)  # the evidence may go on where the claim ends
        if before is None:
            i1 = max(i1, i2 - (j2 - j1))
        if i2 - i1 > 3 or leads + follows < 3 or not (leads or j1 == 0):
            continue
        if not (follows or j2 == len(mine)):
            continue
        yield mine[j1:j2], its[i1:i2]


def _aligned(left: Sequence[str], right: Sequence[str]) -> list[tuple[str, int, int, int, int]]:
    """How the words of the claim (right) follow those of the evidence; empty where they do not."""
    here = set(left)
    # Most pairs share too few words, whatever their order; that is cheaper to see.
    if sum(word in here for word in right) < _CLOSE * len(right):
        return []
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    codes: list[tuple[str, int, int, int, int]] = list(matcher.get_opcodes())
    equal = sum(j2 - j1 for kind, _, _, j1, j2 in codes if kind == "equal")
    return codes if right and equal >= _CLOSE * len(right) else []


def _limited(mine: Sequence[_Word], its: Sequence[_Word]) -> Disagreement | None:
    """An "only" put into the words of the evidence, or a "not" put in front of its "only"."""
    left, right = [one.folded for one in its], [one.folded for one in mine]
    if _LIMITING.isdisjoint(right):
        return None
    for kind, i1, _, j1, j2 in _aligned(left, right):
        if kind != "insert" or j2 - j1 > 2:
            continue
        added = right[j1:j2]
        if _ONLY.intersection(added) and not (_ONLY | _EXCEPT).intersection(left):
            reason = f"{' '.join(added)!r} is not in the evidence"
            return Disagreement("missing", "quantifier", reason)
        if added[-1] in ("not", "nicht") and left[i1 : i1 + 1] and left[i1] in _ONLY:
            return _conflict("quantifier", f"the evidence says {left[i1]!r} without 'not'")
    return None


def _compare(
    new: Sequence[_Word], old: Sequence[_Word], mine: Sequence[_Word], its: Sequence[_Word]
) -> Disagreement | None:
    said, meant = _phrase(new), _phrase(old)
    if len(new) == len(old) == 1:
        mine_level, its_level = _LEVEL.get(new[0].folded), _LEVEL.get(old[0].folded)
        if mine_level is not None and its_level is not None and _differ(mine_level, its_level):
            return _conflict("quantifier", f"the claim says {said!r}, the evidence {meant!r}")
        if any(
            new[0].folded in a and old[0].folded in b for a, b in ((_MUST, _MAY), (_MAY, _MUST))
        ):
            return _conflict("quantifier", f"the claim says {said!r}, the evidence {meant!r}")
        units = UNITS.get(new[0].folded), UNITS.get(old[0].folded)
        if None not in units and units[0] != units[1] and _counted(new[0], mine):
            return _conflict("unit", f"unit {said!r} stands where the evidence has {meant!r}")
        if said[0].isdigit() and _NTH.sub("", said) == _NTH.sub("", meant):
            return None
        if said[0].isdigit() and meant[0].isdigit() and _amount(said) != _amount(meant):
            return _conflict("unit", f"{said!r} stands where the evidence has {meant!r}")
        numbers = new[0].number, old[0].number
        if None not in numbers and not _readings(said) & _readings(meant):
            reason = f"number {said!r} stands where the evidence has {meant!r}"
            return _conflict("number", reason)
    names = [one for one in new if one.named and not _is_unit(one, mine)]
    others = [one for one in old if one.named and not _is_unit(one, its)]
    if names and others and not _alike(names, others, new, old):
        here = {one.folded for one in its}
        claimed = {one.folded for one in mine}
        moved = all(one.folded in here for one in names) and all(
            one.folded in claimed for one in others
        )
        # Names that are both on both sides have changed places or were put in another order.
        if not moved:
            reason = f"{said!r} stands where the evidence has {meant!r}"
            return Disagreement("missing", "role", reason)
    return None


def _amount(word: str) -> object:
    """What "8kB" is, to be compared with another such word; None for a plain number."""
    found, _ = quantities(word)
    if len(found) != 1 or not found[0].dimension:
        return None
    return found[0].dimension, found[0].values


def _readings(number: str) -> frozenset[float]:
    """What a number may mean: "1.000" is one or a thousand."""
    found, _ = quantities(number)
    return found[0].values if found else frozenset()


def _is_unit(word: _Word, words: Sequence[_Word]) -> bool:
    return word.folded in UNITS and _counted(word, words)


def _counted(unit: _Word, words: Sequence[_Word]) -> bool:
    """Whether a number stands in front of a unit: other words are spelled like units too."""
    at = next(place for place, word in enumerate(words) if word is unit)
    return at > 0 and words[at - 1].number is not None


def _differ(mine: int, its: int) -> bool:
    """Whether a claim of one amount does not follow from evidence of the other."""
    if mine < _SOME or its < _SOME:
        return mine != its and not (mine == 1 and its == 0)
    return mine > its and mine >= _MOST


def _alike(
    names: Sequence[_Word],
    others: Sequence[_Word],
    new: Sequence[_Word],
    old: Sequence[_Word],
) -> bool:
    """Whether two names may be one: a short form, an acronym, the same beginning, case aside."""
    a, b = ("".join(one.folded for one in group) for group in (names, others))
    if a in b or b in a:
        # pg_namespace is not pg_publication_namespace, "Becker" is "Tom Becker".
        return not any("_" in one.text for one in (*names, *others)) or a == b
    if len(a) > 3 and a[:4] == b[:4] and not re.search(r"\d|_", a + b):
        return True
    initials = ["".join(one.folded[0] for one in group) for group in (new, old)]
    return a == initials[1] or b == initials[0]


def _phrase(words: Sequence[_Word]) -> str:
    return " ".join(one.text for one in words)


def _conflict(topic: str, reason: str) -> Disagreement:
    return Disagreement("conflict", topic, reason)
