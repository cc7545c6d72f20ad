"""Costs that are counted for the database: within what its columns hold."""

from __future__ import annotations

from ragpg.observe.ledger import Ledger
from ragpg.observe.stage import Spent
from ragpg.types import Usage


def test_a_count_that_no_column_holds_is_bounded() -> None:
    ledger = Ledger()
    usage = Usage(input_tokens=-5, output_tokens=10**20, cost_usd=1e300)
    ledger.add([Spent(("a", "b"), "generation", "model", usage)])
    [sums, other] = ledger._sums.values()
    assert (sums[1], other[1]) == (0, 0)
    assert sums[2] + other[2] == 10**12
    assert sums[3] + other[3] <= 10**12
