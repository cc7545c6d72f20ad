"""One database for all claims: each rolls back what it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def shared_database(database_factory: object) -> Iterator[str]:
    """DSN of a database with the schema, shared by the module."""
    with database_factory() as dsn:  # type: ignore[operator]
        yield dsn
