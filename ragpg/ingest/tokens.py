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
#: Latin letters become "a" and every other byte a blank.
_SHAPE = bytes(ord("a") if bytes([code]).isalpha() else ord(" ") for code in range(256))
#: Runs of more letters are told one by one, so that no text takes quadratic time.
_LONG_RUN = 63


def estimate_tokens(text: str) -> int:
    """At least as many tokens as common models count, for text of any script.

    A run of Latin letters counts one token and one more for every four letters after the first
    six; every other visible character counts one, digits and punctuation included. English prose
    comes out 10 to 30 % too high, dense text about right.
    """
    shape = b" " + text.encode("utf-8", "surrogatepass").translate(_SHAPE)
    tokens = len("".join(text.split())) - shape.count(b"a")
    # A run counts one token as such, one more from seven letters on, one from eleven, and so on.
    length = 1
    while length < _LONG_RUN and (runs := shape.count(b" " + b"a" * length)):
        tokens += runs
        length = max(length + 4, 7)
    if length >= _LONG_RUN:
        runs_of = (len(run) for run in _WORD.findall(text))
        tokens += sum((run - length) // 4 + 1 for run in runs_of if run >= length)
    return tokens


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
