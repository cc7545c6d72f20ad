"""Connectives and pointing words by language: what splits a question, what points out of it.

A language is guessed from its commonest words alone, so that "of" splits a Dutch question and no
English one. Where nothing speaks for another language it is English.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragpg.words import STOPWORDS, fold

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Language:
    """Folded words: `common` carry no topic, `connectives` join clauses, `pointing` refer to what
    was said before. `common` holds the other two."""

    common: frozenset[str]
    connectives: tuple[str, ...]
    pointing: frozenset[str]


def _language(common: str, connectives: str, pointing: str) -> Language:
    joined = tuple(fold(text) for text in connectives.split("/"))
    words = {word for text in joined for word in text.split()}
    pointers = frozenset(fold(pointing).split())
    return Language(frozenset(fold(common).split()) | words | pointers, joined, pointers)


LANGUAGES: Mapping[str, Language] = {
    "en": _language(
        " ".join(STOPWORDS) + " tell please does show explain",
        "as well as/and also/and/or/but/while/whereas/versus/vs/compared to/compared with"
        "/in contrast to/plus/then",
        "it its it's this these those they them their theirs he him his she her hers",
    ),
    "de": _language(
        "der die das den dem des ein eine einer eines einem einen ist sind war waren wie was wer wo"
        " wann warum welche welcher welches kann man ich wir ihr mit von zu zum zur im in am an auf"
        " für bei nach aus nicht auch es er sie werden wird hat haben",
        "sowie auch/sowie/und auch/und/oder/aber/während/im vergleich zu/verglichen mit",
        "es dies diese dieser dieses diesem diesen sie er ihn ihm ihre ihren seine seinen"
        " davon damit dafür darüber dazu dort jene jener solche",
    ),
    "fr": _language(
        "le la les l un une des du de d est sont était comment que quoi qui quel quelle quels"
        " quelles où quand pourquoi ce se je on nous vous dans sur pour par avec sans au aux ne pas"
        " en a ont peut il elle",
        "ainsi que/et aussi/et/ou/mais/tandis que/par rapport à",
        "il elle ils elles celui celle ceux cela ça ce cet cette ces leur leurs son sa ses lui y"
        " dessus dedans",
    ),
    "es": _language(
        "el la los las un una unos unas de del al en es son era qué que quién cómo como cuál cuáles"
        " dónde cuándo por para con sin se su no lo hay puede",
        "así como/y también/y/e/o/u/pero/mientras que/comparado con/en comparación con",
        "esto esta este estos estas eso esa ese esos esas ello él ella ellos ellas su sus lo"
        " aquello allí",
    ),
    "it": _language(
        "il lo la i gli le un uno una di del della dei delle al alla in nel nella è sono era che"
        " chi come quale quali dove quando perché per con senza si non può",
        "così come/nonché/e anche/e/ed/o/oppure/ma/mentre/rispetto a",
        "questo questa questi queste ciò esso essa essi lui lei loro suo sua suoi quello quella"
        " quelli lì",
    ),
    "pt": _language(
        "o a os as um uma uns umas de do da dos das ao em no na nos nas é são era que quem como"
        " qual quais onde quando por para com sem se não há pode",
        "assim como/bem como/e também/e/ou/mas/enquanto/em comparação com",
        "isto isso este esta estes estas esse essa esses essas ele ela eles elas seu sua seus suas"
        " aquilo lá",
    ),
    "nl": _language(
        "de het een van der in op te is zijn was waren hoe wat wie waar wanneer waarom welke kan je"
        " ik we met voor bij naar uit niet ook aan door wordt worden heeft hebben",
        "evenals/alsook/en ook/en/of/maar/terwijl/vergeleken met",
        "dit deze hij zij ze hem haar hun ervan ermee daarvan daarmee erover daar",
    ),
    "ru": _language(
        "в на с к о об из у от до для по за не это что кто как какой какая какие где когда почему"
        " ли бы быть был была были есть",
        "а также/и также/и/или/но/тогда как/по сравнению с",
        "это этот эта эти этого этой этих он она оно они его её ее их ему ей им там тот та те",
    ),
}

#: Marks and words of scripts without blanks that join clauses, and those that point back.
_UNSPACED_CONNECTIVES = (
    "以及|还有|還有|并且|並且|而且|另外|或者|和|与|與"
    "|および|ならびに|それから|そして|または|、|그리고|또는|및"
)
_UNSPACED_POINTING = re.compile(
    "它|他|她|这|這|那|其|これ|それ|あれ|この|その|あの|彼|그것|이것|그는"
)
#: "that" points back behind these words and at the end; elsewhere it opens a clause of its own.
_THAT = re.compile(
    r"\b(?:about|of|to|for|with|on|in|from|like|than|is|does|do|did|was|are|can|will) that\b"
    r"|\bthat\W*$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
#: A word as written: names in code, paths and versions stay whole.
_WRITTEN = re.compile(r"[^\W_][\w'’./+#-]*[\w+#]|\w")
_MARKS = re.compile(rf"[;；。？！?!]+\s*|(?<=[^\W\d])[.]\s+|{_UNSPACED_CONNECTIVES}")


def language_of(text: str) -> Language:
    """The language whose common words are the most of the text's; English where it is a tie."""
    words = set(_words(text))
    votes = {name: len(words & language.common) for name, language in LANGUAGES.items()}
    best = max(votes, key=lambda name: (votes[name], name == "en"))
    return LANGUAGES[best]


def topic_words(text: str, language: Language) -> list[str]:
    """Words that carry a topic, as written, in order."""
    return [
        word
        for word in _WRITTEN.findall(text)
        if not {(plain := fold(word)), plain.partition("'")[0]} & language.common
        and (len(word) > 1 or word.isdigit() or _is_unspaced(word))
    ]


def content_terms(text: str, language: Language) -> list[str]:
    """Folded words that carry a topic, in order; in scripts without blanks each run counts as one
    word for every two of its characters."""
    found: list[str] = []
    for written in topic_words(text, language):
        word = fold(written)
        if _is_unspaced(word):
            found.extend(word[at : at + 2] for at in range(0, max(len(word) - 1, 1), 2))
        else:
            found.append(word.removesuffix("'s"))
    return found


def split_clauses(text: str, language: Language) -> list[str]:
    """The text cut at marks and connectives, in order, without them."""
    connectives = sorted(language.connectives, key=len, reverse=True)
    words = "|".join(r"\s+".join(map(re.escape, one.split())) for one in connectives)
    pattern = re.compile(rf"{_MARKS.pattern}|,?\s+(?:{words})(?=\s)\s*,?", re.IGNORECASE)
    return [clause.strip(" ,:-") for clause in pattern.split(text) if clause.strip(" ,:-")]


def points_back(text: str, language: Language) -> bool:
    """Whether a word refers to something outside of the text."""
    if language is LANGUAGES["en"] and _THAT.search(text):
        return True
    return bool(language.pointing & set(_words(text))) or bool(_UNSPACED_POINTING.search(text))


def _words(text: str) -> list[str]:
    return [word.replace("’", "'") for word in _WORD.findall(fold(text))]


def _is_unspaced(word: str) -> bool:
    return bool(
        re.match("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff]", word)
    )
