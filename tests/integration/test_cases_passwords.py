"""Passwords against a server that asks for them: all work, and none is shown."""

from __future__ import annotations

import logging
import os
import shutil
import socket
import tempfile
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import psycopg
import pytest
from click.testing import CliRunner
from psycopg import sql
from psycopg.conninfo import make_conninfo
from sqlalchemy import URL, create_engine

import ragpg
from ragpg import doctor, localdb, migrate
from ragpg.cli.main import main
from ragpg.errors import DatabaseError, RagpgError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Database = psycopg.Connection[Any]

PASSWORDS = ["p@ss", "a:b/c", "100%", "50%25", "q?x=1#y", "sp ace", "[br]", "ümläut", "$HOME",
             "quote'\"\\"]  # fmt: skip
PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def asking() -> Iterator[str]:
    """The DSN of a private server that listens on TCP and wants SCRAM passwords there."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = Path(tempfile.mkdtemp(prefix="ragpg-passwords-"))
    # Run as root, the server has a user of its own, who has to pass through.
    home.chmod(0o755)
    programs = os.environ.get("RAGPG_DB_PROGRAMS") or PROJECT / ".ragpg" / "test" / "programs"
    try:
        dsn = localdb.up(home=home, port=port, throwaway=True, programs=programs)
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(
                "create role ragpg_reader; create role app login in role ragpg_reader"
            )
        migrate.upgrade(dsn)
        yield dsn
    finally:
        localdb.destroy(home=home)
        shutil.rmtree(home)


@pytest.fixture
def admin(asking: str) -> Iterator[Database]:
    with psycopg.connect(asking, autocommit=True) as connection:
        yield connection


def _allow(admin: Database, password: str) -> dict[str, str]:
    """Give the role its password; the settings to connect with, but for that."""
    statement = sql.SQL("alter role app password {}").format(sql.Literal(password))
    admin.execute(statement)
    return {"host": "127.0.0.1", "port": str(admin.info.port), "dbname": "ragpg", "user": "app"}


@pytest.mark.case("OP-02")
@pytest.mark.parametrize("password", PASSWORDS)
def test_every_password_connects_op_02(
    admin: Database, password: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = _allow(admin, password)
    port = place["port"]
    with pytest.raises(psycopg.OperationalError):
        # Else the server takes any password, and this test shows nothing.
        psycopg.connect(make_conninfo("", **place, password="wrong")).close()

    url = f"postgresql://app:{quote(password, safe='')}@127.0.0.1:{port}/ragpg"
    settings = make_conninfo("", **place, password=password)
    engine = create_engine(
        URL.create("postgresql+psycopg", "app", password, "127.0.0.1", int(port), "ragpg")
    )
    for target in (url, url.replace("postgresql:", "postgresql+psycopg:"), settings, engine):
        with ragpg.connect(target) as rag:
            assert rag.namespaces() == []
            # The doctor opens a connection of its own with the same password.
            assert rag.doctor()
    engine.dispose()
    assert migrate.status(url).is_current
    assert migrate.status(settings).is_current
    result = CliRunner().invoke(main, ["namespaces", "list"], env={"RAGPG_DSN": url})
    assert result.exit_code == 0, result.output

    monkeypatch.setenv("PGPASSWORD", password)
    for target in (f"postgresql://app@127.0.0.1:{port}/ragpg", make_conninfo("", **place)):
        with ragpg.connect(target) as rag:
            assert rag.namespaces() == []
            assert rag.doctor()
        assert migrate.status(target).is_current
    for name, key in (("host", "PGHOST"), ("port", "PGPORT"), ("dbname", "PGDATABASE"),
                      ("user", "PGUSER")):  # fmt: skip
        monkeypatch.setenv(key, place[name])
    with ragpg.connect("postgresql://") as rag:
        assert rag.namespaces() == []


@pytest.mark.case("OP-02")
@pytest.mark.parametrize("password", PASSWORDS)
def test_a_url_that_is_not_encoded_connects_or_explains_op_02(
    admin: Database, password: str
) -> None:
    place = _allow(admin, password)
    url = f"postgresql://app:{password}@127.0.0.1:{place['port']}/ragpg"
    settings = ragpg.Settings(pool_timeout=3, connect_timeout=3)
    failure: RagpgError | None = None
    try:
        with ragpg.connect(url, settings=settings) as rag:
            assert rag.namespaces() == []
    except RagpgError as error:
        failure = error
    if failure is not None:
        assert "ercent-encode" in str(failure.hint)
        shown = "".join(traceback.format_exception(failure)).replace(str(failure.hint), "")
        assert password not in shown


WRONG = "S3cr3t@pw"


@pytest.mark.case("OP-01")
def test_a_wrong_password_is_never_shown_op_01(
    admin: Database, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    place = _allow(admin, "another")
    url = f"postgresql://app:S3cr3t%40pw@127.0.0.1:{place['port']}/ragpg"
    settings = ragpg.Settings(dsn=url, pool_timeout=3, connect_timeout=3)

    def search() -> None:
        with ragpg.connect(settings=settings) as rag:
            rag.search("anything")

    uses: list[Callable[[], object]] = [
        search,
        lambda: migrate.upgrade(url),
        lambda: doctor.examine(url),
        lambda: migrate.status(make_conninfo("", **place, password=WRONG)),
    ]
    shown = repr(settings) + str(settings)
    for use in uses:
        with pytest.raises(DatabaseError) as caught:
            use()
        assert 'user "app"' in str(caught.value)
        shown += "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    for command in (["search", "x"], ["doctor"], ["doctor", "--json"], ["migrate"], ["ingest", "."],
                    ["namespaces", "list"]):  # fmt: skip
        environment = {"RAGPG_DSN": url, "RAGPG_POOL_TIMEOUT": "3", "RAGPG_CONNECT_TIMEOUT": "3"}
        result = CliRunner().invoke(main, [*command], env=environment)
        assert result.exit_code == 3, result.output
        shown += result.output + str(result.exception)
    shown += caplog.text + "".join(capsys.readouterr())
    for secret in (WRONG, "S3cr3t"):
        assert secret not in shown
