"""Fills the HTML pages that ship with the package."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def filled(template: str, parts: Mapping[str, str]) -> str:
    """A template with its marks, as {{title}}, replaced in one pass: a part may hold the mark of
    another one."""
    out = []
    for piece in template.split("{{"):
        mark, closed, rest = piece.partition("}}")
        out.append(parts[mark] + rest if closed and mark in parts else piece)
    return "".join(out)


def as_data(value: Any) -> str:
    """JSON for the inside of a script element, which no text in it can end."""
    return json.dumps(value, ensure_ascii=True).replace("<", "\\u003c")


def script_source(template: str) -> str:
    """The source that a content security policy allows for the template's own script: its hash, so
    that nothing else is run, whatever gets into the page."""
    found = re.search(r"<script>(.*?)</script>", template, flags=re.DOTALL)
    assert found is not None
    digest = base64.b64encode(hashlib.sha256(found[1].encode()).digest()).decode()
    return f"'sha256-{digest}'"
