"""Compares the names in a claim and its evidence, and who does what to whom."""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from ragpg.query.dates import MONTHS
from ragpg.query.sentence_words import NEGATIONS, Disagreement, word_set
from ragpg.query.synonyms import synonyms
from ragpg.query.units import NUMBER_WORDS, UNITS
from ragpg.words import STOPWORDS, fold, stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.query.sentence_words import SentenceWords

_NAME = re.compile(r"[^\W\d_]*[^\W_]+(?:[-_./][^\W_]+)*")
_DATE_GOES_ON = re.compile(r"\.?,?\s+\d")
_SECOND_NAME = re.compile(r" [^\W\d_a-z][^\W\d_]*[a-z]")
#: Characters in front of a word that tell whether a sentence begins with it, and the marks that
#: say so.
_NEAR = 24
_OPENING = tuple('.!?:"“(')
_GERMAN = re.compile(r"\b(?:der|die|das|und|ist|nicht|ein|eine|wird|werden|für|mit)\b")
_DETERMINERS = word_set("""
    the a an this that these those its their our your his her
""")
_EMPTY = STOPWORDS | NEGATIONS
_NOUN_BEFORE = word_set("""
    by from to of for in on at with against between the a an
""")


def compare_names(
    claim: str, evidence: str, heading: str = "", around: str = ""
) -> list[Disagreement]:
    """The first name of the claim that the evidence does not have; at most one.

    Names are words with a capital, acronyms and identifiers. An acronym or identifier may also
    stand elsewhere in the text around the evidence, and one in brackets is explained in front.
    """
    names = _names(claim)
    # Where many words have capitals (German nouns, a title) a capital makes no name.
    shouted = len(names) > max(3, 0.5 * len(claim.split())) or _GERMAN.search(claim)
    near = (_folded(evidence), _folded(heading))
    far = (*near, _folded(around))
    for start, name in names:
        special = bool(re.search(r"\d|[_./]|\w[A-Z]", name))
        if (shouted and not special) or (special and claim[:start].endswith("(")):
            continue
        known = far if special else near
        # "IP3R-mediated": the part in lower case is no name.
        parts = [part for part in re.findall(r"[^\W_]+", name) if not part.islower()] or [name]
        plain = fold(name)
        if not any(plain in text for text, _ in known) and not all(
            any(stem(fold(part)) in stems for _, stems in known) for part in parts
        ):
            return [Disagreement("missing", "name", f"{name!r} is not in the evidence")]
    return []


@lru_cache(maxsize=4096)
def _names(claim: str) -> Sequence[tuple[int, str]]:
    return [(found.start(), found[0]) for found in _NAME.finditer(claim) if _is_name(claim, found)]


@lru_cache(maxsize=1024)
def _folded(text: str) -> tuple[str, frozenset[str]]:
    """A text folded, and the stems of its words."""
    plain = fold(text)
    return plain, frozenset(stem(word) for word in re.findall(r"[^\W_]+", plain))


def _is_name(claim: str, found: re.Match[str]) -> bool:
    name = found[0]
    if not any(mark.isalpha() for mark in name) or name in ("I",) or fold(name) in STOPWORDS:
        return False
    if re.fullmatch(r"\d[\d.,]*[^\W\d_]+|\d+-[^\W\d_]+", name):
        return False  # 10kg, 14-day: a quantity
    if re.search("[\u0e00-\u0eff\u3040-\u9fff\uac00-\ud7a3]", name):
        return False  # a script without capitals, where a match is no single word
    # Only what stands next to it is looked at: a claim may be long.
    before = claim[max(found.start() - _NEAR, 0) : found.start()]
    # Units and months beside a number are part of a quantity or a date.
    plain = fold(name)
    counted = re.search(r"\d(?:st|nd|rd|th|\.)?\s*(?:of\s+)?$", before)
    if (counted and (plain in UNITS or plain in MONTHS)) or (
        plain in MONTHS and _DATE_GOES_ON.match(claim, found.end())
    ):
        return False
    if re.search(r"\d|\w[_/]\w|\w[A-Z]", name):
        return True
    # The first word of a sentence has a capital anyway, but "Peter Becker" is a name there too.
    starts = before.rstrip()[-1:] in _OPENING or (
        found.start() <= _NEAR and not re.search(r"\w", before)
    )
    paired = _SECOND_NAME.match(claim, found.end())
    return name[0].isupper() and bool(paired or not starts)


def compare_roles(claim: SentenceWords, evidence: SentenceWords) -> list[Disagreement]:
    """Doer and thing that changed places, or another word in the place of one; at most one."""
    return _exchanged(claim, evidence) or _crossed(claim, evidence) or _replaced(claim, evidence)


def _exchanged(claim: SentenceWords, evidence: SentenceWords) -> list[Disagreement]:
    """ "A pays B" against "B pays A"; a passive with "by" turns the order round again."""
    mine = [at for at in claim.content if len(evidence.places(claim.stems[at])) == 1]
    for subject, verb, thing in zip(mine, mine[1:], mine[2:], strict=False):
        if claim.clause[subject] != claim.clause[thing] or claim.raw[subject] in NUMBER_WORDS:
            continue
        a, v, b = (evidence.places(claim.stems[at])[0] for at in (subject, verb, thing))
        if len({evidence.clause[at] for at in (a, v, b)}) > 1 or not b < v < a:
            continue
        passive = "by" in claim.raw[verb:thing], "by" in evidence.raw[v:a]
        if passive[0] == passive[1]:
            reason = f"{claim.raw[subject]!r} and {claim.raw[thing]!r} have changed places"
            return [Disagreement("missing", "role", reason)]
    return []


def _crossed(claim: SentenceWords, evidence: SentenceWords) -> list[Disagreement]:
    """ "leaves Rome, arrives in Berlin" against "leaves Berlin, arrives in Rome"."""
    mine, its = _successors(claim), _successors(evidence)
    before = {follower: word for word, follower in mine.items()}
    for word, follower in mine.items():
        theirs = its.get(word)
        if theirs is None or theirs == follower or theirs not in before:
            continue
        turned = mine.get(follower) == theirs and its.get(theirs) == follower
        directed = _leading(claim, follower) == _leading(evidence, theirs) in ("from", "to", "than")
        if its.get(before[theirs]) == follower or (turned and directed):
            reason = f"{follower!r} and {theirs!r} have changed places"
            return [Disagreement("missing", "role", reason)]
    return []


def _leading(words: SentenceWords, wanted: str) -> str:
    """The word in front of a stem, articles left out."""
    before = [raw for raw in words.raw[: words.places(wanted)[0]] if raw not in _DETERMINERS]
    return before[-1] if before else ""


def _successors(words: SentenceWords) -> dict[str, str]:
    """Each content word that occurs once, with the content word behind it."""
    content = [words.stems[at] for at in words.content]
    counts = Counter(content)
    return {word: follower for word, follower in pairwise(content) if counts[word] == 1}


def _replaced(claim: SentenceWords, evidence: SentenceWords) -> list[Disagreement]:
    """Another word in the place of a subject, or behind the same preposition."""
    mine = [at for at, raw in enumerate(claim.raw) if raw not in _DETERMINERS]
    its = [at for at, raw in enumerate(evidence.raw) if raw not in _DETERMINERS]
    left, right = [evidence.stems[at] for at in its], [claim.stems[at] for at in mine]
    codes = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    for number, (kind, i1, i2, j1, j2) in enumerate(codes):
        if kind != "replace" or j2 - j1 > 2:
            continue
        after = codes[number + 1] if number + 1 < len(codes) else None
        follows = after[2] - after[1] if after else 0
        before = codes[number - 1] if number else None
        leads = before[2] - before[1] if before else 0
        if after is None:
            i2 = min(i2, i1 + j2 - j1)  # the evidence may go on where the claim ends
        if i2 - i1 > 2:
            continue
        starts = j1 == 0 and (i1 == 0 or evidence.clause[its[i1]] != evidence.clause[its[i1 - 1]])
        placed = (
            leads >= 2
            and (follows >= 1 or after is None)
            and claim.raw[mine[j1 - 1]] in _NOUN_BEFORE
        )
        if not (starts and follows >= 2) and not placed:
            continue
        old = [evidence.raw[its[at]] for at in range(i1, i2)]
        new = [claim.raw[mine[at]] for at in range(j1, j2)]
        if any(word in _EMPTY or word[0].isdigit() for word in (*old, *new)):
            continue
        # Moved words are not replaced ones, and "admins" may stand for "administrators".
        if any(stem(word) in left for word in new) or any(stem(word) in right for word in old):
            continue
        if any(a[:4] == b[:4] for a in old for b in new) or (
            len(old) == len(new) == 1 and synonyms(old[0], new[0])
        ):
            continue
        reason = f"{' '.join(new)!r} stands where the evidence has {' '.join(old)!r}"
        return [Disagreement("missing", "role", reason)]
    return []
