"""One database for all claims: each rolls back what it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.databases import new_database

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def shared_database(server: str, template: str) -> Iterator[str]:
    """DSN of a database with the schema, shared by the module."""
    with new_database(server, template) as dsn:
        yield dsn
