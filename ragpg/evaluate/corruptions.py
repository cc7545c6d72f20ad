"""False claims made from true sentences, one fact changed, and true ones in other words.

For each sentence of a corpus a change of a kind, where the sentence has something to change: a
number, a unit, a date, a negation, a quantifier, a name. The evidence is the passage the sentence
stands in, so that other numbers and names are near. Everything is chosen by a hash of the sentence.
"""

from __future__ import annotations

import calendar
import hashlib
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ragpg.query.claims import is_claim
from ragpg.sentences import split_sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Change = Literal[
    "number", "unit", "date", "negation added", "negation removed", "quantifier", "name"
]
Unchanged = Literal["verbatim", "paraphrase"]
Maker = "Callable[[str, Sequence[str], random.Random], str | None]"

#: Characters of the passage on each side of the sentence.
_AROUND = 700
_SHORTEST, _LONGEST = 45, 260


@dataclass(frozen=True, slots=True)
class ClaimPair:
    """A claim with the passage it was made from. `true` is whether the passage supports it."""

    claim: str
    passage: str
    kind: Change | Unchanged
    true: bool
    source: str
    sentence: str


def claim_pairs(
    documents: Iterable[tuple[str, str]], changes: int, unchanged: int
) -> list[ClaimPair]:
    """At most `changes` false claims, spread over the kinds, and `unchanged` true ones: half of
    them verbatim, half in other words. `documents` are pairs of id and text.

    The same documents always give the same pairs; a sentence is used once.
    """
    sentences = sorted(
        (
            (_hash(source + sentence), source, sentence, passage)
            for source, text in documents
            for sentence, passage in _sentences(text)
        ),
        key=lambda one: one[0],
    )
    names = [name for _, _, sentence, _ in sentences[:2000] for name in _NAME.findall(sentence[1:])]
    quota = dict.fromkeys(_MAKERS, -(-changes // len(_MAKERS)))
    pairs: list[ClaimPair] = []
    plain = {"verbatim": unchanged - unchanged // 2, "paraphrase": unchanged // 2}
    used: set[str] = set()
    for digest, source, sentence, passage in sentences:
        if sentence in used:
            continue
        used.add(sentence)
        chance = random.Random(digest)
        # Rare kinds (units, dates) come first wherever a sentence allows them.
        for kind, make in _MAKERS.items():
            if quota[kind] < 1:
                continue
            claim = make(
                sentence, [*_NAME.findall(passage), *chance.choices(names or [""], k=3)], chance
            )
            if claim is not None and claim != sentence and claim not in passage:
                quota[kind] -= 1
                pairs.append(ClaimPair(claim, passage, kind, False, source, sentence))
                break
        else:
            if plain["paraphrase"] and (said := paraphrased(sentence, chance)):
                plain["paraphrase"] -= 1
                pairs.append(ClaimPair(said, passage, "paraphrase", True, source, sentence))
            elif plain["verbatim"]:
                plain["verbatim"] -= 1
                pairs.append(ClaimPair(sentence, passage, "verbatim", True, source, sentence))
        if not any(quota.values()) and not any(plain.values()):
            break
    return pairs


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _sentences(text: str) -> list[tuple[str, str]]:
    # A heading has no full stop and would become the beginning of a sentence.
    flat = re.sub(r"\s+", " ", re.sub(r"^#{1,6} .*$", "", text, flags=re.M)).strip()
    bounds = split_sentences(flat)
    found = []
    for start, end in bounds:
        sentence = flat[start:end]
        if not _SHORTEST <= len(sentence) <= _LONGEST or not sentence.endswith("."):
            continue
        if not _FINITE.search(sentence) or not is_claim(sentence) or _NO_PROSE.search(sentence):
            continue
        low = min((at for at, _ in bounds if at >= start - _AROUND), default=start)
        high = max((at for _, at in bounds if at <= end + _AROUND), default=end)
        found.append((sentence, flat[low:high]))
    return found


_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|cannot|will|would|may|must|should|does|do|did"
    r"|[a-z]{3,}(?:ed|es|s))\b"
)
_NO_PROSE = re.compile(r"[{}|<>=;→\\]|::|\b(?:See|Section|Table|Figure|Chapter|Example)\b|--")
_NAME = re.compile(
    r"(?<=[a-z,] )[A-Z][a-zA-Z]{3,}(?: [A-Z][a-z]{2,})*\b"
    r"|\b[a-z]+_[a-z_]+\b|(?<=[a-z,] )[A-Z]{3,}\b(?! [A-Z])"
)
_PLAIN_NUMBER = re.compile(
    r"(?<![\w.,$€£/^+-])\d{1,3}(?:,\d{3})+(?![\w])|(?<![\w.,/^+-])\d+(?:\.\d+)?(?![\w]|[.,]\d|-\w|/)"
)
NUMBERS = {
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
    "ten": "10",
    "twelve": "12",
    "twenty": "20",
}
_SPELLED = tuple(NUMBERS)
_UNITS = [
    group.split()
    for group in (
        "microseconds milliseconds seconds minutes hours days weeks months years",
        "second minute hour day week month year",
        "bytes kilobytes megabytes gigabytes terabytes",
        "kB MB GB TB",
        "mg g kg",
        "nm mm cm km",
        "meters kilometers miles feet inches",
        "ml litres",
        "dollars euros pounds",
    )
]
_MONTHS = tuple(calendar.month_name[1:])
_YEAR = re.compile(r"(?<![\w.,-])(?:1[6-9]|20)\d\d(?![\w.,]\d|\w|-\d)")


def _number(sentence: str, _: Sequence[str], chance: random.Random) -> str | None:
    places = [
        found
        for found in _PLAIN_NUMBER.finditer(sentence)
        if not _YEAR.fullmatch(found[0]) and not found[0].startswith("0")
    ]
    if places:
        found = chance.choice(places)
        value = found[0].replace(",", "")
        whole = value.partition(".")[0]
        turned = value[::-1] if value.isdigit() and len(value) > 1 else value
        options = [
            str(int(whole) + chance.choice([1, 2, 5])) + value[len(whole) :],
            whole + "0" + value[len(whole) :],
            turned,
        ]
        new = chance.choice([one for one in options if one != value and one[0] != "0"])
        return sentence[: found.start()] + new + sentence[found.end() :]
    spelled = [one for one in _SPELLED if re.search(rf"\b{one}\b", sentence)]
    if not spelled:
        return None
    old = chance.choice(spelled)
    new = chance.choice([one for one in _SPELLED if one != old])
    return re.sub(rf"\b{old}\b", new, sentence, count=1)


def _unit(sentence: str, _: Sequence[str], chance: random.Random) -> str | None:
    for group in _UNITS:
        found = re.search(rf"(?<=\d)[ -]?({'|'.join(group)})\b", sentence) or re.search(
            rf"\b(?:{'|'.join(_SPELLED)})[ -]({'|'.join(group)})\b", sentence
        )
        if found:
            new = chance.choice([one for one in group if one != found[1]])
            return sentence[: found.start(1)] + new + sentence[found.end(1) :]
    found = re.search(r"(?<=\d)\s?%", sentence)
    if found:
        new = chance.choice([" units", " mg", " per thousand"])
        return sentence[: found.start()] + new + sentence[found.end() :]
    return None


def _date(sentence: str, _: Sequence[str], chance: random.Random) -> str | None:
    months = [one for one in _MONTHS if one != "May" and re.search(rf"\b{one}\b", sentence)]
    if months and chance.random() < 0.5:
        new = chance.choice([one for one in _MONTHS if one not in months])
        return re.sub(rf"\b{months[0]}\b", new, sentence, count=1)
    years = list(_YEAR.finditer(sentence))
    if not years:
        return None
    found = chance.choice(years)
    new = str(int(found[0]) + chance.choice([-20, -10, -3, -1, 1, 2, 7, 10]))
    return sentence[: found.start()] + new + sentence[found.end() :]


_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|can|will|would|should|must|may|has been|have been|does|do|did)\b"
    r"(?! (?:not|no|never|only)\b|n't)"
)


def _negated(sentence: str, _: Sequence[str], chance: random.Random) -> str | None:
    if re.search(r"\b(?:not|no|never|cannot|nor|neither|without)\b|n't", sentence):
        return None
    found = _AUXILIARY.search(sentence)
    if found is None:
        return None
    parts = found[0].split()
    negated = " ".join([parts[0], "not", *parts[1:]])
    return sentence[: found.start()] + negated + sentence[found.end() :]


_AFFIRMING = (
    (r"\bdo(?:es)? not ", ""),
    (r"\bdid not ", "did "),
    (r"\bcannot\b", "can"),
    (r"\b(is|are|was|were|can|will|would|should|must|may|has|have|had) not\b", r"\1"),
    (r"\b(is|are|was|were|would|should|does|do|did)n't\b", r"\1"),
    (r"\bnever\b", "always"),
    (r"\bwithout\b", "with"),
    (r"\b(is|are|was|were|has|have|had|be) no\b", r"\1 a"),
    (r"^No ", "Every "),
)


def _affirmed(sentence: str, _: Sequence[str], chance: random.Random) -> str | None:
    negations = re.findall(
        r"\b(?:not|no|never|cannot|nor|neither|without|unless)\b|n't", sentence, re.I
    )
    if len(negations) != 1 or re.search(r"\bnot (?:only|just|merely|necessarily)\b", sentence):
        return None
    for pattern, new in _AFFIRMING:
        if re.search(pattern, sentence):
            return re.sub(pattern, new, sentence, count=1)
    return None


_QUANTIFIERS = (
    (r"\bat least\b", "at most"),
    (r"\bat most\b", "at least"),
    (r"\bmore than (?=\d|one|two|half)", "fewer than "),
    (r"\bless than\b", "more than"),
    (r"(?<!as )\b(?:sometimes|usually|often|typically|generally|normally)\b", "always"),
    (r"\balways\b", "rarely"),
    (r"\b(?:Some|Many|Most|Several) (?=[a-z]+s\b)(?!of)", "All "),
    (r"(?<![-\w])(?:some|many|most|several) (?=[a-z]+s\b)(?!of)", "all "),
    (r"\b(?:some|many|most|several|one) of the\b", "all of the"),
    (r"\bAll (?=[a-z]+s\b)", "Few "),
    (r"(?<!at )\ball (?=[a-z]+s\b|of the\b)", "few "),
    (r"\bEvery (?=[a-z]+\b)", "No "),
    (r"(?<![-\w])(?<!the )\bonly (?=[a-z]{4,})", "not only "),
    (r"\bmay (?!be|not)\b", "must "),
    (r"\bmay be\b", "must be"),
    (r"\bmust be\b(?! ?not)", "may be"),
)


def _quantified(sentence: str, _: Sequence[str], chance: random.Random) -> str | None:
    if re.search(r"\bnot\b|\bno\b|n't|cannot|never", sentence):
        return None
    fitting = [one for one in _QUANTIFIERS if re.search(one[0], sentence)]
    if fitting:
        pattern, new = chance.choice(fitting)
        return re.sub(pattern, new, sentence, count=1)
    # "is used" -> "is only used"
    found = re.search(
        r"\b(?:is|are|can be|is also|are also) (?=[a-z]+ed (?:in|by|on|for|to)\b)", sentence
    )
    if found and "only" not in sentence:
        return f"{sentence[: found.end()]}only {sentence[found.end() :]}"
    return None


def _renamed(sentence: str, names: Sequence[str], chance: random.Random) -> str | None:
    own = list(_NAME.finditer(sentence, 1))
    if not own:
        return None
    found = chance.choice(own)
    others = [
        name
        for name in names
        if name
        and name.lower() not in sentence.lower()
        and found[0].lower() not in name.lower()
        and name[0].isupper() == found[0][0].isupper()
        and name.isupper() == found[0].isupper()
    ]
    if not others:
        return None
    return sentence[: found.start()] + chance.choice(others) + sentence[found.end() :]


_MAKERS: dict[Change, Callable[[str, Sequence[str], random.Random], str | None]] = {
    "unit": _unit,
    "date": _date,
    "negation removed": _affirmed,
    "number": _number,
    "quantifier": _quantified,
    "name": _renamed,
    "negation added": _negated,
}

_WORDINGS = (
    (r"\bdo not\b", "don't"),
    (r"\bdoes not\b", "doesn't"),
    (r"\bcannot\b", "can't"),
    (r"\bis not\b", "isn't"),
    (r"\bare not\b", "aren't"),
    (r"\bmust (?=be\b|have\b)", "has to "),
    (r"\bFor example, ", ""),
    (r"^(?:However|Also|Therefore|Thus|Moreover|In addition|Furthermore|Note that),? ", ""),
    (r"\bsuch as\b", "like"),
    (r"\bbecause\b", "since"),
    (r"\ballows?\b", "permits"),
    (r"\brequires\b", "needs"),
    (r"\bapproximately\b", "about"),
    (r"\bin order to\b", "to"),
    (r"\bshowed that\b", "demonstrated that"),
    (r"\bmany\b", "numerous"),
    (r"\blarge\b", "big"),
    (r"\bvia\b", "through"),
    (r"\busing\b", "with the help of"),
    (r"\bvery\b ", ""),
    (r" \((?![^)]*\d)[^()]{2,60}\)", ""),
    (r", which [^,]{5,}\.$", "."),
    (r" %", "%"),
    (r"(\d) ?MB\b", r"\1 megabytes"),
    (r"\bpercent\b", "%"),
)
_OPENINGS = ("According to the documentation, ", "In other words, ", "The text says that ")


def paraphrased(sentence: str, chance: random.Random) -> str | None:
    """A sentence in other words that means the same, or None where no rule applies.

    Changes in wording that need no model: contractions, spelled numbers, a clause moved or a
    remark left out, an opening, a few synonyms.
    """
    said = sentence
    moved = re.match(r"^(If|When|Because|While|After|Before) ([^,.]{10,}), ([^,.]{10,})\.$", said)
    if moved:
        said = f"{moved[3][0].upper()}{moved[3][1:]} {moved[1].lower()} {moved[2]}."
    fitting = [one for one in _WORDINGS if re.search(one[0], said)]
    for pattern, new in chance.sample(fitting, min(2, len(fitting))):
        said = re.sub(pattern, new, said, count=1)
    spelled = [one for one in _SPELLED if re.search(rf"\b{one}\b", said)]
    if spelled:
        said = re.sub(rf"\b{spelled[0]}\b", NUMBERS[spelled[0]], said, count=1)
    if chance.random() < 0.3 and said[1:2].islower():
        said = chance.choice(_OPENINGS) + said[0].lower() + said[1:]
    said = said[:1].upper() + said[1:]
    return said if said != sentence else None
