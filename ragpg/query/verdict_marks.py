"""The text of a grounded answer with its weak claims marked, or without them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ragpg.types import Grounding


def mark_answer(grounding: Grounding, mode: Literal["mark", "drop"] = "mark") -> str:
    """The answer with its unsupported and contradicted claims marked, or without them.

    mark puts "[unsupported]" or "[contradicted]" behind the claim; drop takes the sentence out, and
    with it a list item that holds nothing else.
    """
    text = grounding.answer
    for claim in sorted(grounding.claims, key=lambda one: one.start, reverse=True):
        if claim.verdict not in ("unsupported", "contradicted"):
            continue
        if mode == "mark":
            # Behind the last bar of a row a table has no cell that would be shown.
            before = text[: claim.end].rstrip()
            end = len(before) - 1 if before.endswith("|") else claim.end
            text = f"{text[:end].rstrip()} [{claim.verdict}]{' ' * (end < claim.end)}{text[end:]}"
            continue
        before, after = text[: claim.start], text[claim.end :]
        line = before[before.rfind("\n") + 1 :]
        if not line.strip(" \t>-*+•_.)(0123456789") and not after.partition("\n")[0].strip(" *_"):
            before, after = before[: len(before) - len(line)], after.partition("\n")[2]
            text = before + after
        else:
            text = (
                before.rstrip(" \t") + after if after[:1] in ("", "\n") else before + after.lstrip()
            )
    return text.strip() if mode == "drop" else text
