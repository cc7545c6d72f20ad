"""What each stage of one search left of the hits, for whoever wants to look inside."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.types import Hit


@dataclass(slots=True)
class Trace:
    """Filled by a search that it is given to (Request.trace).

    fused     what SQL and the retrievers found, fused: all that later stages saw
    reranked  the same after the rerankers
    weighed   the same after the prior of feedback
    """

    fused: Sequence[Hit] = field(default_factory=list)
    reranked: Sequence[Hit] = field(default_factory=list)
    weighed: Sequence[Hit] = field(default_factory=list)
