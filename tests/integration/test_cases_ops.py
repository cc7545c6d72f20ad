"""Secrets stay secret, and a role that may only read can read."""

from __future__ import annotations

import json
import logging
import threading
import traceback
import uuid
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import psycopg
import pytest
from click.testing import CliRunner
from psycopg.conninfo import make_conninfo

import ragpg
from ragpg import migrate
from ragpg.cli.main import main
from ragpg.connection_address import read_dsn
from ragpg.doctor import examine
from ragpg.errors import ConfigError, DatabaseError, ReadOnlyDatabase, SchemaMissing, SchemaOutdated
from ragpg.evaluate.datasets import JudgedSet
from ragpg.evaluate.judged import evaluate

from .doubles import CountingEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Database = psycopg.Connection[Any]

KEY = "sk-test-0123456789abcdef"
PASSWORD = "S3cr3t@pw"
URL = "postgresql://app:S3cr3t%40pw@127.0.0.1:1/kb"
#: Passwords, and whether a URL with them as they are can be told from a good one.
PASSWORDS = {
    "p@ss": True,
    "a:b/c": True,
    "100%": True,
    "50%25": False,
    "q?x=1#y": True,
    "sp ace": False,
    "[br]": False,
    "ümläut": False,
    "$HOME": False,
    "quote'\"\\": False,
}


@pytest.mark.case("OP-01")
@pytest.mark.parametrize(
    "url",
    [
        URL + "?sslmode=require",
        URL.replace("127.0.0.1:1", "no.such.host.invalid"),
        URL.replace("/kb", "/kb?nonsense=1"),
        URL.replace("127.0.0.1:1", "127.0.0.1:port"),
        "host=127.0.0.1 port=1 user=app password=S3cr3t@pw",
        "host=127.0.0.1 port=1 password='S3cr3t@pw",
    ],
)
def test_a_password_is_never_shown_op_01(
    url: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    settings = ragpg.Settings(dsn=url, connect_timeout=2)
    print(repr(settings))

    def use() -> None:
        with ragpg.connect(settings=settings) as rag:
            print(rag)
            rag.search("anything")

    with pytest.raises(ragpg.RagpgError) as caught:
        use()
    shown = "".join(traceback.format_exception(caught.value))
    shown += caplog.text + "".join(capsys.readouterr()) + repr(caught.value)
    # The lines of this file in the traceback name none of it.
    for secret in (PASSWORD, "S3cr3t"):
        assert secret not in shown
    assert isinstance(caught.value, (DatabaseError, ConfigError))


@pytest.mark.case("OP-01")
@pytest.mark.parametrize("use", [migrate.upgrade, migrate.downgrade, migrate.status, examine])
@pytest.mark.parametrize(
    "url",
    [
        "postgresql://app:S3cr3t@pw@127.0.0.1:1/kb",
        "postgresql://app:S3cr3t%zz@127.0.0.1:1/kb",
        "postgresql://app:x/S3cr3t@127.0.0.1:1/kb",
        "host=127.0.0.1 port=1 password='S3cr3t",
    ],
)
def test_an_address_that_cannot_be_read_is_not_quoted_op_01(
    use: Callable[[str], object], url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(ConfigError) as caught:
        use(url)
    shown = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert "S3cr3t" not in shown
    assert "pw@" not in shown


@pytest.mark.case("OP-01")
def test_a_key_that_a_service_refuses_is_never_stored_op_01(
    database: str,
    db: Database,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("openai")
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("RAGPG_DSN", database)
    with refusing_service() as url:
        embedder = ragpg.OpenAIEmbedder(
            "stub", base_url=url, api_key=KEY, dimensions=8, max_retries=0
        )
        with ragpg.connect(database, embedder=embedder) as rag:
            report = rag.ingest(texts=[("a.md", "A text.")])
            assert not report.ok
            result = rag.search("text")
            assert result.report["embed"].error
            shown = f"{report} {result} {embedder!r} {rag.doctor()}"
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        for command in (["search", "text"], ["ingest", __file__], ["doctor", "--json"]):
            run = CliRunner().invoke(main, [*command, "--embedder", "openai"])
            shown += run.output + str(run.exception)
    assert "401" in shown
    for (table,) in db.execute(
        """select oid::regclass::text from pg_class
            where relnamespace = 'ragpg'::regnamespace and relkind in ('r', 'v')"""
    ).fetchall():
        shown += str(db.execute(f"select * from {table}").fetchall())
    shown += caplog.text + "".join(capsys.readouterr())
    assert KEY not in shown
    assert quote(KEY) not in shown


@contextmanager
def refusing_service() -> Iterator[str]:
    """The address of a service that answers 401 and repeats the key it was sent."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            said = f"Incorrect API key provided: {self.headers['authorization']}"
            body = json.dumps({"error": {"message": said}}).encode()
            self.send_response(401)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


@pytest.mark.case("OP-02")
@pytest.mark.parametrize("password", PASSWORDS)
def test_special_characters_in_a_password_op_02(password: str, database: str) -> None:
    url = f"postgresql://app:{quote(password, safe='')}@db.example.com:5432/kb"
    for given in (url, url.replace("postgresql:", "postgresql+psycopg:")):
        assert read_dsn(given)["password"] == password
    assert read_dsn(make_conninfo("", host="h", password=password))["password"] == password
    # A server that asks for none accepts any.
    with ragpg.connect(make_conninfo(database, password=password)) as rag:
        assert rag.namespaces() == []
    if PASSWORDS[password]:
        with pytest.raises(ConfigError) as caught:
            read_dsn(f"postgresql://app:{password}@db.example.com:5432/kb")
        assert "Percent-encode" in str(caught.value.hint)
        assert password not in "".join(traceback.format_exception(caught.value)).replace("%25", "")


@pytest.mark.case("OP-02")
@pytest.mark.parametrize(
    "url",
    [
        "postgresql://",
        "postgres:///kb",
        "postgresql://app@/kb?host=/tmp&port=5432",
        "postgresql://one:1,two:2/kb",
        "postgresql://app:p%40ss@[::1]:5432/kb?options=-c%20search_path%3Da",
        "postgresql://host/kb?user=me@example.com",
        "dbname=kb user='a b'",
        "",
    ],
)
def test_good_addresses_pass_op_02(url: str) -> None:
    read_dsn(url)


@pytest.fixture
def reader(server: str, database: str) -> Iterator[str]:
    """The DSN of a role that may select and execute, and nothing else."""
    role = f"reader_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            f"""create role {role} login;
                grant usage on schema ragpg to {role};
                grant select on all tables in schema ragpg to {role};
                grant execute on all functions in schema ragpg to {role}"""
        )
        yield make_conninfo(database, user=role)
        connection.execute(f"drop owned by {role}; drop role {role}")


@pytest.mark.case("SC-03")
@pytest.mark.parametrize("kind", ["setting", "role"])
def test_reading_needs_no_right_to_write_sc_03(
    database: str, kind: str, request: pytest.FixtureRequest
) -> None:
    embedder = CountingEmbedder()
    with ragpg.connect(database, embedder=embedder) as rag:
        rag.ingest(texts=[("a.md", "A text.")])
    dsn = make_conninfo(database, options="-c default_transaction_read_only=on")
    if kind == "role":
        dsn = request.getfixturevalue("reader")
    asked = embedder.requests
    with ragpg.connect(dsn, embedder=embedder) as rag:
        assert rag.search("text").hits[0].source == "a.md"
        assert not [arm for arm in rag.search("text").report.values() if arm.error]
        assert rag.namespaces()[0].chunks == 1
        checks = {check.name: check for check in rag.doctor()}
        assert not [check for check in checks.values() if check.status == "error"]
        assert "not ingest" in checks["rights"].detail
        report = evaluate(
            lambda query, rung: [hit.source for hit in rag.search(query, arms=[rung]).hits],
            JudgedSet("one", {}, {"q": "text"}, {"q": {"a.md": 1.0}}),
            ["keyword", "vector"],
        )
        assert [rung.metrics["recall@10"].mean for rung in report.runs.values()] == [1.0, 1.0]
        for namespace in ("default", "new"):
            with pytest.raises(ReadOnlyDatabase):
                rag.ingest(texts=[("b.md", "Another text.")], namespace=namespace)
        with pytest.raises(ReadOnlyDatabase):
            rag.delete(["a.md"])
    assert embedder.requests == asked


def test_a_database_without_the_schema_says_what_to_run(empty_database: str) -> None:
    with ragpg.connect(empty_database) as rag, pytest.raises(SchemaMissing) as caught:
        rag.search("anything")
    assert "ragpg migrate" in str(caught.value.hint)


def test_a_schema_of_another_version_says_what_to_run(database: str, db: Database) -> None:
    db.execute("update ragpg.install set digest = 'other', version = '0.0.9'")
    with ragpg.connect(database) as rag, pytest.raises(SchemaOutdated, match=r"0\.0\.9"):
        rag.namespaces()
