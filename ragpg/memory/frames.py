"""What a short text says of the state of somebody or something, without a model.

A state is a subject, an attribute that has one value at a time, and the value: (user, residence,
Berlin). Only sentences are read that are built like one of the frames below, in English and a few
in German. Wishes, plans and the past are none; what can have several values at once (languages,
pets, likes) has no frame, except for a liking that turns into its opposite.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ragpg.memory.frame_words import (
    ATTRIBUTES,
    BEGINNERS,
    COUNTRIES,
    FILLERS,
    GENERIC,
    PRONOUNS,
    STATUSES,
    TRAILING,
)
from ragpg.words import fold, stem

_CLAUSES = re.compile(
    r"[.;!?]+(?:\s+|$)|,?\s+(?:and|but|und|aber)\s+(?=(?:i|we|the|my|our|now|ich|wir|mein\w*)\b)"
)
_PLAN = re.compile(
    r"\b(?:if|might|may|could|would|will|want(?:s|ed)?|wish(?:es)?|plan(?:s|ning)?|hop(?:e|es|ing)"
    r"|think(?:s|ing)|consider(?:s|ing)?|dream(?:s|ing)?|maybe|perhaps|wenn|vielleicht|würde)\b"
)
#: Said beside what is there already, or of a part of the time.
_BESIDE = re.compile(
    r"\b(?:also|too|as well|another|second|one of|some of|sometimes|occasionally|both|part[- ]time"
    r"|on weekends|besides|auch|manchmal|eine[rs]? (?:meiner|der))\b"
)
_SHORT = ((re.compile(r"\b(i|we|you|they)'(?:m|re)\b"), r"\1 am"), (re.compile(r"n't\b"), " not"),
          (re.compile(r"\b(\w+)'ve\b"), r"\1 have"))  # fmt: skip
_S = r"(?P<subject>[^,:()]{1,60}?)"
#: A value is short; what goes on is a story.
_V = r"(?P<value>[^,:()]{1,80}?)"
_BE = r"(?:am|is|are|has been|have been|was|were|became|becomes|ist|sind)"

_FRAMES: list[tuple[str, re.Pattern[str]]] = []
_ENDINGS: list[tuple[str, re.Pattern[str]]] = []


def _frame(attribute: str, *patterns: str) -> None:
    _FRAMES.extend((attribute, re.compile(f"{one}$")) for one in patterns)


def _ending(attribute: str, *patterns: str) -> None:
    _ENDINGS.extend((attribute, re.compile(f"{one}$")) for one in patterns)


_frame(
    "residence",
    rf"{_S} (?:lives?|resides?|(?:am|is|are) living|(?:am|is|are) based) (?:in|at) {_V}",
    rf"{_S} (?:have |has )?(?:moved|relocated) (?:(?:away )?from [\w ]+? )?to {_V}",
    rf"{_S} (?:wohne|wohnt|wohnen|lebe|lebt|leben) in {_V}",
    rf"{_S} (?:bin|ist|sind) nach {_V} (?:gezogen|umgezogen)",
)
_frame(
    "employer",
    rf"{_S} (?:works?|(?:am|is|are) working|(?:am|is|are) employed) (?:at|for|by) {_V}",
    rf"{_S} (?:have |has )?(?:joined|started at) {_V}",
    rf"{_S} (?:arbeite|arbeitet|arbeiten) (?:bei|für) {_V}",
)
_frame("occupation", rf"{_S} (?:works?|(?:am|is|are) working|arbeite|arbeitet) (?:as|als) {_V}")
_frame("spouse", rf"{_S} (?:am|is|are|got) married to {_V}")
_frame("superior", rf"{_S} (?:reports?|report) to {_V}", rf"{_S} (?:am|is|are) managed by {_V}")
_frame("vehicle", rf"{_S} drives? an? {_V}")
_frame("host", rf"{_S} (?:am|is|are) (?:hosted|deployed|running) (?:on|at|in) {_V}")
_frame("place", rf"{_S} (?:am|is|are) (?:located|stored|kept) (?:in|at|on) {_V}")
_frame(
    "time",
    rf"{_S} (?:is|are|takes? place|happens?|starts?|meets?) (?:on|at|scheduled for|due on|due)"
    rf" {_V}",
    rf"{_S} (?:was|were|is|are|has been|have been|got) (?:\w+ )?(?:moved|postponed|rescheduled"
    rf"|pushed(?: back)?|brought forward|delayed) (?:from [\w ]+? )?(?:to|until) {_V}",
)
_frame("owner", rf"{_S} (?:am|is|are) (?:owned|led|run|maintained) by {_V}")
_ending("employer", rf"{_S} (?:have |has )?(?:left|quit) {_V}")
_ending("residence", rf"{_S} (?:have |has )?(?:moved away from|left|moved out of) {_V}")
_ending(
    "practice",
    rf"{_S} (?:have |has )?(?:stopped|quit|gave up|given up|sold|cancelled|canceled)"
    rf" (?:going to )?{_V}",
    rf"{_S} (?:no longer|never|do not|does not) (?:\w+ ){{0,2}}?{_V}(?: any ?more)?",
)
#: "X is Y", where X has an attribute with one value.
_IS = re.compile(rf"{_S} (?:{_BE}|(?:has |have )?changed to|(?:was|were) changed to) {_V}$")
_PURPOSE = re.compile(
    rf"{_S} (?P<verb>uses?|prefers?|wants?|needs?) {_V} (?P<purpose>(?:for|as) .+)$"
)
_VERB = re.compile(rf"{_S} (?P<verb>prefers?|wants?) {_V}$")
_VERSION = re.compile(
    rf"{_S} (?:uses?|runs?|(?:am|is|are) on) (?P<name>[\w .-]*?[^\W\d]) (?P<value>v?\d[\w.]*)$"
)
_STUDY = re.compile(rf"{_S} stud(?:y|ies) {_V} (?P<purpose>at .+)$")
_SWITCH = re.compile(
    rf"{_S} (?:have |has )?(?:(?:switched|migrated|changed|moved) from {_V} to .+"
    rf"|replaced {_V.replace('value', 'other')} (?:with|by) .+)$"
)
_LIKES = re.compile(
    rf"{_S} (?:really |absolutely )?(?P<verb>(?:do|does) not (?:like|enjoy|love)"
    rf"|(?:can|could) ?not stand|likes?|loves?|enjoys?|adores?|hates?|dislikes?|detests?) {_V}$"
)


@dataclass(frozen=True, slots=True)
class State:
    """Somebody's or something's attribute and the words of its value, which is `said` in full.

    `ended`: it is said to be over. `beside`: another value may hold at the same time.
    """

    subject: str
    attribute: str
    value: frozenset[str]
    said: str
    ended: bool = False
    beside: bool = False


@lru_cache(maxsize=4096)
def states(text: str) -> tuple[State, ...]:
    """The states that a text tells of, in its order."""
    plain = fold(text[:2000])
    for pattern, instead in _SHORT:
        plain = pattern.sub(instead, plain)
    found: list[State] = []
    for clause in _CLAUSES.split(plain):
        words = FILLERS.sub(" ", f" {clause} ")
        words = " ".join(TRAILING.sub(" ", words).split())
        if words and not _PLAN.search(words):
            found += _of(words, beside=bool(_BESIDE.search(clause)))
    return tuple(found)


def replaced(new: State, old: State) -> bool:
    """Whether what `new` says ends what `old` says."""
    if new.subject != old.subject or old.ended:
        return False
    if new.ended:
        same = new.attribute in (old.attribute, "practice")
        return same and bool(new.value) and (new.value <= old.value or old.value <= new.value)
    if new.attribute != old.attribute or new.beside or old.beside or not new.value or not old.value:
        return False
    # "Berlin" and "Berlin Mitte", "blue" and "dark blue": more is said, nothing else.
    if new.value <= old.value or old.value <= new.value:
        return False
    # "Berlin and likes tea", "Berlin and likes coffee": the rest need not be of the value.
    if new.value & old.value and re.search(r" (?:and|und|but) ", f"{new.said} {old.said}"):
        return False
    if new.attribute == "residence":
        # A town and the country that it may be in.
        return bool(new.value & COUNTRIES) == bool(old.value & COUNTRIES)
    return True


def _of(clause: str, *, beside: bool) -> list[State]:
    found = []
    for attribute, pattern in _ENDINGS:
        if match := pattern.match(clause):
            found.append(_state(match, attribute, ended=True))
    if match := _SWITCH.match(clause):
        value = match["value"] or match["other"]
        found.append(
            State(_subject(match["subject"]), "practice", _value(value), value, ended=True)
        )
    if match := _LIKES.match(clause):
        disliked = re.search(r"not|hate|dislike|detest", match["verb"]) is not None
        side = frozenset({"disliked" if disliked else "liked"})
        about = f"liking {' '.join(sorted(_value(match['value'])))}"
        found.append(State(_subject(match["subject"]), about, side, match["value"]))
    for pattern, attribute in ((_PURPOSE, "purpose"), (_STUDY, "study"), (_VERSION, "version")):
        if match := pattern.match(clause):
            said = match.groupdict()
            verb, what = said.get("verb") or "", said.get("purpose") or said.get("name")
            about = f"{attribute} {verb.rstrip('s')} {what}"
            found.append(_state(match, about))
    if not found and (match := _VERB.match(clause)):
        # "dark mode" and "light mode": one thing in two ways.
        *ways, thing = match["value"].split()
        if len(ways) == 1:
            about = f"way of {match['verb'].rstrip('s')} {stem(thing)}"
            found.append(
                State(_subject(match["subject"]), about, frozenset(map(stem, ways)), thing)
            )
    for attribute, pattern in _FRAMES:
        if match := pattern.match(clause):
            found.append(_state(match, attribute))
    if match := _IS.match(clause):
        found += _is(match)
    return [
        State(one.subject, one.attribute, one.value, one.said, one.ended, beside)
        for one in found
        if one.subject and one.value
    ]


def _is(match: re.Match[str]) -> list[State]:
    subject, value = match["subject"], match["value"]
    for kind, words in STATUSES.items():
        if value in words:
            return [State(_subject(subject), kind, _value(value), value)]
    owner, attribute = _owned(subject)
    head = attribute.split()[-1] if attribute else ""
    # "The lead of the data team is Zoe" is not "Zoe is the lead of the data team".
    if owner and (head in ATTRIBUTES or attribute.startswith(BEGINNERS)):
        return [State(owner, attribute, _value(value), value)]
    return []


def _owned(subject: str) -> tuple[str, str]:
    """Whose attribute, and which: "my favourite colour", "the project's status", "the deadline"."""
    if match := re.match(r"(?:the )?(.+?)'s? (.+)$", subject):
        return _subject(match[1]), match[2]
    if match := re.match(r"(my|our|mein\w*|unser\w*) (.+)$", subject):
        return ("we" if match[1].startswith(("our", "unser")) else "user"), match[2]
    if match := re.match(r"the (.+?) (?:of|for) (?:the )?(.+)$", subject):
        return _subject(match[2]), match[1]
    if match := re.match(r"(?:the|der|die|das) (.+)$", subject):
        return "the", match[1]
    return "", ""


def _state(match: re.Match[str], attribute: str, *, ended: bool = False) -> State:
    return State(
        _subject(match["subject"]), attribute, _value(match["value"], attribute),
        match["value"], ended,
    )  # fmt: skip


def _subject(text: str) -> str:
    """Who it is about; "" for a pronoun, which may mean anybody."""
    plain = re.sub(r"^(?:the|a|an|der|die|das) ", "", text.strip())
    if plain in ("i", "user", "ich", "me"):
        return "user"
    return "" if plain in PRONOUNS else plain


def _value(text: str, attribute: str = "") -> frozenset[str]:
    words = re.findall(r"[^\W_]+(?:[-.@+][^\W_]+)*[+#]*", text)
    if attribute in ("residence", "employer") and words[:1] and words[0] in GENERIC:
        return frozenset()
    return frozenset(stem(word) for word in words if word not in GENERIC)
