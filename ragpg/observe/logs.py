"""Stages as events of the standard logging module: one a stage (DEBUG) and one a call (INFO), on
the logger ragpg.<call>. A call that went on without a stage that failed is a WARNING; one that
raised is none, because its caller knows.

Every field of an event is an attribute of its record, so that a formatter of JSON finds it. No
query, text, answer, address or message of an error is in it, unless a client's settings say
`log_content`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragpg.observe.stage import Stage


def tell(ended: Stage) -> None:
    """Log how a stage ended."""
    level = logging.DEBUG if ended.parent is not None else logging.INFO
    if ended.parent is None and "failed" in ended.facts:
        level = logging.WARNING
    log = logging.getLogger(f"ragpg.{ended.root.name}")
    if not log.isEnabledFor(level):
        return
    fields = _fields(ended)
    said = ", ".join(f"{name}={value}" for name, value in fields.items() if name != "event")
    log.log(level, "%s %s", ended.name, said, extra=fields)


def _fields(ended: Stage) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "event": ended.name,
        "namespaces": list(ended.namespaces),
        "ms": round(ended.ms, 3),
        **ended.facts,
    }
    if ended.spent:
        usage = ended.usage
        fields["category"] = ended.category
        fields["input_tokens"], fields["output_tokens"] = usage.input_tokens, usage.output_tokens
        fields["usd"] = usage.cost_usd
    if ended.error is not None:
        fields["error"] = type(ended.error).__name__
        if sqlstate := getattr(ended.error, "sqlstate", None):
            fields["sqlstate"] = sqlstate
    if ended.tells:
        fields |= ended.content
        if ended.error is not None:
            fields["reason"] = str(ended.error)
    return fields
