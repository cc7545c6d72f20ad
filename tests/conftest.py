"""A real Postgres for every test that asks for one: a migrated template, cloned for each test.

RAGPG_TEST_DSN names a server where databases may be created; without it the private server of
`ragpg db` is used, in a throwaway folder of its own.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import ragpg
from ragpg import localdb, migrate
from ragpg.testing import HashEmbedder
from tests.databases import name_of, new_database

if TYPE_CHECKING:
    from collections.abc import Iterator

# Haystack counts its users; a test run is none. It reads this when it is imported.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

#: Small vectors: the tests are about rows, not about quality.
DIMENSIONS = 32


@pytest.fixture(autouse=True)
def _scrubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting or key of the person who runs the tests reaches a test."""
    for name in list(os.environ):
        if name.startswith(("RAGPG_", "OPENAI_", "PG")) and not name.startswith(
            ("RAGPG_DB_", "RAGPG_TEST_")
        ):
            monkeypatch.delenv(name)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses that requests to services ask for, in seconds; nobody waits."""
    seconds: list[float] = []

    async def sleep(asked: float) -> None:
        seconds.append(asked)

    # Not time.sleep itself: threads of other packages sleep too.
    monkeypatch.setattr("ragpg.providers.retry._sleep", seconds.append)
    monkeypatch.setattr("ragpg.providers.retry._asleep", sleep)
    return seconds


@pytest.fixture(scope="session")
def server() -> str:
    """The DSN of a server, as a role that may create databases and roles."""
    if dsn := os.environ.get("RAGPG_TEST_DSN"):
        return dsn
    home = os.environ.get("RAGPG_DB_HOME") or Path(__file__).parents[1] / ".ragpg" / "test"
    return localdb.up(home=home, throwaway=True)


@pytest.fixture(scope="session")
def template(server: str) -> Iterator[str]:
    """The name of a database with the schema at head, which nobody is connected to."""
    with new_database(server) as dsn:
        migrate.upgrade(dsn)
        yield name_of(dsn)


@pytest.fixture
def database(server: str, template: str) -> Iterator[str]:
    """The DSN of a database with the schema and nothing in it."""
    with new_database(server, template) as dsn:
        yield dsn


@pytest.fixture
def empty_database(server: str) -> Iterator[str]:
    """The DSN of a database without the schema."""
    with new_database(server) as dsn:
        yield dsn


@pytest.fixture
def rag(database: str) -> Iterator[ragpg.Client]:
    """A client with the hash embedder."""
    with ragpg.connect(database, embedder=HashEmbedder(DIMENSIONS)) as client:
        yield client


@pytest.fixture
def db(database: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection of the test's own, in autocommit, to look at what the client did."""
    with psycopg.connect(database, autocommit=True) as connection:
        yield connection
