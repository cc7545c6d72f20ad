"""Tells mail by how it begins."""

from __future__ import annotations

import re

#: Where a message of an mbox begins: "From sender date" after a blank line or at the start.
BEGINS = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\n]*\d{4}[^\n]*\n")
#: Header lines at the start of bytes, and the names that a letter has.
_HEAD = re.compile(rb"(?:[!-9;-~]+:[^\n]*\n(?:[ \t][^\n]*\n)*){2,}")
_SURE = re.compile(rb"^(?:Received|Message-ID|MIME-Version|Return-Path):", re.I | re.M)
_FROM = re.compile(rb"^From:", re.I | re.M)
_OTHER = re.compile(rb"^(?:To|Date|Subject):", re.I | re.M)


def mail_format(data: bytes, *, sure: bool = False) -> str:
    """ "eml" or "mbox" for bytes that begin as mail does, else "".

    Two header lines are enough when something else makes `sure` of it, such as the file's name.
    """
    head = data[:20_000].replace(b"\r\n", b"\n")
    first = BEGINS.match(head)
    found = _HEAD.match(head, first.end() if first else 0)
    if not found:
        return ""
    lines = found[0]
    if not sure and not (
        _FROM.search(lines) and _OTHER.search(lines) and (first or _SURE.search(lines))
    ):
        return ""
    return "mbox" if first else "eml"
