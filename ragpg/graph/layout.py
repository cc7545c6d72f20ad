"""Where the nodes of a neighbourhood are drawn: rings around the centre, the same every time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragpg.graph.show import Neighbourhood

#: Room between two nodes of a ring, and between two rings, in pixels.
BETWEEN, RING = 96.0, 190.0


def rings(found: Neighbourhood) -> dict[str, tuple[float, float]]:
    """Positions by node id, the centre at 0, 0.

    Nodes of a ring stand at equal angles, in the order of the nodes that they hang on, so that
    edges between rings cross little.
    """
    distance = found.distances()
    angles: dict[str, float] = {found.centre.id: 0.0}
    places: dict[str, tuple[float, float]] = {found.centre.id: (0.0, 0.0)}
    radius = 0.0
    for ring in range(1, max(distance.values(), default=0) + 1):
        members = [node.id for node in found.nodes if distance.get(node.id) == ring]
        radius = max(radius + RING, len(members) * BETWEEN / (2 * math.pi))
        if ring > 1:
            members.sort(key=lambda member: (_pull(member, found, angles), member))
        for place, member in enumerate(members):
            angle = 2 * math.pi * place / len(members) - math.pi / 2
            angles[member] = angle % (2 * math.pi)
            places[member] = (radius * math.cos(angle), radius * math.sin(angle))
    return places


def _pull(member: str, found: Neighbourhood, angles: dict[str, float]) -> float:
    """The angle of the first neighbour that has its place."""
    for edge in found.edges:
        for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
            if here == member and there in angles:
                return angles[there]
    return 0.0
