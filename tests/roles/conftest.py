"""A server of their own for tests of the roles ragpg_reader and ragpg_writer: roles are of a whole
server, and who migrates a database beside them would grant them rights there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from ragpg import migrate
from tests.databases import name_of, new_database, private_server

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The server of all fixtures here."""
    with private_server("roles") as dsn:
        yield dsn


@pytest.fixture(scope="session")
def template(server: str) -> Iterator[str]:
    """The name of a database with the schema at head, from before there were roles."""
    with new_database(server) as dsn:
        migrate.upgrade(dsn)
        yield name_of(dsn)


@pytest.fixture
def roles(server: str, database: str) -> Iterator[str]:
    """A database with both roles and their grants, and nothing of them left afterwards."""
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute("create role ragpg_reader; create role ragpg_writer")
    migrate.upgrade(database)
    yield database
    with psycopg.connect(database, autocommit=True) as admin:
        admin.execute("drop owned by ragpg_reader, ragpg_writer")
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute("drop role ragpg_reader, ragpg_writer")
