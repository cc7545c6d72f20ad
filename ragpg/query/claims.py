"""The claims of an answer: its assertive sentences.

Skipped are questions, directives ("Run the command."), greetings and thanks, refusals ("I don't
know"), headings, lead-ins that end with a colon, code, bare markers, and a closing list of sources.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragpg.query.dates import GOES_ON
from ragpg.sentences import split_sentences
from ragpg.words import fold, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Verbs that open a directive in manuals and chat answers.
_VERBS = """
    add apply ask avoid be call change check choose click configure confirm consider contact copy
    create delete disable do don't download edit enable ensure enter find follow give go have
    install keep let look make note open please press provide read refer remember remove replace
    restart review run save see select send set share start stop tell try turn type update upload
    use verify visit wait write
"""
_IMPERATIVES = frozenset(_VERBS.split())
# "Set theory is old", "Use of force is banned": the second word shows that the first is a noun.
_NOUN_AFTER = re.compile(
    r"^(?:\d|(?:of|in|is|are|was|were|has|have|had|can|may|must|will|theory|time)\b)"
)
_SOCIAL = re.compile(
    r"(?:hi|hello|hey|dear|thanks|thank you|you're welcome|you are welcome|sure|certainly|of course"
    r"|great question|good question|sorry|apologies|i apologi[sz]e|i'?m sorry|i am sorry|ok|okay"
    r"|yes|no|i hope|i'?m happy|i am happy|feel free|let me know|let's|here (?:is|are)|goodbye|bye"
    r"|in summary|as an ai|as a language model)\b[^a-z0-9]*(?P<rest>.*)",
    re.S,
)
_UNKNOWING = re.compile(
    r"\b(?:i|we) (?:do not|don't|could not|couldn't|can not|cannot|can't|am not|was not|were not"
    r"|was unable|am unable|have no|did not|didn't)\b"
    r"|\b(?:source|document|passage|context|text)s?(?: \w+)? (?:do|does|did) ?(?:not|n't)"
    r" (?:say|mention|contain|state|hold|provide|include|specify|give|tell|answer)"
    r"|\bno (?:relevant )?information\b|\bnot (?:mentioned|stated|specified) in\b"
    r"|\bnot (?:found|enough) (?:in|information)\b"
)
_BUT = re.compile(r"\b(?:but|however|although|though|yet)\b[\s,:]*")
# "but I can help", "but you may ask support".
_OFFER = re.compile(
    r"(?:i|we|please|feel free|let me)\b|you (?:(?:can|may|could|might|should) )?(?:want to )?"
    r"(?:ask|contact|check|try|consult|refer|look|visit|reach|find|see)\b"
)
_GREETING = re.compile(
    r"(?:hi|hello|hey|dear|thanks|thank you|sorry|apologies|i'm sorry|i am sorry|i apologi[sz]e"
    r"|great question|good question)\b"
)
# "Note that" is a directive only in form.
_NOTE = re.compile(
    r"^(?:please )?(?:note|remember|keep in mind|bear in mind|be aware)(?: that\b|:)[\s,:]*"
)
_HEADING = re.compile(r"#{1,6}\s")
_DECORATION = re.compile(r"^(?:\s|>|[-*+•]\s|\(?\d{1,3}[.)]\s|[*_]{1,3}(?=\S))+")
_SOURCES = re.compile(
    r"^[#*_ \t]*(?:sources?|references?|citations?|quellen|fuentes|bibliography)"
    r"(?: given, not cited)?[*_ \t]*:?[*_ \t]*$",
    re.I | re.M,
)
_CODE = re.compile(r"^ {0,3}(`{3,}(?!`)|~{3,}(?!~))[^\n]*\n.*?(?:^ {0,3}\1[^\n]*$|\Z)", re.M | re.S)
_TABLE = re.compile(r"[ \t]*\|[^\n]*\n[ \t]*\|")
_LISTED = re.compile(r"(?<=[:：])[*_]{0,3}[ \t]*\n(?=[ \t>]*(?:[-*+•]|\(?\d{1,3}[.)])(?:[ \t]|\Z))")
_LINE = re.compile(r"[^\n]+")
_RULE = re.compile(r"[\s|:-]*-[\s|:-]*")
_DAY = re.compile(r"(?<!\d)\d{1,2}\.\Z")
_BRACKETED = re.compile(r"[\[【][^\[\]【】\n]*[\]】](?:\([^)\s]*\)|:)?")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer: answer[start:end] == text."""

    text: str
    start: int
    end: int


def extract_claims(answer: str) -> list[Sentence]:
    """The assertive sentences of an answer, in order, without list marks in front of them.

    At least two words with a meaning of their own are needed: "OK." and "42" claim nothing.
    """
    listed = _SOURCES.search(answer)
    # Blanked, not cut, so that offsets stay those of the answer.
    body = _CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), answer)
    claims: list[Sentence] = []
    bounds = _dated(body, split_sentences(body[: listed.start()] if listed else body))
    for start, end in _rows(body, _introduced(body, bounds)):
        decoration = _DECORATION.match(answer[start:end])
        heading = _HEADING.match(answer[start:end])
        start += decoration.end() if decoration else 0
        text = answer[start:end]
        if not heading and is_claim(text):
            claims.append(Sentence(text, start, end))
    return claims


def _dated(text: str, bounds: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The bounds without those inside of dates: the number of a day ends no sentence."""
    whole: list[tuple[int, int]] = []
    for start, end in bounds:
        if whole and _DAY.search(text, *whole[-1]) and GOES_ON.match(text, start, end):
            whole[-1] = (whole[-1][0], end)
        else:
            whole.append((start, end))
    return whole


def _introduced(text: str, bounds: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The bounds with a list of one item apart from the line that introduces it: two items are
    needed before a sentence ends there by itself, but it may end behind the number of an item."""
    for start, end in bounds:
        for found in _LISTED.finditer(text, start, end):
            yield start, found.start()
            start = found.end()
        yield start, end


def _rows(text: str, bounds: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The bounds with each row of a Markdown table by itself, its head and rule left out."""
    for start, end in bounds:
        if not _TABLE.match(text, start, end):
            yield start, end
            continue
        lines = [found.span() for found in _LINE.finditer(text, start, end)]
        rules = {at for at, (low, high) in enumerate(lines) if _RULE.fullmatch(text, low, high)}
        for at, line in enumerate(lines):
            if at not in rules and at + 1 not in rules:
                yield line


def is_claim(sentence: str) -> bool:
    """Whether a sentence asserts something that a source could support."""
    plain = fold(_BRACKETED.sub(" ", sentence)).strip(" \t\n*_\"'")
    if plain.rstrip("*_\"') ").endswith(("?", "？", ":")):
        return False
    unknowing = _UNKNOWING.search(plain)
    if unknowing:
        # "I do not know why, but keys rotate every 90 days" claims something all the same.
        turn = _BUT.search(plain, unknowing.end())
        said = "" if turn is None else plain[turn.end() :]
        return not _OFFER.match(said) and is_claim(said)
    if plain.startswith("|") and not re.search(r"\w", plain):
        return False
    social = _SOCIAL.match(plain)
    if social:
        rest = social["rest"]
        # "Yes, keys rotate every 90 days" still claims something, and so does "Here is the answer:
        # keys rotate every 90 days"; "Let me know" does not.
        if not re.match(r"(?:yes|no|sure|certainly|of course|ok|okay|in summary)\b", plain):
            said = rest.partition(": ")[2]
            if not said and _GREETING.match(plain):
                said = plain.partition(", ")[2].removeprefix("but ")
            return is_claim(said)
        plain = rest
    plain = _NOTE.sub("", plain)
    first, _, after = plain.partition(" ")
    if first.rstrip(",") in _IMPERATIVES and not _NOUN_AFTER.match(after.lstrip()):
        return False
    return len(words(plain)) >= 2 and any(mark.isalpha() for mark in plain)
