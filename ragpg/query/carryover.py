"""Conversations: a vague follow-up is asked once more with the topics of earlier questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragpg.query.clauses import content_terms, language_of, points_back, topic_words
from ragpg.query.probes import Probe
from ragpg.words import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Of one question to the one before it, a topic loses half of its salience.
DECAY = 0.5
#: Names, numbers and identifiers are what a pronoun most often stands for.
NAME_BONUS = 1.5
MOST_TERMS = 6
#: A follow-up with more content terms than these stands on its own.
VAGUE_TERMS = 4
WEIGHT = 2.0
_MEMORY = 8
_LONGEST = 1000
_OPENERS = ("and", "but", "so", "what about", "how about", "und", "et", "y", "e", "en", "и", "а")


def carryover_probe(query: str, history: Sequence[str], *, weight: float = WEIGHT) -> Probe | None:
    """The follow-up together with the most salient terms of earlier queries, or None.

    history  earlier queries of the conversation, oldest first

    None where the query stands on its own, or there is nothing to carry. A term's salience is the
    sum over the queries that had it, each worth half of the next. The probe is named "carryover".
    """
    if not is_vague(query):
        return None
    asked = set(content_terms(query, language_of(query)))
    carried = [
        word
        for word in salient_words(history)
        if not asked.intersection(content_terms(word, language_of(word)))
    ][:MOST_TERMS]
    if not carried:
        return None
    return Probe(name="carryover", query=" ".join([*carried, query.strip()]), weight=weight)


def is_vague(query: str) -> bool:
    """Whether a query needs what was said before: it points back, continues, or says little."""
    if not query.strip() or len(query) > _LONGEST:
        return False
    language = language_of(query)
    terms = len(set(content_terms(query, language)))
    if terms <= 1:
        return points_back(query, language) or len(query.split()) > 1 or terms == 0
    opens = fold(query).lstrip("¿¡ ").startswith(tuple(f"{opener} " for opener in _OPENERS))
    return terms <= VAGUE_TERMS and (opens or points_back(query, language))


def salient_words(history: Sequence[str]) -> list[str]:
    """Topic words of earlier queries, most salient first, as they were written last."""
    salience: dict[str, float] = {}
    written: dict[str, str] = {}
    for age, query in enumerate(reversed(history[-_MEMORY:])):
        text = query[:_LONGEST]
        for place, word in enumerate(_once(topic_words(text, language_of(text)))):
            key = fold(word)
            bonus = NAME_BONUS if _is_name(word, place) else 1.0
            salience[key] = salience.get(key, 0.0) + bonus * DECAY**age
            written.setdefault(key, word)
    order = sorted(salience, key=lambda key: -salience[key])
    return [written[key] for key in order]


def _once(found: Sequence[str]) -> list[str]:
    return list({fold(word): word for word in found}.values())


def _is_name(word: str, place: int) -> bool:
    inner = any(mark.isupper() for mark in word[1:]) or any(
        mark in "_./0123456789" for mark in word
    )
    return inner or (word[0].isupper() and place > 0)
