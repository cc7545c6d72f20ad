"""Citations of an answer: markers become numbers that lead to the hits they meant.

Numbers are those of the context block: [1] is the first hit. Rendering replaces each marker once,
from its place in the original text, so a replaced number can never be replaced again.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args
from urllib.parse import quote

from ragpg.errors import ConfigError
from ragpg.query.label import label
from ragpg.query.markers import find_markers
from ragpg.types import Citation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.query.markers import Marker
    from ragpg.types import Hit

Style = Literal["numeric", "source", "footnote", "markdown", "json"]


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """An answer with its markers rendered.

    `citations` are the cited sources in order of first appearance, numbered as `text` shows them.
    `not_cited` are the other sources given to the model, with the numbers that follow. `unknown`
    are the numbers in the answer that name no source.
    """

    text: str
    citations: Sequence[Citation]
    not_cited: Sequence[Citation]
    unknown: Sequence[int]
    style: Style = "numeric"

    @property
    def uncited(self) -> bool:
        """Whether the answer cites no source at all."""
        return not self.citations


def cite(
    answer: str,
    hits: Sequence[Hit],
    *,
    style: Style = "numeric",
    renumber: bool = True,
    unknown: Literal["drop", "mark"] = "drop",
) -> CitedAnswer:
    """Read the markers of an answer and write them in a style.

    numeric [1], source [guide.md:3-9], footnote [^1], markdown [1](guide.md#L3-L9); json writes
    numeric markers and is for `render`. With `renumber` the sources are numbered by first
    appearance, else as given. Unknown numbers are taken out, or marked as [7?].
    """
    if style not in get_args(Style):
        raise ConfigError(
            f"unknown citation style {style!r}", hint=f"Use one of {', '.join(get_args(Style))}."
        )
    markers = find_markers(answer, [hit.content for hit in hits])
    seen = list(dict.fromkeys(number for marker in markers for number in marker.numbers))
    known = [number for number in seen if 1 <= number <= len(hits)]
    others = [number for number in range(1, len(hits) + 1) if number not in known]
    order = [*known, *others]
    new = {old: at for at, old in enumerate(order, start=1)} if renumber else {n: n for n in order}
    return CitedAnswer(
        text=_render_markers(answer, markers, hits, new, style, unknown),
        citations=[Citation(new[old], hits[old - 1]) for old in known],
        not_cited=[Citation(new[old], hits[old - 1]) for old in others],
        unknown=[number for number in seen if number not in new],
        style=style,
    )


def _render_markers(
    answer: str,
    markers: Sequence[Marker],
    hits: Sequence[Hit],
    new: Mapping[int, int],
    style: Style,
    unknown: str,
) -> str:
    pieces: list[str] = []
    at = 0
    for marker in markers:
        before = answer[at : marker.start]
        parts = [
            _marker(new[number], hits[number - 1], style)
            for number in marker.numbers
            if number in new
        ]
        if unknown == "mark":
            parts.extend(f"[{number}?]" for number in marker.numbers if number not in new)
        # The blank in front of a marker that goes away goes with it.
        pieces.append(before if parts else re.sub(r"[ \t]+$", "", before))
        pieces.append("".join(parts))
        at = marker.end
    pieces.append(answer[at:])
    return "".join(pieces)


def _marker(number: int, hit: Hit, style: Style) -> str:
    if style == "source":
        first, last = hit.lines or (None, None)
        return f"[{hit.source}:{first}-{last}]" if first is not None else f"[{hit.source}]"
    if style == "footnote":
        return f"[^{number}]"
    if style == "markdown":
        return f"[{number}]({_target(hit)})"
    return f"[{number}]"


def _target(hit: Hit) -> str:
    """A link to the source: its URL, or its path with the lines as GitHub and GitLab take them."""
    if re.match(r"[a-z][a-z0-9+.-]*://", hit.source):
        return quote(hit.source, safe=":/?#[]@!$&'*+,;=%~")
    path = quote(hit.source, safe="/:@!$&'*+,;=~")
    return f"{path}#L{hit.lines[0]}-L{hit.lines[1]}" if hit.lines else path


def sources_block(citations: Sequence[Citation], *, style: Style = "numeric") -> str:
    """The list of sources below an answer, one line each in order of number; "" without any."""
    ordered = sorted(citations, key=lambda one: one.number)
    if not ordered:
        return ""
    if style == "json":
        return json.dumps([citation_json(one) for one in ordered], ensure_ascii=False, indent=2)
    if style == "footnote":
        return "\n".join(f"[^{one.number}]: {label(one.hit)}" for one in ordered)
    if style == "markdown":
        lines = [
            f"{one.number}. [{_escaped(label(one.hit))}]({_target(one.hit)})" for one in ordered
        ]
        return "\n".join(["Sources:", "", *lines])
    if style == "source":
        return "\n".join(["Sources:", *(f"- {label(one.hit)}" for one in ordered)])
    return "\n".join(["Sources:", *(f"[{one.number}] {label(one.hit)}" for one in ordered)])


def _escaped(text: str) -> str:
    return re.sub(r"([\[\]\\])", r"\\\1", text)


def citation_json(citation: Citation) -> dict[str, Any]:
    """A citation as plain JSON values."""
    hit = citation.hit
    return {
        "number": citation.number,
        "namespace": hit.namespace,
        "source": hit.source,
        "title": hit.title,
        "breadcrumb": hit.breadcrumb,
        "lines": list(hit.lines) if hit.lines else None,
        "chars": [hit.start_char, hit.end_char] if hit.start_char is not None else None,
        "page": hit.page,
        "chunk_id": hit.chunk_id,
        "content": hit.content,
    }


def render(cited: CitedAnswer) -> str:
    """The answer with its Sources block, in its own style; json gives one object.

    An answer without markers keeps its sources, under a heading that says they are not cited.
    """
    if cited.style == "json":
        value = {
            "text": cited.text,
            "citations": [citation_json(one) for one in cited.citations],
            "not_cited": [citation_json(one) for one in cited.not_cited],
            "unknown": list(cited.unknown),
            "uncited": cited.uncited,
        }
        return json.dumps(value, ensure_ascii=False, indent=2)
    if cited.citations:
        return f"{cited.text}\n\n{sources_block(cited.citations, style=cited.style)}"
    if not cited.not_cited:
        return cited.text
    lines = [f"- {label(one.hit)}" for one in cited.not_cited]
    return "\n".join([cited.text, "", "Sources given, not cited:", *lines])
