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

    Those of the first ring stand at equal angles, those further out near what they hang on, so that
    edges between rings are short.
    """
    distance = found.distances()
    angles: dict[str, float] = {found.centre.id: 0.0}
    places: dict[str, tuple[float, float]] = {found.centre.id: (0.0, 0.0)}
    radius = 0.0
    for ring in range(1, max(distance.values(), default=0) + 1):
        members = [node.id for node in found.nodes if distance.get(node.id) == ring]
        radius = max(radius + RING, len(members) * BETWEEN / (2 * math.pi))
        if ring == 1:
            wanted = [2 * math.pi * place / len(members) for place in range(len(members))]
        else:
            pulls = {member: _pull(member, found, angles) for member in members}
            members.sort(key=lambda member: (pulls[member], member))
            wanted = _apart([pulls[member] for member in members], BETWEEN / radius)
        for member, angle in zip(members, wanted, strict=True):
            angles[member] = angle
            # The first one stands on top, the others follow clockwise.
            places[member] = (radius * math.sin(angle), -radius * math.cos(angle))
    return places


def _apart(angles: list[float], least: float) -> list[float]:
    """Sorted angles moved on until no two are closer than `least`, all within one turn."""
    least = min(least, 2 * math.pi / len(angles))
    moved: list[float] = []
    for angle in angles:
        moved.append(max(angle, moved[-1] + least) if moved else angle)
    # What has run past the first one is pushed back from the end.
    limit = moved[0] + 2 * math.pi - least
    for place in range(len(moved) - 1, -1, -1):
        moved[place] = min(moved[place], limit - (len(moved) - 1 - place) * least)
    return moved


def _pull(member: str, found: Neighbourhood, angles: dict[str, float]) -> float:
    """The angle of the first neighbour that has its place."""
    for edge in found.edges:
        for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
            if here == member and there in angles:
                return angles[there]
    return 0.0
