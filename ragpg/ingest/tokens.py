"""How many tokens a text has: counted by a tokenizer, or estimated from above without one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

Count = Callable[[str], int]

#: Pieces of so many characters are not cut further, whatever they count.
CHARACTERS_A_TOKEN = 8
#: Tokens that a tokenizer over bytes makes of one character at most.
_MOST = 4
_WORD = re.compile(r"[A-Za-z]+")
_SPACE = re.compile(r"\s+")


def estimate_tokens(text: str) -> int:
    """At least as many tokens as common models count, for text of any script.

    A run of Latin letters counts one token and one more for every four letters after the first
    six; every other visible character counts one, digits and punctuation included. English prose
    comes out 10 to 30 % too high, dense text about right.
    """
    words = _WORD.findall(text)
    letters = sum(map(len, words))
    blanks = sum(map(len, _SPACE.findall(text)))
    return sum(1 + max(0, len(word) - 3) // 4 for word in words) + len(text) - letters - blanks


@dataclass(frozen=True)
class TokenLimit:
    """Most tokens of one text for embedding, start and end markers of the model included."""

    tokens: int
    count: Count = estimate_tokens
    markers: int = 2

    def room(self, crumb: str, prefix: str, content: str) -> int | None:
        """None where all of it fits; else how many characters of the content may stay together."""
        if (len(crumb) + len(prefix) + len(content)) * _MOST + self.markers <= self.tokens:
            return None
        total = self.count(f"{crumb}\n{prefix}{content}") + self.markers
        if total <= self.tokens:
            return None
        own = max(self.count(content), 1)
        left = max(self.tokens - (total - own), self.tokens // 8, 1)
        # A little less than the share that fits: density varies within a text.
        return max(1, min(int(len(content) * left / own * 0.95), len(content) - 1))
