"""`ragpg migrate` as a person or a script meets it."""

from __future__ import annotations

import json

import psycopg
from click.testing import CliRunner, Result

from ragpg import migrate
from ragpg.cli.main import main


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["migrate", *arguments], env={"RAGPG_DSN": ""})


def test_status_before_and_after(database: str) -> None:
    before = call("--dsn", database, "--status", "--json")
    assert before.exit_code == 1
    assert json.loads(before.output)["pending"]
    assert "pending" in call("--dsn", database, "--status").output
    first = call("--dsn", database)
    assert (first.exit_code, first.output) == (
        0,
        f"Schema ragpg: nothing -> revision {migrate.head()}, version 0.1.0.\n",
    )
    again = call("--dsn", database)
    assert "current already" in again.output
    after = call("--dsn", database, "--status", "--json")
    assert after.exit_code == 0
    assert json.loads(after.output)["is_current"] is True
    assert "yes" in call("--dsn", database, "--status").output
    assert json.loads(call("--dsn", database, "--json").output)["schema"] == "ragpg"


def test_downgrade_asks_first(database: str) -> None:
    call("--dsn", database, "--schema", "kb")
    refused = CliRunner().invoke(
        main, ["migrate", "--dsn", database, "--schema", "kb", "downgrade"], input="n\n"
    )
    assert refused.exit_code != 0
    assert migrate.current(database, "kb") == migrate.head()
    done = call("--dsn", database, "--schema", "kb", "downgrade", "--yes")
    assert done.exit_code == 0, done.output
    assert "-> nothing" in done.output
    assert migrate.current(database, "kb") is None


def test_errors_are_sentences(database: str) -> None:
    bad = call("--dsn", database, "--schema", "My-Docs")
    assert bad.exit_code == 2
    assert "lower-case" in bad.output
    with psycopg.connect(database) as connection:
        connection.execute("create schema ragpg")
        connection.execute("create table ragpg.alembic_version (version_num varchar(32))")
        connection.execute("insert into ragpg.alembic_version values ('9042')")
    newer = call("--dsn", database)
    assert newer.exit_code == 3
    assert "Hint: A newer ragpg" in newer.output
    assert "newer package" in call("--dsn", database, "--status").output


def test_a_password_never_shows() -> None:
    result = call("--dsn", "postgresql://someone:geheim@127.0.0.1:1/nothing")
    assert result.exit_code == 3
    assert "geheim" not in result.output
