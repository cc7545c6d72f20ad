"""Collects the text of a page with its white space collapsed, and where its parts stand."""

from __future__ import annotations

import re
import unicodedata

from ragpg.ingest.clean import clean_text
from ragpg.ingest.loaders.outline import Heading

_SPACE = re.compile(r"[ \t\n\r\f]+")


class TextWriter:
    """Grows a text. Line ends are kept back until text follows, so none pile up."""

    def __init__(self) -> None:
        self.headings: list[Heading] = []
        self.blocks: list[tuple[int, int]] = []
        #: The next number of each open list; 0 where it has bullets.
        self.lists: list[int] = []
        #: Whether text was written that keeps its white space.
        self.verbatim = False
        self._parts: list[str] = []
        self._length = 0
        self._newlines = 0
        self._space = False
        self._marker = ""

    def text(self) -> str:
        """All that was written, ended by a line end."""
        return "".join(self._parts) + ("\n" if self._parts else "")

    def place(self) -> int:
        """Where the next text of a new line will stand."""
        return self._length + (self._newlines if self._length else 0)

    def break_line(self, newlines: int) -> None:
        """At least this many line ends before the next text; two make a blank line."""
        self._newlines = max(self._newlines, newlines)
        self._space = False

    def inline(self, text: str) -> None:
        """Running text: every stretch of white space counts as one blank."""
        words = _SPACE.sub(" ", text)
        core = words.strip(" ")
        self._space = self._space or words.startswith(" ")
        if core:
            self._write(core)
            self._space = words.endswith(" ")

    def item(self) -> None:
        """The marker of a list item, written together with its text."""
        number = self.lists[-1] if self.lists else 0
        if number:
            self.lists[-1] += 1
        indent = "  " * max(len(self.lists) - 1, 0)
        self._marker = f"{indent}{number}. " if number else f"{indent}- "

    def close_list(self, start: int) -> None:
        """Ends the innermost list; the outermost is a block from `start` on."""
        self._marker = ""
        if self.lists:
            self.lists.pop()
        if not self.lists and self._length > start:
            self.blocks.append((start, self._length))
        self.break_line(1 if self.lists else 2)

    def block(self, text: str) -> None:
        """Text that keeps its white space and should not be cut."""
        text = text.strip("\r\n").rstrip()
        if not text:
            return
        self.break_line(2)
        start = self.place()
        self._write(text)
        self.blocks.append((start, self._length))
        self.verbatim = True
        self.break_line(2)

    def append(self, other: TextWriter) -> None:
        """All that another writer collected, on lines of its own."""
        text = other.text().rstrip("\n")
        if not text:
            return
        self.break_line(1)
        start = self.place() + len(self._marker)
        self._write(text)
        self.blocks += [(first + start, last + start) for first, last in other.blocks]
        self.headings += [
            Heading(heading.start + start, heading.level, heading.text)
            for heading in other.headings
        ]
        self.verbatim = self.verbatim or other.verbatim
        self.break_line(1)

    def heading(self, start: int, level: int) -> None:
        """Everything from `start` on was a heading; not if that is no text or holds a heading."""
        if self._length <= start or (self.headings and self.headings[-1].start >= start):
            return
        parts, length = [], self._length
        for part in reversed(self._parts):
            if length <= start:
                break
            parts.append(part)
            length -= len(part)
        self.headings.append(Heading(start, level, "".join(reversed(parts))))

    def _write(self, text: str) -> None:
        # Entities bring characters that were not there when the file was cleaned.
        text, _ = clean_text(text)
        if not text:
            return
        if self._length and (self._newlines or self._space):
            self._append("\n" * self._newlines or " ")
        elif self._parts and unicodedata.combining(text[0]):
            # An accent in an element of its own composes with the letter before.
            last = self._parts.pop()
            self._length -= len(last)
            text = unicodedata.normalize("NFC", last + text)
        self._newlines, self._space = 0, False
        if self._marker:
            self._append(self._marker)
            self._marker = ""
        self._append(text)

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
