"""Words for comparing texts: folded, cut and lightly stemmed, in any script.

Folding removes what a reader does not see or type: case, accents, ligatures, soft hyphens, width.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

_INVISIBLE = re.compile("[\u200b-\u200d\u2060\ufeff]")
_SOFT_HYPHEN = re.compile("\u00ad[ \t]*\n?[ \t]*")
# Accents of Latin, Greek and Cyrillic, Hebrew points, Arabic vowel marks. The voicing marks of kana
# are no accents: without them another word is written.
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u1dc0-\u1dff]"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Scripts without blanks between words: kana, Chinese characters, Thai, Lao, Khmer; and Hangul,
# whose words carry endings.
UNSPACED = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\u0e00-\u0eff\u1780-\u17ff"
)
_WORD = re.compile(rf"[{UNSPACED}]+|[^\W_{UNSPACED}]+")
# Most texts are plain ASCII, where a simple class is several times faster.
_ASCII_WORD = re.compile("[a-z0-9]+")
_UNSPACED_RUN = re.compile(f"[{UNSPACED}]")
_QUOTES = str.maketrans("‘’‚‛“”„‟«»‐‑‒–—−", "''''" + '""""""' + "------")

_FUNCTION_WORDS = """
    a about above after again against all also am an and any are aren as at be because been before
    being below between both but by can cannot could couldn did didn do does doesn doing don down
    during each either every few for from further had hadn has hasn have haven having he her here
    hers him his how i if in into is isn it its itself just may me might more most must my neither
    never no nor not now of off on once only or other our out over own per s same shall she should
    shouldn so some such t than that the their them then there these they this those through to too
    under until up upon us very was wasn we were weren what when where which while who whom whose
    why will with within without won would wouldn you your
"""
#: Function words of English; they carry no topic. Negations are among them: agreement checks
#: look at those by themselves.
STOPWORDS = frozenset(_FUNCTION_WORDS.split())


def fold(text: str) -> str:
    """Lower case without accents, ligatures, soft hyphens and invisible characters.

    A soft hyphen takes the line end behind it along, so a word hyphenated in a PDF becomes whole.
    """
    if text.isascii():
        return text.lower()
    text = _INVISIBLE.sub("", _SOFT_HYPHEN.sub("", text))
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFC", bare).translate(_QUOTES)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A folded word without plural, -ed, -ing and final e: a short form of Porter's first step.

    It errs on the side of keeping words apart and leaves other languages nearly alone.
    """
    if len(word) <= 3 or not word.isascii() or word.isdigit():
        return word
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= 3 and any(vowel in rest for vowel in "aeiouy"):
            word = rest
            if word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    return word


def words(text: str) -> list[str]:
    """Stems of the words of a text, in order. camelCase and snake_case are cut into their words;
    scripts without blanks give their bigrams."""
    folded = fold(_CAMEL.sub(" ", text))
    if folded.isascii():
        return [stem(word) for word in _ASCII_WORD.findall(folded)]
    found: list[str] = []
    for word in _WORD.findall(folded):
        if _UNSPACED_RUN.match(word):
            found.extend([word] if len(word) == 1 else map("".join, pairwise(word)))
        else:
            found.append(stem(word))
    return found


def content_words(text: str) -> list[str]:
    """Stems of the words that carry meaning; all words where there are none of these."""
    return [word for word in words(text) if word not in _STOP_STEMS]


_STOP_STEMS = STOPWORDS | {stem(word) for word in STOPWORDS}


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Where `quote` stands in `text`, compared folded and with any white space as one blank.

    Returns character offsets of `text`, or None. A quote without letters or digits is nowhere.
    """
    needle = "".join(mark for mark, _ in _folded_characters(quote)).strip()
    if not any(mark.isalnum() for mark in needle):
        return None
    marks = list(_folded_characters(text))
    at = "".join(mark for mark, _ in marks).find(needle)
    if at < 0:
        return None
    return marks[at][1], marks[at + len(needle) - 1][1] + 1


def _folded_characters(text: str) -> list[tuple[str, int]]:
    """Folded characters, each with the offset of the character it came from."""
    hidden = {at for found in _SOFT_HYPHEN.finditer(text) for at in range(*found.span())}
    marks: list[tuple[str, int]] = []
    for at, original in enumerate(text):
        if at in hidden:
            continue
        if original.isspace():
            if marks and marks[-1][0] != " ":
                marks.append((" ", at))
            continue
        marks.extend((mark, at) for mark in fold(original))
    return marks
