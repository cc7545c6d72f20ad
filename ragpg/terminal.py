"""Text for a terminal: what a name may hold must neither steer it, forge a line, nor end a command.

Names of namespaces, files and roles are anybody's text. Whoever prints them calls `visible`,
whoever puts them into a command that is to be pasted calls `shell_word` or `shell_argument`.
"""

from __future__ import annotations

import re
import shlex

#: Controls, separators of lines and paragraphs, and marks that turn the order of writing round.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_UNSEEN_IN_LINES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """The text on one line: line breaks, tabs and controls as their escapes, as in \\n or \\x1b."""
    return _UNSEEN.sub(_escape, text)


def visible_lines(text: str) -> str:
    """The same for a text of several lines, whose line feeds and tabs stay."""
    return _UNSEEN_IN_LINES.sub(_escape, text)


def shell_word(text: str) -> str:
    """The text as one word of a shell command. Controls become $'...', which bash, zsh and ksh
    read, so that the command stays on one line and can be pasted."""
    if not _UNSEEN.search(text):
        return shlex.quote(text)
    inside = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{_UNSEEN.sub(_escape, inside)}'"


def shell_argument(text: str) -> str:
    """The text as the last argument of a command that has options before it: a name that begins
    with a dash is no option then."""
    return f"-- {shell_word(text)}" if text.startswith("-") else shell_word(text)


def _escape(found: re.Match[str]) -> str:
    # \\x80 would be a byte in a shell, not a character.
    return ascii(found[0])[1:-1] if found[0].isascii() else f"\\u{ord(found[0]):04x}"
