"""Texts as sets of word sequences, to tell what was written twice.

A sequence is four words: two alike are chance, four alike are a copy.
"""

from __future__ import annotations

import re
from collections import Counter

from ragpg.query.sentence_words import NEGATIONS
from ragpg.words import fold

#: How much of a text is looked at, in characters.
_CHARACTERS = 4000
# Scripts without blanks give single characters; numbers and versions stay whole.
_TOKEN = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\u0e00-\u0eff\u1780-\u17ff]"
    r"|\d[\d.,:/-]*|[^\W\d_]+"
)
# Most texts are plain ASCII, where a simple class is several times faster.
_ASCII_TOKEN = re.compile(r"[a-z]+|\d[\d.,:/-]*")
_NUMBER = re.compile(r"\d(?:[\d.,:/-]*\d)?")


class Shingles:
    """The word sequences of one text. A text shorter than a sequence is one sequence."""

    __slots__ = ("parts", "telling")

    def __init__(self, text: str) -> None:
        folded = fold(text[:_CHARACTERS])
        tokens = (_ASCII_TOKEN if folded.isascii() else _TOKEN).findall(folded)
        grams = zip(tokens, tokens[1:], tokens[2:], tokens[3:], strict=False)
        self.parts = frozenset(map(hash, grams)) or frozenset([hash(tuple(tokens))])
        #: What changes the meaning of a text wherever it stands: numbers and negations.
        self.telling = NEGATIONS.intersection(tokens).union(_NUMBER.findall(folded))


class Index:
    """Which texts have a sequence: most sequences stand in one text only."""

    def __init__(self) -> None:
        self._owners: dict[int, list[int]] = {}

    def add(self, place: int, text: Shingles) -> None:
        """Remember a text by its place."""
        owners = self._owners
        for part in text.parts:
            if part in owners:
                owners[part].append(place)
            else:
                owners[part] = [place]

    def shared(self, text: Shingles) -> list[tuple[int, int]]:
        """Places of the texts that share sequences with this one, and how many, by place."""
        counts: Counter[int] = Counter()
        for part in text.parts & self._owners.keys():
            counts.update(self._owners[part])
        return sorted(counts.items())
