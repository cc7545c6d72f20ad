"""A server of their own for tests that run Cypher: a query that ends a server process of AGE ends
every connection to that server, and so every other test on it."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

import ragpg
from ragpg import localdb, migrate
from ragpg.errors import LocalDatabaseError
from ragpg.testing import HashEmbedder
from tests.conftest import DIMENSIONS, administer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def age_server() -> Iterator[str]:
    """The DSN of a throwaway server with AGE, used by nobody else; stopped in the end."""
    home = Path(os.environ.get("RAGPG_DB_HOME") or Path(__file__).parents[2] / ".ragpg" / "test")
    try:
        dsn = localdb.up(home=home / "age", throwaway=True)
    except LocalDatabaseError as error:
        pytest.skip(f"no server for Cypher: {error.message}")
    with psycopg.connect(dsn) as connection:
        found = connection.execute("select from pg_available_extensions where name = 'age'")
        if found.fetchone() is None:
            pytest.skip("this server has no AGE")
    yield dsn
    localdb.stop(home=home / "age")


@pytest.fixture(scope="session")
def age_template(age_server: str) -> Iterator[str]:
    """The name of a database with AGE and the schema at head."""
    name = f"ragpg_template_{uuid.uuid4().hex[:12]}"
    administer(age_server, "create database {} template template0 encoding 'UTF8'", name)
    dsn = make_conninfo(age_server, dbname=name)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("create extension age")
    migrate.upgrade(dsn)
    yield name
    administer(age_server, "drop database {} with (force)", name)


@pytest.fixture
def server_dsn(age_server: str) -> str:
    """The server for the fixtures that make roles and databases."""
    return age_server


@pytest.fixture
def database(age_server: str, age_template: str) -> Iterator[str]:
    """The DSN of a database with AGE, the schema and nothing in it."""
    name = f"ragpg_test_{uuid.uuid4().hex[:12]}"
    administer(age_server, f"create database {{}} template {age_template}", name)
    yield make_conninfo(age_server, dbname=name)
    administer(age_server, "drop database {} with (force)", name)


@pytest.fixture
def empty_database(age_server: str) -> Iterator[str]:
    """The DSN of an empty database, without AGE too."""
    name = f"ragpg_test_{uuid.uuid4().hex[:12]}"
    administer(age_server, "create database {} template template0 encoding 'UTF8'", name)
    yield make_conninfo(age_server, dbname=name)
    administer(age_server, "drop database if exists {} with (force)", name)


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


@pytest.fixture
def rag(database: str) -> Iterator[ragpg.Client]:
    """A client with the hash embedder."""
    with ragpg.connect(database, embedder=HashEmbedder(DIMENSIONS)) as client:
        yield client


@pytest.fixture
def db(database: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection of the test's own, in autocommit."""
    with psycopg.connect(database, autocommit=True) as connection:
        yield connection
