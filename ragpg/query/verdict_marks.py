"""The text of a grounded answer with its weak claims marked, or without them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ragpg.query.emptied import emptied

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.types import Grounding

#: What may be left of the line of a list item whose text is dropped.
_ITEM = " \t>-*+•_.)(0123456789"


def mark_answer(grounding: Grounding, mode: Literal["mark", "drop"] = "mark") -> str:
    """The answer with its unsupported and contradicted claims marked, or without them.

    mark puts "[unsupported]" or "[contradicted]" behind the claim. drop takes the sentence out, and
    with it a list item that holds nothing else, the head of a table without rows, and the words
    that introduce a list or table of which nothing is left.
    """
    text = grounding.answer
    weak = [one for one in grounding.claims if one.verdict in ("unsupported", "contradicted")]
    if mode == "drop":
        spans = [(claim.start, claim.end) for claim in weak]
        for start, end in reversed(_apart([*spans, *emptied(text, spans)])):
            text = _without(text, start, end)
        return text.strip()
    for claim in sorted(weak, key=lambda one: one.start, reverse=True):
        # Behind the last bar of a row a table has no cell that would be shown.
        before = text[: claim.end].rstrip()
        end = len(before) - 1 if before.endswith("|") else claim.end
        text = f"{text[:end].rstrip()} [{claim.verdict}]{' ' * (end < claim.end)}{text[end:]}"
    return text


def _apart(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order; those that overlap are one, as a lead-in that is a weak claim itself."""
    apart: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


def _without(text: str, start: int, end: int) -> str:
    before, after = text[:start], text[end:]
    line = before[before.rfind("\n") + 1 :]
    if not line.strip(_ITEM) and not after.partition("\n")[0].strip(" *_"):
        before, after = before[: len(before) - len(line)], after.partition("\n")[2]
        # One empty line between what is left, not two.
        if before.endswith("\n\n") and after.startswith("\n"):
            after = after[1:]
        return before + after
    return before.rstrip(" \t") + after if after[:1] in ("", "\n") else before + after.lstrip()
