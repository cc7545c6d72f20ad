"""One database for the tests of a module: the frameworks' own tests are many and small."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.conftest import administer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def shared(server: str, template: str) -> Iterator[str]:
    """The DSN of a database with the schema."""
    name = f"ragpg_test_{uuid.uuid4().hex[:12]}"
    administer(server, f"create database {{}} template {template}", name)
    yield make_conninfo(server, dbname=name)
    administer(server, "drop database {} with (force)", name)


@pytest.fixture
def database(shared: str) -> Iterator[str]:
    """The same without a namespace in it."""
    yield shared
    with psycopg.connect(shared, autocommit=True) as connection:
        connection.execute("select ragpg.drop_namespace(name) from ragpg.namespace")
