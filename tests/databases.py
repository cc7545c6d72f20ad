"""Databases that come and go with a test."""

from __future__ import annotations

import os
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from ragpg import localdb

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def new_database(server: str, template: str | None = None) -> Iterator[str]:
    """The DSN of a new database, made from a template or empty; dropped in the end."""
    name = f"ragpg_test_{uuid.uuid4().hex[:12]}"
    source = sql.SQL("template0 encoding 'UTF8'") if template is None else sql.Identifier(template)
    create = sql.SQL("create database {} template ").format(sql.Identifier(name)) + source
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(create)
    yield make_conninfo(server, dbname=name)
    administer(server, "drop database if exists {} with (force)", name)


@contextmanager
def private_server(name: str) -> Iterator[str]:
    """The DSN of a throwaway server that no other tests use, stopped in the end. Each process of
    pytest-xdist has one of its own."""
    place = Path(os.environ.get("RAGPG_DB_HOME") or Path(__file__).parents[1] / ".ragpg" / "test")
    home = place / "-".join([name, *filter(None, [os.environ.get("PYTEST_XDIST_WORKER")])])
    dsn = localdb.up(home=home, throwaway=True)
    try:
        yield dsn
    finally:
        localdb.stop(home=home)


def name_of(dsn: str) -> str:
    """The name of the database of a DSN."""
    return str(conninfo_to_dict(dsn)["dbname"])


def administer(server: str, statement: str, name: str) -> None:
    """Run a statement about a database or a role."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(sql.Identifier(name)))
