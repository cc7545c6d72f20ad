"""A server of their own for tests that run Cypher: a query that ends a server process of AGE ends
every connection to that server, and so every other test on it."""

from __future__ import annotations

import uuid
from contextlib import ExitStack
from typing import TYPE_CHECKING

import psycopg
import pytest

from ragpg import migrate
from ragpg.errors import LocalDatabaseError
from tests.databases import administer, name_of, new_database, private_server

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def age_server() -> Iterator[str]:
    """The DSN of a throwaway server with AGE, used by nobody else; stopped in the end."""
    with ExitStack() as held:
        try:
            dsn = held.enter_context(private_server("age"))
        except LocalDatabaseError as error:
            pytest.skip(f"no server for Cypher: {error.message}")
        with psycopg.connect(dsn) as connection:
            found = connection.execute("select from pg_available_extensions where name = 'age'")
            if found.fetchone() is None:
                pytest.skip("this server has no AGE")
        yield dsn


@pytest.fixture(scope="session")
def server(age_server: str) -> str:
    """The server of all fixtures here."""
    return age_server


@pytest.fixture(scope="session")
def template(server: str) -> Iterator[str]:
    """The name of a database with AGE and the schema at head."""
    with new_database(server) as dsn:
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("create extension age")
        migrate.upgrade(dsn)
        yield name_of(dsn)


@pytest.fixture
def role(age_server: str) -> Iterator[str]:
    """A role that may log in and nothing else; what it owns goes with its database."""
    name = f"role_{uuid.uuid4().hex[:8]}"
    administer(age_server, "create role {} login", name)
    yield name
    # Databases that it owns things in are dropped by then or are about to be.
    with psycopg.connect(age_server, autocommit=True) as connection:
        owned = connection.execute(
            "select datname from pg_shdepend join pg_database on pg_database.oid = dbid"
            " where refobjid = %s::regrole",
            [name],
        ).fetchall()
    for [place] in owned:
        administer(age_server, "drop database if exists {} with (force)", place)
    administer(age_server, "drop role {}", name)
