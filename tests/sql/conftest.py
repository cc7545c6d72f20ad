"""One database for all claims: each rolls back what it did."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def shared_database(server: str, template: str) -> Iterator[str]:
    """DSN of a database with the schema, shared by the module."""
    name = sql.Identifier(f"ragpg_test_{uuid.uuid4().hex[:12]}")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(
            sql.SQL("create database {} template {}").format(name, sql.Identifier(template))
        )
        yield make_conninfo(server, dbname=name.as_string(None).strip('"'))
        connection.execute(sql.SQL("drop database {} with (force)").format(name))
