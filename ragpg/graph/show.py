"""What lies around a document or an entity, as text and as DOT; ragpg.graph.page has the HTML."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragpg import arguments
from ragpg.errors import ConfigError
from ragpg.steps import Query, fetch_one

if TYPE_CHECKING:
    from ragpg.steps import Flow

#: Kinds of edges in words, seen from their start and from their end.
WORDS = {
    "LINKS": ("links to", "is linked from"),
    "ABOUT": ("is about", "is the topic of"),
    "MENTIONS": ("mentions", "is mentioned in"),
    "RELATED": ("is related to", "is related to"),
    "SHARES": ("shares terms with", "shares terms with"),
}


@dataclass(frozen=True, slots=True)
class Node:
    """A document or an entity; `source` is None for an entity."""

    id: str
    kind: str
    name: str
    source: str | None

    @property
    def is_document(self) -> bool:
        """Whether this is a document."""
        return self.source is not None


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge between two nodes by their ids; `label` is what is said of it, where anything is."""

    kind: str
    source: str
    target: str
    weight: float
    label: str | None

    def words(self, *, backwards: bool = False) -> str:
        """What the edge says, read from its start or from its end."""
        text = WORDS.get(self.kind, (self.kind.lower(),) * 2)[backwards]
        # "terms" says no more than the words do.
        return f"{text} ({self.label})" if self.label and self.label != "terms" else text


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The node that was asked for, and what lies around it. The first node is the centre."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @property
    def centre(self) -> Node:
        """The node that was asked for."""
        return self.nodes[0]

    def distances(self) -> dict[str, int]:
        """How many hops each node is away from the centre."""
        found = {self.centre.id: 0}
        frontier = [self.centre.id]
        while frontier:
            reached: list[str] = []
            for edge in self.edges:
                for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
                    if here in frontier and there not in found:
                        found[there] = found[here] + 1
                        reached.append(there)
            frontier = reached
        return found


def _text(value: str | None) -> str | None:
    return value


AROUND = Query(
    """
select ragpg.graph_around(%(namespace)s, %(start)s, hops => %(hops)s, k => %(k)s,
         most => %(most)s)::text
""",
    _text,
    reads=True,
)


def around(
    start: str, *, namespace: str = "default", hops: int = 1, k: int = 12, most: int = 60
) -> Flow[Neighbourhood]:
    """The neighbourhood of a document, by source or title, or of an entity, by name.

    hops  how far, 1 to 3
    k     neighbours of a node in each kind of edge, heaviest first
    most  nodes in all

    Raises ConfigError where there is none of that name, and for what is no whole number.
    """
    values = {
        "namespace": namespace,
        "start": arguments.text("start", start),
        "hops": arguments.whole("hops", hops, least=1),
        "k": arguments.whole("k", k, least=1),
        "most": arguments.whole("most", most, least=1),
    }
    found = yield from fetch_one(AROUND, values)
    if found is None:
        raise ConfigError(
            f"namespace {namespace} has no document or entity {start!r}",
            hint="Give a document's source or title, or an entity's name as it is stored.",
        )
    given: dict[str, Any] = json.loads(found)
    return Neighbourhood(
        tuple(Node(**node) for node in given["nodes"]),
        tuple(
            sorted(
                (Edge(**edge) for edge in given["edges"]),
                key=lambda edge: (-edge.weight, edge.kind, edge.source, edge.target),
            )
        ),
    )


def as_text(found: Neighbourhood) -> str:
    """Every node with its edges, nearest first, for a terminal."""
    names = {node.id: node for node in found.nodes}
    distance = found.distances()
    lines: list[str] = []
    for node in sorted(found.nodes, key=lambda node: distance.get(node.id, 9)):
        said = [
            (edge, edge.target if edge.source == node.id else edge.source, edge.source != node.id)
            for edge in found.edges
            if node.id in (edge.source, edge.target)
            # Further out, only what leads further: the rest was said on the way.
            and distance.get(node.id, 9)
            <= distance.get(edge.target if edge.source == node.id else edge.source, 9)
        ]
        if not said and node is not found.centre:
            continue
        lines.append(describe(node))
        for edge, other, backwards in said:
            lines.append(f"  {edge.words(backwards=backwards)}  {describe(names[other])}")
        if not said:
            lines.append("  stands alone")
    return "\n".join(_one_line(line) for line in lines)


def describe(node: Node) -> str:
    """A node in a line: the source of a document with its title, or an entity with its kind."""
    if node.source is None:
        return node.name if node.kind == "name" else f"{node.name} [{node.kind}]"
    return node.source if node.name == node.source else f"{node.source} ({node.name})"


def as_dot(found: Neighbourhood) -> str:
    """The same for Graphviz: `ragpg graph show ... --format dot | dot -Tsvg`."""
    lines = ["digraph ragpg {", "  rankdir=LR;", '  node [fontname="sans-serif"];']
    for node in found.nodes:
        shape = "box" if node.is_document else "ellipse"
        extra = ", penwidth=3" if node is found.centre else ""
        lines.append(
            f"  {_quoted(node.id)} [label={_quoted(describe(node))}, shape={shape}{extra}];"
        )
    for edge in found.edges:
        arrow = ", dir=none" if edge.kind == "SHARES" else ""
        ends = f"{_quoted(edge.source)} -> {_quoted(edge.target)}"
        lines.append(f"  {ends} [label={_quoted(edge.words())}{arrow}];")
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    # Graphviz knows escapes of its own in labels, so a backslash is doubled.
    return '"' + _one_line(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _one_line(text: str) -> str:
    """A name may hold anything: line breaks and control characters would break the output."""
    if text.startswith("  "):
        return "  " + _one_line(text[2:])
    printable = "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
    return printable if len(printable) <= 200 else printable[:199] + "…"
