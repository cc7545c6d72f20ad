"""A neighbourhood as one HTML file: a drawing and a list of the same, no network, no library.

The list is what a screen reader and a browser without scripts get; the drawing is driven by mouse
and keyboard. Colours follow the reader's light or dark setting.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from ragpg.graph.layout import rings
from ragpg.graph.show import describe
from ragpg.page_template import as_data, filled

if TYPE_CHECKING:
    from ragpg.graph.show import Edge, Neighbourhood, Node


def as_html(found: Neighbourhood) -> str:
    """The page, complete."""
    places = rings(found)
    nodes = {node.id: node for node in found.nodes}
    title = f"Around {_named(found.centre)}"
    data = as_data(
        {
            "nodes": [
                {"id": name, "text": _named(nodes[name])} for name in places
            ],
            "edges": [
                {"source": edge.source, "target": edge.target} for edge in found.edges
            ],
        }
    )  # fmt: skip
    template = files("ragpg.graph").joinpath("page.html").read_text(encoding="utf-8")
    parts = {
        "title": escape(title),
        "drawing": _drawing(found, places),
        "list": _list(found),
        "data": data,
        "counts": f"{len(found.nodes)} nodes, {len(found.edges)} edges",
    }
    return filled(template, parts)


def _drawing(found: Neighbourhood, places: dict[str, tuple[float, float]]) -> str:
    left, right = (edge(x for x, _ in places.values()) for edge in (min, max))
    top, bottom = (edge(y for _, y in places.values()) for edge in (min, max))
    # Room for the labels.
    box = (left - 110, top - 40, right - left + 220, bottom - top + 90)
    lines = [
        f'<svg id="drawing" viewBox="{" ".join(f"{side:.0f}" for side in box)}" '
        'role="group" aria-label="Drawing of the graph; the same stands in the list">'
    ]
    lines += [_line(edge, places, number) for number, edge in enumerate(found.edges)]
    for node in found.nodes:
        x, y = places[node.id]
        lines.append(_mark(node, x, y, is_centre=node is found.centre))
    return "\n".join([*lines, "</svg>"])


def _line(edge: Edge, places: dict[str, tuple[float, float]], number: int) -> str:
    (x1, y1), (x2, y2) = places[edge.source], places[edge.target]
    width = 1 + min(edge.weight, 8.0) / 4
    return (
        f'<line class="edge {edge.kind.lower()}" data-edge="{number}" x1="{x1:.1f}" y1="{y1:.1f}" '
        f'x2="{x2:.1f}" y2="{y2:.1f}" stroke-width="{width:.2f}"/>'
    )


def _mark(node: Node, x: float, y: float, *, is_centre: bool) -> str:
    kind = "document" if node.is_document else "entity"
    size = 13 if is_centre else 9
    shape = (
        f'<rect x="{-size}" y="{-size}" width="{2 * size}" height="{2 * size}" rx="3"/>'
        if node.is_document
        else f'<circle r="{size}"/>'
    )
    label = _named(node)
    short = label if len(label) <= 26 else label[:25] + "…"
    return (
        f'<g class="node {kind}{" centre" if is_centre else ""}" data-node="{node.id}" '
        f'role="button" tabindex="{0 if is_centre else -1}" aria-pressed="false" '
        f'aria-label="{escape(kind.capitalize())} {escape(label)}" '
        f'transform="translate({x:.1f} {y:.1f})">{shape}'
        f'<text y="{size + 15}" text-anchor="middle">{escape(short)}</text>'
        f"<title>{escape(label)}</title></g>"
    )


def _list(found: Neighbourhood) -> str:
    names = {node.id: node for node in found.nodes}
    lines = []
    for node in found.nodes:
        said = [
            (edge.words(), names[edge.target]) for edge in found.edges if edge.source == node.id
        ] + [
            (edge.words(backwards=True), names[edge.source])
            for edge in found.edges
            if edge.target == node.id
        ]
        items = "".join(
            f'<li><span class="how">{escape(how)}</span> <a href="#{other.id}">'
            f"{escape(_named(other))}</a></li>"
            for how, other in said
        )
        kind = "document" if node.is_document else node.kind
        lines.append(
            f'<section id="{node.id}" tabindex="-1"><h3>{escape(_named(node))}'
            f" <small>{escape(kind)}</small></h3>{f'<ul>{items}</ul>' if items else ''}</section>"
        )
    return "\n".join(lines)


def _named(node: Node) -> str:
    """A name is any text of any length."""
    text = " ".join(describe(node).split())
    return text if len(text) <= 300 else f"{text[:299]}…"
