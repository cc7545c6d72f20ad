"""What an OpenAI-shaped service says, in terms of this package: faults and vectors."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

from ragpg.errors import BadEmbedding, ContextTooLong, ProviderError, RateLimited, Scope
from ragpg.providers.retry import Fault, asked_pause
from ragpg.types import Usage

_TOO_LONG = re.compile(
    r"context[ _]length|too long|too many tokens|too large|maximum (input|context|sequence)"
    r"|max_tokens_per_request|exceed\w* .{0,60}\b(tokens?|length|context)|\btokens?\b.{0,40}exceed"
    # Also passes in smaller batches: more texts than the service takes at once.
    r"|batch size|too many inputs|array (is )?too long|maximum array length",
    re.IGNORECASE,
)
_ABOUT_INPUT = re.compile(r"\bnan\b|unsupported value|infinit", re.IGNORECASE)
_USED_UP = re.compile(r"insufficient_quota|billing|credit balance", re.IGNORECASE)


def fault(error: Any, *, url: str, secrets: Sequence[str], sent: Mapping[str, Any]) -> Fault:
    """A Fault for an exception of the client library (read by its attributes, never imported).

    The exception itself is not kept as a cause: it holds request headers, and services like to
    repeat the key that they refuse.
    """
    where = urlsplit(url).hostname or url
    status: int | None = getattr(error, "status_code", None)
    if status is None:
        cause = type(error.__cause__ or error).__name__
        message = f"no answer from {where} ({cause})"
        return Fault(ProviderError(message, scope="service"), again=True)
    body = getattr(error, "body", None)
    details = body if isinstance(body, Mapping) else {}
    text = str(details.get("message") or details.get("error") or details.get("detail") or body)
    text = hide(text, secrets)[:300]
    said = f"{where} answered {status}: {text}"
    kind = f"{details.get('code')} {details.get('type')} {text}"
    after = asked_pause(error.response.headers)

    if status == 429:
        if _USED_UP.search(kind):
            return Fault(RateLimited(said, hint="The quota is used up: see the plan and billing."))
        return Fault(RateLimited(said), again=True, after=after)
    if status in (401, 403):
        hint = "Check the API key (OPENAI_API_KEY or api_key=) and what it may use."
        return Fault(ProviderError(said, hint=hint, scope="service"))
    if status == 404:
        hint = "Check the model name and base_url."
        return Fault(ProviderError(said, hint=hint, scope="service"))
    if status >= 500 or status in (408, 409):
        if _ABOUT_INPUT.search(text):
            return Fault(ProviderError(said, scope="input"))
        scope: Scope = "service" if status in (502, 503, 504) else "unknown"
        return Fault(ProviderError(said, scope=scope), again=True, after=after)
    if "dimensions" in sent and "dimension" in text.lower():
        hint = "This service or model does not take 'dimensions': leave it unset."
        return Fault(ProviderError(f"{said} (field 'dimensions')", hint=hint, scope="service"))
    if status == 413 or _TOO_LONG.search(kind):
        return Fault(ContextTooLong(said))
    return Fault(ProviderError(said))


def hide(text: str, secrets: Sequence[str]) -> str:
    """The text with every secret, plain or URL-encoded, replaced by ***."""
    for secret in secrets:
        for form in {secret, quote(secret, safe="")} - {""}:
            text = text.replace(form, "***")
    return text


def secrets_of(key: str, url: str) -> list[str]:
    """What must never be shown: the key, and a password or query in the address."""
    parts = urlsplit(url)
    return [secret for secret in (key, parts.password, parts.query) if secret]


def read_vectors(answer: Any, *, count: int, dimensions: int | None) -> list[list[float]]:
    """Vectors in the order of the texts, by the index that each item carries.

    Without any index the order of the answer counts. A value that is no number becomes NaN: only
    that one text is bad, and the caller says which. Raises BadEmbedding for a wrong count, a gap
    or repetition in the numbering, or a wrong length.
    """
    items = answer.get("data") if isinstance(answer, Mapping) else None
    if not isinstance(items, list) or len(items) != count:
        found = len(items) if isinstance(items, list) else "no"
        raise BadEmbedding(f"{found} vectors for {count} texts", scope="service")
    numbers = [item.get("index") for item in items]
    if all(number is None for number in numbers):
        numbers = list(range(count))
    if sorted(map(repr, numbers)) != sorted(map(repr, range(count))):
        raise BadEmbedding(
            f"vectors for {count} texts are numbered {numbers[:10]}", scope="service"
        )
    vectors: list[list[float]] = [[]] * count
    for number, item in zip(numbers, items, strict=True):
        values = item.get("embedding")
        if not isinstance(values, list):
            raise BadEmbedding(f"text {number} has no vector but {type(values).__name__}")
        vectors[number] = [
            value if isinstance(value, float) else _number(value) for value in values
        ]
    lengths = sorted({len(vector) for vector in vectors})
    if len(lengths) > 1 or (dimensions is not None and lengths != [dimensions]):
        expected = f", expected {dimensions}" if dimensions is not None else " in one answer"
        raise BadEmbedding(
            f"vectors of length {' and '.join(map(str, lengths))}{expected}",
            hint="The model changed or ignores 'dimensions'. Correct the setting, or embed the "
            "documents again into a new embedding space.",
            scope="service",
        )
    return vectors


def read_tokens(answer: Any) -> int:
    """Tokens that the service counted for an answer with vectors; 0 where it does not say."""
    counted = answer.get("usage") if isinstance(answer, Mapping) else None
    if not isinstance(counted, Mapping):
        return 0
    found = counted.get("prompt_tokens") or counted.get("total_tokens")
    return found if isinstance(found, int) and found > 0 else 0


def read_completion(answer: Any, *, prices: tuple[float, float] | None) -> tuple[str, Usage]:
    """Text and usage of a chat completion. Raises ProviderError when there is no text, with the
    reason that the service gave."""
    choices = answer.get("choices") if isinstance(answer, Mapping) else None
    if not choices:
        raise ProviderError("the model service returned no choice")
    message = choices[0].get("message") or {}
    text = message.get("content")
    if not isinstance(text, str):
        reason = message.get("refusal") or choices[0].get("finish_reason")
        raise ProviderError(f"the model returned no text: {str(reason)[:200]}")
    counted = answer.get("usage") or {}
    used = (counted.get("prompt_tokens"), counted.get("completion_tokens"))
    return text, read_usage(*used, prices)


def read_usage(given: int | None, written: int | None, prices: tuple[float, float] | None) -> Usage:
    """Tokens in and out, with their cost where prices (USD per million) are known."""
    used = (given or 0, written or 0)
    cost = None if prices is None else (used[0] * prices[0] + used[1] * prices[1]) / 1e6
    return Usage(input_tokens=used[0], output_tokens=used[1], cost_usd=cost)


def usable(vector: Sequence[float]) -> bool:
    """Whether all numbers are finite and one is not zero."""
    total = sum(map(abs, vector))
    return math.isfinite(total) and total > 0.0


def _number(value: Any) -> float:
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return math.nan
