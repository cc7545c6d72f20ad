"""A streamed answer as server-sent events: started, delta, repairing, revised, done, or error."""

from __future__ import annotations

import json
import logging
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from ragpg import RagpgError
from ragpg.types import Delta, Done, Repairing, Revised, Started

from .sources import link_to

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from ragpg import Hit
    from ragpg.types import AnswerEvent

_LOG = logging.getLogger(__name__)


async def as_events(answer: AsyncIterator[AnswerEvent]) -> AsyncIterator[str]:
    """The events of an answer, as text. Whoever stops reading stops the search or the model: the
    generator is closed with this one, and no connection is held while the model writes."""
    async with aclosing(cast("AsyncGenerator[AnswerEvent]", answer)) as events:
        try:
            async for event in events:
                yield _sent(event)
        except RagpgError as error:
            yield event_text("error", {"message": error.message, "hint": error.hint})
        except Exception:
            # The status is sent already; the reader learns no more than that it failed.
            _LOG.exception("an answer failed")
            yield event_text("error", {"message": "the answer failed", "hint": None})


def event_text(kind: str, data: dict[str, Any]) -> str:
    """One event; JSON has no line breaks of its own, which would end it."""
    return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False, default=str)}\n\n"


def hit_json(hit: Hit) -> dict[str, Any]:
    """What a reader sees of a hit, with the link that opens it."""
    return {
        "rank": hit.rank,
        "score": hit.score,
        "namespace": hit.namespace,
        "source": hit.source,
        "lines": hit.lines,
        "page": hit.page,
        "heading": hit.breadcrumb,
        "content": hit.content,
        "link": link_to(hit),
    }


def _sent(event: AnswerEvent) -> str:
    match event:
        case Started(result):
            hits = [hit_json(hit) for hit in result.hits]
            tokens = result.context_tokens
            return event_text("started", {"context_tokens": tokens, "hits": hits})
        case Delta(text):
            return event_text("delta", {"text": text})
        case Repairing(claims):
            weak = [{"text": one.text, "reasons": list(one.reasons)} for one in claims]
            return event_text("repairing", {"claims": weak})
        case Revised(text, revision, notes):
            return event_text("revised", {"text": text, "revision": revision, "notes": list(notes)})
        case Done(answer):
            grounding = answer.grounding
            return event_text(
                "done",
                {
                    "text": answer.text,
                    "refused": answer.refused,
                    "citations": [
                        {"number": one.number, **hit_json(one.hit)} for one in answer.citations
                    ],
                    "grounding": {"state": grounding.state, "confidence": grounding.confidence},
                    "tokens": [answer.usage.input_tokens, answer.usage.output_tokens],
                },
            )
