"""An answer on standard output: whole or as it is written, for people or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ragpg.cli import output
from ragpg.query.grounding_report import grounding_json, render_grounding
from ragpg.types import Answer, Delta, Done, Repairing, Revised, Started

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragpg.types import AnswerEvent


def show_answer(answer: Answer, *, shown: str = "") -> None:
    """Print text, sources and verdicts; the text only where `shown` is another one."""
    for remark in (*answer.result.notes, *answer.notes):
        output.note(remark)
    if answer.text.strip() != shown.strip():
        click.echo(f"\n{answer.text}" if shown else answer.text)
    if answer.citations:
        click.echo("\nSources:")
        for one in answer.citations:
            click.echo(f"[{one.number}] {output.place(one.hit)}  {one.hit.breadcrumb}".rstrip())
    if not answer.refused:
        click.echo(f"\n{render_grounding(answer.grounding)}")


def answer_json(question: str, answer: Answer) -> dict[str, Any]:
    """An answer in the documented form; see docs/cli.md."""
    return {
        "question": question,
        "answer": answer.text,
        "refused": answer.refused,
        "revision": answer.revision,
        "draft": answer.draft,
        "citations": [
            {"number": one.number} | output.hit_json(one.hit) for one in answer.citations
        ],
        "grounding": grounding_json(answer.grounding),
        "usage": {
            "input_tokens": answer.usage.input_tokens,
            "output_tokens": answer.usage.output_tokens,
            "cost_usd": answer.usage.cost_usd,
        },
        **{
            key: value for key, value in output.result_json(answer.result).items() if key != "query"
        },
        "notes": [*answer.result.notes, *answer.notes],
    }


def show_events(events: Iterable[AnswerEvent]) -> Answer:
    """Print the text while it is written, then what is to be said of it; returns the answer.

    What was printed cannot be taken back: a text that is withdrawn is told on standard error, and
    the other one follows.
    """
    shown, answer = "", None
    try:
        for event in events:
            match event:
                case Delta(text):
                    shown += text
                    click.echo(text, nl=False)
                case Repairing(claims):
                    click.echo()
                    many = "1 claim" if len(claims) == 1 else f"{len(claims)} claims"
                    output.note(f"{many} did not hold; the answer is written again:")
                    shown = ""
                case Revised():
                    shown += " (withdrawn)"
                case Done(found):
                    answer = found
    finally:
        click.echo()
    assert answer is not None
    show_answer(answer, shown=shown)
    return answer


def print_events(question: str, events: Iterable[AnswerEvent]) -> Answer:
    """Print each event as a line of JSON, the answer in the last one; returns the answer."""
    answer = None
    for event in events:
        output.print_json(_event_json(question, event))
        if isinstance(event, Done):
            answer = event.answer
    assert answer is not None
    return answer


def _event_json(question: str, event: AnswerEvent) -> dict[str, Any]:
    match event:
        case Started(result):
            return {
                "event": "started",
                "hits": len(result.hits),
                "context_tokens": result.context_tokens,
            }
        case Delta(text):
            return {"event": "delta", "text": text}
        case Repairing(claims):
            weak = [
                {"text": one.text, "verdict": one.verdict, "reasons": list(one.reasons)}
                for one in claims
            ]
            return {"event": "repairing", "claims": weak}
        case Revised(text, revision, notes):
            return {"event": "revised", "text": text, "revision": revision, "notes": list(notes)}
        case Done(answer):
            return {"event": "done", **answer_json(question, answer)}
