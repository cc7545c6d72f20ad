"""What a model thinks aloud before it answers: no part of the answer, also while it is written."""

from __future__ import annotations

import re

_OPEN = ("<think>", "<thinking>")
_CLOSE = re.compile(r"</think(?:ing)?>\s*", re.IGNORECASE)
_LONGEST = len("</thinking>")


class Spoken:
    """Takes a text in pieces and gives what of it is the answer: all of it but a thought at its
    beginning, between <think> and </think>. A thought that is not closed has no answer."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "undecided"

    def feed(self, piece: str) -> str:
        """What can be said now, without NUL and halves of surrogate pairs, which neither a database
        nor a browser takes."""
        piece = _sound(piece)
        if self._state == "text":
            return piece
        self._held += piece
        if self._state == "undecided":
            begin = self._held.lstrip().lower()
            if not begin or any(tag.startswith(begin) for tag in _OPEN):
                return ""
            if not begin.startswith(_OPEN):
                return self._said(self._held)
            self._state = "thought"
        if self._state == "thought":
            closed = _CLOSE.search(self._held)
            if closed is None:
                # Enough of it to know the closing mark by, which may come in pieces.
                self._held = self._held[-_LONGEST:]
                return ""
            self._held, self._state = self._held[closed.end() :], "behind"
        # White space behind a thought may go on in the next piece.
        begun = self._held.lstrip()
        self._held = ""
        return self._said(begun) if begun else ""

    def end(self) -> str:
        """What is left to be said when nothing more comes."""
        return self._said(self._held) if self._state == "undecided" else ""

    def _said(self, text: str) -> str:
        self._held, self._state = "", "text"
        return text


def _sound(text: str) -> str:
    if text.isascii():
        return text.replace("\0", "")
    # Through UTF-16, where two halves that came apart become their character.
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return whole.replace("\0", "")


def spoken(text: str) -> str:
    """A whole text without the thought at its beginning."""
    taken = Spoken()
    return taken.feed(text) + taken.end()
