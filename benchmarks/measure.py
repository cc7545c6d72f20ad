"""Times statements: wall clock, and the CPU time of the backend that ran them.

On a machine that is busy with other things wall times say as much about the neighbours as about
the statement. The scheduler's account of the backend process does not, so ratios are taken of it
where the server runs on the same Linux machine, and of wall times elsewhere.
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, LiteralString

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg


@dataclass(frozen=True, slots=True)
class Variant:
    """A statement under test. `prepare` is false for statements that need a plan for their
    very parameters, as an application that sends them plainly would get."""

    name: str
    sql: LiteralString
    prepare: bool = True


@dataclass(slots=True)
class Times:
    """Milliseconds of one variant, a figure per measured query."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


class Meter:
    """Runs variants on one connection and keeps their times by (group, variant)."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self.connection = connection
        self.times: defaultdict[tuple[str, str], Times] = defaultdict(Times)
        account = Path(f"/proc/{connection.info.backend_pid}/schedstat")
        # A server elsewhere may share its process ids with strangers here.
        local = connection.info.host.startswith("/") or not connection.info.host
        self.has_cpu = local and account.exists()
        self._account = account

    def _cpu_ns(self) -> int:
        return int(self._account.read_text().split()[0]) if self.has_cpu else 0

    def run(
        self, variant: Variant, parameters: dict[str, Any], group: str | None = None
    ) -> list[tuple[Any, ...]]:
        """The rows; with a group the times are kept under it."""
        cpu, wall = self._cpu_ns(), time.perf_counter_ns()
        cursor = self.connection.execute(variant.sql, parameters, prepare=variant.prepare)
        rows = cursor.fetchall()
        wall = time.perf_counter_ns() - wall
        cpu = self._cpu_ns() - cpu
        if group is not None:
            times = self.times[group, variant.name]
            times.wall.append(wall / 1e6)
            times.cpu.append(cpu / 1e6)
        return rows

    def figures(self, name: str, groups: Sequence[str], *, trusted: bool = True) -> list[float]:
        """Every measurement of a variant in these groups, in order: CPU time where there is
        one and `trusted` is true, else wall time."""
        kept = [self.times[group, name] for group in groups]
        return [
            value for one in kept for value in (one.cpu if trusted and self.has_cpu else one.wall)
        ]


def percentile(values: Sequence[float], share: float) -> float:
    """NaN for an empty list, so that tables can be printed of a short run."""
    return float(np.percentile(values, share)) if len(values) else float("nan")


def table(head: Sequence[str], rows: Sequence[Sequence[str | float | int]]) -> str:
    """A Markdown table; numbers with two decimals below ten, one below a hundred."""

    def cell(value: str | float) -> str:
        if isinstance(value, (str, int)):
            return str(value)
        return (
            f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"
        )

    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(cell(value) for value in row)} |" for row in rows]
    return "\n".join(lines)
