"""A dump restores without an error, also for another owner, and is as good as before."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from ragpg import migrate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.case("SC-04")
@pytest.mark.parametrize("format_", ["plain", "custom"])
@pytest.mark.parametrize("owner", ["same", "other"])
def test_a_dump_restores_sc_04(
    database: str,
    new_database: Callable[[], str],
    role: str,
    format_: str,
    owner: str,
    tmp_path: Path,
    program: Callable[[str], str],
    libpq_environment: Callable[[str], dict[str, str]],
    as_role: Callable[[str, str], str],
    ingest: Callable[..., None],
    search: Callable[..., Any],
    catalog: Callable[..., Any],
) -> None:
    migrate.upgrade(database)
    ingest(database)
    before = search(database)
    file = tmp_path / "dump"
    dump = [program("pg_dump"), f"--format={format_}", f"--file={file}", "--schema=ragpg"]
    restored = new_database()
    with psycopg.connect(restored, autocommit=True) as connection:
        connection.execute("create extension vector")
        connection.execute("create extension btree_gin")
        if owner == "other":
            name = connection.info.dbname
            connection.execute(f"grant create on database {name} to {role}".encode())
    if owner == "other":
        dump.append("--no-owner")
        restored = as_role(restored, role)
    subprocess.run(dump, env=libpq_environment(database), check=True)
    if format_ == "plain":
        restore = [program("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", str(file)]
    else:
        name = libpq_environment(restored)["PGDATABASE"]
        restore = [program("pg_restore"), "-e", "-d", name, str(file)]
        restore += ["--no-owner"] if owner == "other" else []
    done = subprocess.run(
        restore, env=libpq_environment(restored), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "ERROR" not in done.stderr

    assert search(restored) == before
    assert catalog(restored) == catalog(database)
    migrate.upgrade(restored)
    assert catalog(restored) == catalog(database)
    assert search(restored) == before
    migrate.downgrade(restored)
    assert catalog(restored) == {}
    migrate.upgrade(restored)


@pytest.mark.case("SC-04")
def test_a_dump_of_the_whole_database_restores_sc_04(
    database: str,
    new_database: Callable[[], str],
    program: Callable[[str], str],
    libpq_environment: Callable[[str], dict[str, str]],
    ingest: Callable[..., None],
    search: Callable[..., Any],
    tmp_path: Path,
) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute('create schema "Weird-Schema"')
        connection.execute('create extension vector schema "Weird-Schema"')
    migrate.upgrade(database)
    ingest(database)
    file = tmp_path / "dump.sql"
    dump = [program("pg_dump"), f"--file={file}"]
    subprocess.run(dump, env=libpq_environment(database), check=True)
    restored = new_database()
    restore = [program("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", str(file)]
    done = subprocess.run(
        restore, env=libpq_environment(restored), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert search(restored) == search(database)
