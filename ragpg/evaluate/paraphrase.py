"""Other words for the same thing, without a model: synonyms, word forms, left-out words.

English only; texts in other languages keep their words and lose some.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragpg.sentences import split_sentences
from ragpg.words import STOPWORDS, fold

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

#: Words that may stand for each other in most texts, a group a line.
_GROUPS = """
    abandon drop
    ability capability
    accurate exact precise
    achieve reach attain
    add append insert
    aim goal purpose
    allow permit enable let
    alter change modify
    amount quantity
    answer reply response
    argument parameter
    assist help support
    begin start
    big large
    brief short
    build construct make create
    choose select pick
    collect gather
    compare contrast
    compute calculate
    connect link join
    contain hold include
    convert transform
    correct fix repair
    cut reduce lower decrease
    decide determine
    delete remove erase
    demand require need
    demonstrate show
    describe explain
    detect find discover
    difficult hard
    disable deactivate
    display show
    due owing
    early initial
    effect impact influence
    empty blank
    end finish
    error failure fault
    examine inspect study investigate
    example instance
    exceed surpass
    fast quick rapid
    fetch retrieve get
    function procedure routine
    gain obtain
    give provide supply
    grow increase rise
    happen occur
    idea concept
    illness disease
    important significant
    improve enhance
    job task
    keep retain preserve
    last final
    limit restrict
    main primary
    maximum largest
    mean average
    method approach technique
    minimum smallest
    module package
    move shift transfer
    name label
    new novel
    number count
    often frequently
    option setting
    order sequence
    part portion
    path location
    place position
    prevent avoid
    problem issue
    process handle
    produce generate
    read load
    refuse reject deny
    region area
    replace substitute
    result outcome
    return give
    run execute
    save store
    search look
    secure safe
    send transmit
    several many
    similar alike
    size extent
    small little
    speed velocity
    stop halt
    test check
    text string
    total entire whole
    turn rotate
    type kind
    use employ apply
    user person
    value number
    verify confirm
    wait pause
    way manner
    write store
    wrong incorrect
"""
_OTHERS: dict[str, tuple[str, ...]] = {}
for _line in _GROUPS.strip().splitlines():
    for _word in _line.split():
        _OTHERS.setdefault(_word, tuple(one for one in _line.split() if one != _word))

_WORD = re.compile(r"\w+(?:[.'-]\w+)*")
#: Endings of nouns that take an s.
_NOUNS = ("tion", "sion", "ment", "ness", "ance", "ence", "ism", "ure")
#: Endings of a verb or noun and how its bare form is spelled, the longest first.
_ENDINGS = (("ies", "y"), ("ing", ""), ("ing", "e"), ("ed", ""), ("ed", "e"), ("es", ""), ("s", ""))


def synonym(word: str) -> str | None:
    """Another word for this one, in the same grammatical form where that is regular."""
    if word in _OTHERS:
        return _OTHERS[word][0]
    for ending, bare in _ENDINGS:
        base = word.removesuffix(ending) + bare
        if word.endswith(ending) and base in _OTHERS:
            return _inflected(_OTHERS[base][0], ending)
    return None


def _inflected(word: str, ending: str) -> str:
    if ending in ("ing", "ed"):
        return (word.removesuffix("e") if word.endswith("e") else word) + ending
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


def other_form(word: str) -> str:
    """A noun in the other number, as far as its ending tells that it is one; others stay."""
    if len(word) < 5 or not word.isalpha() or not word.isascii():
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    if word.endswith("ity"):
        return word[:-1] + "ies"
    return word + "s" if word.endswith(_NOUNS) else word


def key_phrase(sentence: str, weights: Mapping[str, float], length: int = 5) -> str:
    """The stretch of up to `length` words that weighs most and starts and ends with content."""
    words = _WORD.findall(sentence)
    best, phrase = -1.0, sentence
    for start, first in enumerate(words):
        if fold(first) in STOPWORDS:
            continue
        part = words[start : start + length]
        while fold(part[-1]) in STOPWORDS:
            part.pop()
        weight = sum(weights.get(fold(word), 0.0) for word in part)
        if weight > best:
            best, phrase = weight, " ".join(part)
    return phrase


def key_sentence(text: str, weights: Mapping[str, float]) -> tuple[int, int] | None:
    """Start and end of the sentence that says most: the highest sum of weights by the square root
    of its length, of 6 to 40 words."""
    best: tuple[float, tuple[int, int]] | None = None
    for start, end in split_sentences(text):
        sentence = text[start:end]
        words = _WORD.findall(sentence)
        if not 6 <= len(words) <= 40:
            continue
        found = {fold(word) for word in words}
        score = sum(weights.get(word, 0.0) for word in found) / len(words) ** 0.5
        if best is None or score > best[0]:
            best = (score, (start, end))
    return best[1] if best else None


def with_words_left_out(sentence: str, random: Random, *, keep: float = 0.6) -> str:
    """The sentence with a part of its words of content, at least three, in their order."""
    words = _WORD.findall(sentence)
    content = [place for place, word in enumerate(words) if fold(word) not in STOPWORDS]
    count = max(round(keep * len(content)), min(3, len(content)))
    kept = set(random.sample(content, count))
    return " ".join(
        word for place, word in enumerate(words) if place in kept or place not in content
    )


def reworded(sentence: str, rare: Sequence[str], random: Random) -> str:
    """The sentence with synonyms and other word forms, its halves swapped, and without the rarest
    of its words: what somebody may ask who remembers the matter and not the text."""
    words = [fold(word) for word in _WORD.findall(sentence)]
    dropped = next((word for word in rare if word in words), None)
    words = [word for word in words if word != dropped]
    middle = len(words) // 2
    turned = words[middle:] + words[:middle]
    content = [place for place, word in enumerate(turned) if word not in STOPWORDS]
    chosen = set(random.sample(content, len(content) // 2))
    return " ".join(
        synonym(word) or (other_form(word) if place in chosen else word)
        for place, word in enumerate(turned)
    )
