"""A database with the schema for each test, and the command line against it."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from click.testing import CliRunner
from psycopg import sql
from psycopg.conninfo import make_conninfo

from ragpg import migrate
from ragpg.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from click.testing import Result


@pytest.fixture(scope="session")
def server_dsn() -> str:
    """A server where tests may create databases."""
    if dsn := os.environ.get("RAGPG_TEST_DSN"):
        return dsn
    from ragpg import localdb

    return localdb.up()


@pytest.fixture(scope="session")
def template(server_dsn: str) -> Iterator[str]:
    """The name of a database with the schema, to be cloned."""
    name = f"acceptance_{uuid.uuid4().hex[:12]}"
    _administer(server_dsn, "create database {} template template0 encoding 'UTF8'", name)
    migrate.upgrade(make_conninfo(server_dsn, dbname=name))
    yield name
    _administer(server_dsn, "drop database {} with (force)", name)


@pytest.fixture
def database(server_dsn: str, template: str) -> Iterator[str]:
    """The DSN of a database with the schema and nothing in it."""
    name = f"acceptance_{uuid.uuid4().hex[:12]}"
    _administer(server_dsn, f"create database {{}} template {template}", name)
    yield make_conninfo(server_dsn, dbname=name)
    _administer(server_dsn, "drop database {} with (force)", name)


@pytest.fixture
def environment(database: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment with this test's database and no embedder, here and for subprocesses."""
    for name in [name for name in os.environ if name.startswith(("RAGPG_", "OPENAI_"))]:
        if not name.startswith("RAGPG_DB_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("RAGPG_DSN", database)
    monkeypatch.setenv("RAGPG_EMBEDDER", "none")
    return dict(os.environ)


@pytest.fixture
def ragpg_cli(environment: dict[str, str]) -> Callable[..., Result]:
    """A function that runs `ragpg ARGUMENTS` in this process."""

    def run(*arguments: str, **options: Any) -> Result:
        return CliRunner().invoke(main, list(arguments), prog_name="ragpg", **options)

    return run


@pytest.fixture
def ragpg_process(
    environment: dict[str, str],
) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """A function that starts `ragpg ARGUMENTS` as a process of its own, ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, **variables: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "ragpg.cli.main", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            env=environment | variables,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def _administer(dsn: str, statement: str, name: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(sql.Identifier(name)))
