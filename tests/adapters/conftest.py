"""One database for the tests of a module: the frameworks' own tests are many and small."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.databases import new_database

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def shared(server: str, template: str) -> Iterator[str]:
    """The DSN of a database with the schema."""
    with new_database(server, template) as dsn:
        yield dsn


@pytest.fixture
def database(shared: str) -> Iterator[str]:
    """The same without a namespace in it."""
    yield shared
    with psycopg.connect(shared, autocommit=True) as connection:
        connection.execute("select ragpg.drop_namespace(name) from ragpg.namespace")
