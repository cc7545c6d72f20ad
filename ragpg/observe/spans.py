"""Stages as spans of OpenTelemetry, where opentelemetry-api is installed; else nothing happens.

Attributes follow the semantic conventions for generative AI (gen_ai.*) and databases (db.*) where
those have a word for it, and are called ragpg.* where they have none.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragpg.observe.stage import Stage

#: What the conventions want to know of a stage beside what the stage says itself.
_FIXED: dict[str, dict[str, str]] = {
    "search": {"gen_ai.operation.name": "retrieval"},
    "embed": {"gen_ai.operation.name": "embeddings"},
    "generate": {"gen_ai.operation.name": "chat"},
    "retrieve": {"db.system.name": "postgresql", "db.operation.name": "search_run"},
    "store": {"db.system.name": "postgresql", "db.operation.name": "store_staged"},
}
#: Facts that the conventions have a name for; all others are ragpg.<fact>.
_NAMES = {"model": "gen_ai.request.model", "query": "gen_ai.retrieval.query.text"}


@lru_cache(maxsize=1)
def _api() -> Any:
    try:
        from opentelemetry import context, trace
    except ImportError:
        return None
    return context, trace


def start(opened: Stage) -> Any:
    """The span of a stage, below that of the stage around it; None without OpenTelemetry."""
    api = _api()
    if api is None:
        return None
    _, trace = api
    above = None if opened.parent is None else trace.set_span_in_context(opened.parent.span)
    return trace.get_tracer("ragpg").start_span(
        f"ragpg.{opened.name}", context=above, attributes=_FIXED.get(opened.name)
    )


def enter(span: Any) -> Any:
    """Make a span the current one, so that those of other libraries come below it; the token to
    leave it with."""
    if span is None:
        return None
    context, trace = _api()
    return context.attach(trace.set_span_in_context(span))


def leave(token: Any) -> None:
    """Make the former span the current one again."""
    if token is not None:
        context, _ = _api()
        context.detach(token)


def end(opened: Stage) -> None:
    """End the span of a stage with what the stage has to say."""
    span = opened.span
    if span is None:
        return
    _, trace = _api()
    if span.is_recording():
        span.set_attributes(_attributes(opened))
        if opened.error is not None:
            message = str(opened.error) if opened.tells else None
            span.set_status(trace.Status(trace.StatusCode.ERROR, message))
    span.end()


def _attributes(opened: Stage) -> dict[str, Any]:
    facts: dict[str, Any] = dict(opened.facts)
    if opened.tells:
        facts |= opened.content
    found = {_NAMES.get(name, f"ragpg.{name}"): value for name, value in facts.items()}
    found["ragpg.ms"] = round(opened.ms, 3)
    if opened.namespaces:
        found["ragpg.namespaces"] = list(opened.namespaces)
        found["gen_ai.data_source.id"] = ",".join(opened.namespaces)
    if opened.spent:
        usage = opened.usage
        found["gen_ai.usage.input_tokens"] = usage.input_tokens
        found["gen_ai.usage.output_tokens"] = usage.output_tokens
        found["ragpg.category"] = opened.category
        if usage.cost_usd is not None:
            found["ragpg.usd"] = usage.cost_usd
    if opened.error is not None:
        found["error.type"] = type(opened.error).__name__
        sqlstate = getattr(opened.error, "sqlstate", None)
        if sqlstate:
            found["db.response.status_code"] = sqlstate
    return {name: value for name, value in found.items() if value is not None}
