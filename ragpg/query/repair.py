"""What is done about claims without support: a round of repair by the model, or a gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragpg.query.ground import ground_flow
from ragpg.steps import Flow, complete

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.protocols import AsyncGenerator, Generator, Judge
    from ragpg.types import Claim, Grounding, Hit, Usage

#: What a gate says in the place of an answer.
GATED = "The sources do not support an answer to this well enough."

_TASK = """\
Some statements of your answer were checked against the sources and did not hold:

{claims}

Write the whole answer again. Correct each of these statements by the sources, or leave it out. \
Keep the others word for word, with their source numbers. Add nothing new. If nothing is left, \
write: I could not find this in the sources."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """The better of two answers with its verdicts; `usage` and `note` of the round, if there was
    one."""

    text: str
    grounding: Grounding
    usage: Usage | None = None
    note: str | None = None


def weak_claims(grounding: Grounding) -> list[Claim]:
    """The claims that are unsupported or contradicted."""
    return [one for one in grounding.claims if one.verdict in ("unsupported", "contradicted")]


def gated(grounding: Grounding, gate: float | None) -> str | None:
    """What to say instead of an answer whose confidence is below the gate, or None to let it pass.

    `gate` is between 0 and 1; None never closes. An answer without claims passes.
    """
    return None if gate is None or grounding.passes(gate) else GATED


def repair_messages(
    messages: Sequence[Mapping[str, str]], answer: str, grounding: Grounding
) -> list[Mapping[str, str]]:
    """The conversation that led to an answer, the answer, and what was wrong with it."""
    lines = []
    for claim in weak_claims(grounding):
        said = " ".join(claim.text.split())
        why = "; ".join(claim.reasons) or "the sources do not say this"
        lines.append(f'- "{said}" ({claim.verdict}: {why})')
    # Replaced once, never formatted: braces of an answer mean nothing.
    task = _TASK.replace("{claims}", "\n".join(lines), 1)
    return [
        *messages,
        {"role": "assistant", "content": answer},
        {"role": "user", "content": task},
    ]


def repair(
    answer: str,
    hits: Sequence[Hit],
    generator: Generator | AsyncGenerator,
    messages: Sequence[Mapping[str, str]],
    judge: Judge | None = None,
) -> Flow[Repaired]:
    """An answer without its weak claims, where the model can mend them in one round.

    `hits` are the sources in the order of the numbers that the answer uses, `messages` the
    conversation that it came from. The second answer is taken only when it is better: fewer
    contradicted claims, then higher confidence. A model that fails leaves the first one.
    """
    first: Grounding = yield from ground_flow(answer, hits, judge)
    weak = weak_claims(first)
    if not weak:
        return Repaired(answer, first)
    try:
        text, usage = yield from complete(generator, repair_messages(messages, answer, first))
    except Exception as error:
        return Repaired(answer, first, note=f"the round of repair failed: {error}")
    if not text.strip():
        return Repaired(answer, first, usage, "the round of repair gave no text")
    second: Grounding = yield from ground_flow(text, hits, judge)
    if _rank(second) <= _rank(first):
        return Repaired(answer, first, usage, "the round of repair gave no better answer")
    left = len(weak_claims(second))
    note = f"{len(weak)} weak claims were sent back" + (f", {left} are left" if left else "")
    return Repaired(text, second, usage, note)


def _rank(grounding: Grounding) -> tuple[int, float]:
    contradicted = sum(claim.verdict == "contradicted" for claim in grounding.claims)
    # Without claims there is nothing wrong: an honest "I could not find this".
    return -contradicted, 1.0 if grounding.confidence is None else grounding.confidence
