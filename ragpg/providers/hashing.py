"""An embedder without a model: feature hashing of words and character n-grams.

It is exact on every machine, needs nothing and costs next to nothing. It is lexical: it knows
inflections and misspellings, not meanings, so it serves tests and a first run, not quality.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING
from unicodedata import normalize
from zlib import crc32

from ragpg.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Part of the model name: raise it whenever the same text gets another vector.
_VERSION = 1

# Scripts written without blanks, where every character (and pair) counts as a word.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
# Python's \w leaves out combining marks, which would cut Indic and other words at every vowel.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u0e31-\u0e4e"
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_LETTER = rf"[^\W_{_UNSPACED}]"
_WORD = re.compile(rf"[{_UNSPACED}]+|{_LETTER}(?:{_LETTER}|[{_MARKS}])*")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")

# Words beyond this length are data (base64, digests): their grams would only be noise.
_LONGEST = 40


class HashEmbedder:
    """Deterministic vectors of `dimensions` numbers, unit length, from the text alone.

    Signed feature hashing (Weinberger et al. 2009, "Feature Hashing for Large Scale Multitask
    Learning") with crc32. Features are words and their character 3- to 5-grams inside word
    borders (as fastText has them); a word that occurs n times weighs 1 + ln n. Words shorter than
    six letters weigh less, in proportion: most of them are function words.
    """

    def __init__(self, dimensions: int = 384) -> None:
        if dimensions < 1:
            raise ConfigError(f"dimensions must be at least 1, not {dimensions}")
        self._dimensions = dimensions
        # Shared int objects: the cache below holds some 20 of them per word.
        self._slots = list(range(2 * dimensions))
        self._features = lru_cache(maxsize=32_768)(self._hash_word)

    def __repr__(self) -> str:
        return f"HashEmbedder(dimensions={self._dimensions})"

    @property
    def model(self) -> str:
        """Name of the embedding space, with the version of the hashing in it."""
        return f"hash-{self._dimensions}-v{_VERSION}"

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        return self._dimensions

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text, in order. Never fails; blank texts have a vector too."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The same vector as for a document."""
        half = self._dimensions
        sums = [0.0] * (2 * half)
        features = self._features
        for word, count in Counter(words(text)).items():
            weight, slots = features(word)
            if count > 1:
                weight *= 1.0 + math.log(count)
            for slot in slots:
                sums[slot] += weight
        # The upper half holds the features of negative sign.
        vector = [plus - minus for plus, minus in zip(sums[:half], sums[half:], strict=True)]
        length = math.hypot(*vector)
        if length == 0.0:
            vector[crc32(text.encode("utf-8", "surrogatepass")) % half] = 1.0
            return vector
        return [value / length for value in vector]

    async def aembed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """As embed_documents; nothing is awaited."""
        return self.embed_documents(texts)

    async def aembed_query(self, text: str) -> list[float]:
        """As embed_query; nothing is awaited."""
        return self.embed_query(text)

    def _hash_word(self, word: str) -> tuple[float, tuple[int, ...]]:
        """Weight and slots of a word; slot + dimensions where a feature's sign is negative."""
        unspaced = _IS_UNSPACED.match(word) is not None
        # The whole word counts twice beside its grams (measured on the judged sets).
        features = [word, word]
        if len(word) <= _LONGEST and not unspaced:
            bordered = f"<{word}>"
            features += [
                bordered[start : start + size]
                for size in (3, 4, 5)
                for start in range(len(bordered) - size + 1)
            ]
        slots = []
        for feature in features:
            code = crc32(feature.encode("utf-8", "surrogatepass"))
            # The sign is the top bit, on which the remainder depends least.
            slots.append(self._slots[code % self._dimensions + (code >> 31) * self._dimensions])
        return (1.0 if unspaced else min(1.0, len(word) / 6)), tuple(slots)


def words(text: str) -> list[str]:
    """Case-folded words; each character and each pair of characters of Chinese and Japanese."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    found: list[str] = []
    for word in _WORD.findall(normalize("NFKC", text).casefold()):
        if _IS_UNSPACED.match(word):
            found += word
            found += map("".join, pairwise(word))
        else:
            found.append(word)
    return found
