"""Citations of an answer: markers become numbers that lead to the hits they meant.

Numbers are those of the context block: [1] is the first hit. Rendering replaces each marker once,
from its place in the original text, so a replaced number can never be replaced again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from ragpg.errors import ConfigError
from ragpg.query.label import bracketed, label, markdown_target, markdown_text, provenance
from ragpg.query.markers import find_markers
from ragpg.types import Citation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.query.markers import Marker
    from ragpg.types import Hit

Style = Literal["numeric", "source", "footnote", "markdown", "json"]
#: Writes the marker of a citation: `lambda one: f"({one.number})"`.
Formatter = Callable[[Citation], str]


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
    style: Style | Formatter = "numeric"

    @property
    def uncited(self) -> bool:
        """Whether the answer cites no source at all."""
        return not self.citations


def cite(
    answer: str,
    hits: Sequence[Hit],
    *,
    style: Style | Formatter = "numeric",
    renumber: bool = True,
    unknown: Literal["drop", "mark"] = "drop",
) -> CitedAnswer:
    """Read the markers of an answer and write them in a style.

    numeric [1], source [guide.md:3-9], footnote [^1], markdown [1](guide.md#L3-L9); json writes
    numeric markers and is for `render`; or a function that writes the marker of a Citation. With
    `renumber` the sources are numbered by first appearance, else as given. Unknown numbers are
    taken out, or marked as [7?]. Raises ConfigError for an unknown style.
    """
    if not callable(style) and style not in get_args(Style):
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
    style: Style | Formatter,
    unknown: str,
) -> str:
    pieces: list[str] = []
    at = 0
    for marker in markers:
        before = answer[at : marker.start]
        parts = [
            _marker(Citation(new[number], hits[number - 1]), style)
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


def _marker(citation: Citation, style: Style | Formatter) -> str:
    if callable(style):
        return style(citation)
    if style == "source":
        return bracketed(citation.hit)
    if style == "footnote":
        return f"[^{citation.number}]"
    if style == "markdown":
        return f"[{citation.number}]({markdown_target(citation.hit)})"
    return f"[{citation.number}]"


def sources_block(citations: Sequence[Citation], *, style: Style | Formatter = "numeric") -> str:
    """The list of sources below an answer, one line each in order of number; "" without any."""
    ordered = sorted(citations, key=lambda one: one.number)
    if not ordered:
        return ""
    if callable(style):
        return "\n".join(["Sources:", *(f"{style(one)} {label(one.hit)}" for one in ordered)])
    if style == "json":
        return json.dumps([citation_json(one) for one in ordered], ensure_ascii=False, indent=2)
    if style == "footnote":
        return "\n".join(f"[^{one.number}]: {markdown_text(label(one.hit))}" for one in ordered)
    if style == "markdown":
        lines = [
            f"{one.number}. [{markdown_text(label(one.hit))}]({markdown_target(one.hit)})"
            for one in ordered
        ]
        return "\n".join(["Sources:", "", *lines])
    if style == "source":
        return "\n".join(["Sources:", *(f"- {label(one.hit)}" for one in ordered)])
    return "\n".join(["Sources:", *(f"[{one.number}] {label(one.hit)}" for one in ordered)])


def citation_json(citation: Citation) -> dict[str, Any]:
    """A citation as plain JSON values. lines, chars and page are places in the document as it was
    in `version`; chars count from 0, the end excluded; `also` are sources that say the same."""
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
        "version": hit.version,
        "provenance": provenance(hit),
        "document_id": hit.document_id,
        "chunk_id": hit.chunk_id,
        "chunk_ids": list(hit.chunk_ids) or ([hit.chunk_id] if hit.chunk_id is not None else []),
        "content": hit.content,
        "also": [one.source for one in hit.duplicates],
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
