"""Which passages were shown, and which of them deserve the credit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ragpg.arguments import whole
from ragpg.errors import ConfigError
from ragpg.types import Answer, Citation, Evidence, Hit, SearchResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.types import Grounding

#: A followed passage: a hit, a citation or evidence of one, its number in the context, or the
#: source of a document, which means all its passages that were shown.
Used: TypeAlias = "Hit | Citation | Evidence | int | str"


@dataclass(frozen=True, slots=True)
class Showing:
    """A passage that was shown at a rank, from 1, and whether it was followed."""

    namespace: str
    chunk_id: int
    rank: int
    followed: bool


def showings(
    shown: SearchResult | Answer, used: Iterable[Used] | None = None, *, count: int | None = None
) -> list[Showing]:
    """Every passage that was shown, once, with its rank and whether it was followed.

    Of a SearchResult the first `count` hits were shown (None: all), and `used` are the followed
    ones. Of an Answer the sources in its context were shown; without `used` those are followed
    that are evidence of a claim found to be supported: having been read, or having been cited for
    something that they do not say, earns nothing. Hits of outside retrievers are left out.

    Raises ConfigError for a `used` that was not shown.
    """
    if count is not None:
        whole("count", count)
    if isinstance(shown, Answer):
        hits = [] if shown.refused else [one.hit for one in shown.result.citations]
        followed = (
            set(supporting(shown.grounding)) if used is None else _ids(used, shown.citations, hits)
        )
    elif not isinstance(shown, SearchResult):
        raise ConfigError(f"shown must be a result or an answer, not a {type(shown).__name__}")
    else:
        hits = list(shown.hits if count is None else shown.hits[:count])
        followed = _ids(used or (), shown.citations, hits)
    best: dict[int, Hit] = {}
    for hit in hits:
        if hit.chunk_id is not None:
            best.setdefault(hit.chunk_id, hit)
    return [
        Showing(hit.namespace, chunk, hit.rank, chunk in followed) for chunk, hit in best.items()
    ]


def supporting(grounding: Grounding) -> list[int | None]:
    """The chunks of the best evidence of supported claims, one for each such claim."""
    best = [
        max(claim.evidence, key=lambda one: one.support)
        for claim in grounding.claims
        if claim.verdict == "supported" and claim.evidence
    ]
    return [one.hit.chunk_id for one in best]


def _ids(
    used: Iterable[Used], citations: Sequence[Citation], hits: Sequence[Hit]
) -> set[int | None]:
    if isinstance(used, (str, Hit, Citation)) or not isinstance(used, Iterable):
        raise ConfigError("used must be a list of what was followed, as used=[hit]")
    there = {hit.chunk_id for hit in hits}
    found: set[int | None] = set()
    for one in used:
        if isinstance(one, (Citation, Evidence)):
            one = one.hit
        if isinstance(one, Hit):
            chosen = [one.chunk_id]
        elif isinstance(one, str):
            chosen = [hit.chunk_id for hit in hits if hit.source == one]
        elif isinstance(one, int) and not isinstance(one, bool):
            chosen = [cited.hit.chunk_id for cited in citations if cited.number == one]
        else:
            raise ConfigError(f"used holds a {type(one).__name__}, which names no passage")
        if not chosen or not set(chosen) <= there:
            said = one.source if isinstance(one, Hit) else one
            raise ConfigError(
                f"used names {said!r}, which was not shown",
                hint="Give hits of the result, their sources, or numbers of its citations.",
            )
        found.update(chosen)
    return found
