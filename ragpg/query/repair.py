"""A round of repair: the claims of an answer that did not hold go back to the model, once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from ragpg.query.evidence import without_markers
from ragpg.query.markers import find_markers
from ragpg.query.prompt import is_refusal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.types import Claim, Grounding

_TASK = """\
Some statements of your answer were checked against the sources and did not hold:

{claims}

Write the whole answer again. Correct each of these statements by the sources, or leave it out. \
Keep the others word for word, with their source numbers. Add nothing new. If nothing is left, \
write: I could not find this in the sources."""


class Checked(Protocol):
    """An answer with its verdicts."""

    @property
    def grounding(self) -> Grounding: ...


T = TypeVar("T", bound=Checked)


@dataclass(frozen=True, slots=True)
class Round(Generic[T]):
    """An answer with its verdicts; after a round of repair whether it is a `better` one than the
    first, and what came of it."""

    text: str
    checked: T
    note: str = ""
    better: bool = False

    def kept(self, why: str) -> Round[T]:
        """This answer, which stays because the second one is no better."""
        return replace(self, note=f"{why}; the first answer stays")


def weak_claims(grounding: Grounding) -> list[Claim]:
    """The claims that are unsupported or contradicted."""
    return [one for one in grounding.claims if one.verdict in ("unsupported", "contradicted")]


def repair_messages(
    messages: Sequence[Mapping[str, str]], answer: str, grounding: Grounding
) -> list[Mapping[str, str]]:
    """The conversation that led to an answer, the answer, and what was wrong with it."""
    lines = []
    for claim in weak_claims(grounding):
        # Without its numbers: rendered ones may differ from those that the model knows.
        said = " ".join(without_markers(claim.text, 0, find_markers(claim.text)).split())
        why = "; ".join(claim.reasons) or "the sources do not say this"
        lines.append(f'- "{said}" ({claim.verdict}: {why})')
    # Replaced once, never formatted: braces of an answer mean nothing.
    task = _TASK.replace("{claims}", "\n".join(lines), 1)
    return [
        *messages,
        {"role": "assistant", "content": answer},
        {"role": "user", "content": task},
    ]


def better_of(first: Round[T], second: Round[T]) -> Round[T]:
    """The second answer where it is better: fewer contradicted claims, then higher confidence."""
    before, after = first.checked.grounding, second.checked.grounding
    if _says_nothing(second.text, after, before) or _rank(after) <= _rank(before):
        return first.kept("the round of repair gave no better answer")
    left = len(weak_claims(after))
    note = f"{len(weak_claims(before))} weak claims were sent back"
    return replace(second, note=note + (f", {left} are left" if left else ""), better=True)


def _says_nothing(text: str, second: Grounding, first: Grounding) -> bool:
    """Whether the second answer has no claims, and is no honest "I could not find this" either, in
    place of an answer of which nothing has support."""
    if second.claims:
        return False
    supported = any(claim.verdict in ("supported", "partial") for claim in first.claims)
    return supported or not is_refusal(text)


def _rank(grounding: Grounding) -> tuple[int, float]:
    contradicted = sum(claim.verdict == "contradicted" for claim in grounding.claims)
    # Without claims there is nothing wrong: an honest "I could not find this".
    return -contradicted, 1.0 if grounding.confidence is None else grounding.confidence
