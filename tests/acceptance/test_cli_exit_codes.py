"""How a command ends: OP-05, and what it must not print: OP-01."""

from __future__ import annotations

import json
import signal
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from psycopg.conninfo import conninfo_to_dict

from ragpg.cli import failures
from tests.integration.doubles import eventually

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    import psycopg
    from click.testing import Result

#: Nothing listens there.
NOWHERE = "http://127.0.0.1:9/v1"


def _write(folder: Path, count: int, paragraphs: int = 1) -> Path:
    folder.mkdir(exist_ok=True)
    for number in range(count):
        text = "\n\n".join(f"Paragraph {number}.{n} about refunds." for n in range(paragraphs))
        (folder / f"{number:04}.md").write_text(text)
    return folder


@pytest.mark.case("OP-05")
def test_exit_codes_tell_what_happened_op_05(
    ragpg_cli: Callable[..., Result], tmp_path: Path
) -> None:
    docs = _write(tmp_path / "docs", 5)

    def ingest(*arguments: str) -> tuple[int, dict[str, int]]:
        result = ragpg_cli("ingest", *arguments, "--json")
        counts = json.loads(result.stdout)["counts"] if result.stdout else {}
        assert "Traceback" not in result.stderr
        return result.exit_code, counts

    everything = {"stored": 5, "unchanged": 0, "empty": 0, "skipped": 0, "removed": 0, "failed": 0}
    assert ingest(str(docs)) == (0, everything)
    assert ingest(str(docs)) == (0, everything | {"stored": 0, "unchanged": 5})
    (docs / "0003.md").write_bytes(b"\x7fELF\x02\x01\x01\x00\x00\x00" * 20)
    (docs / "0004.md").write_text("Another text.")
    code, counts = ingest(str(docs))
    assert code == failures.FAILED
    assert counts["failed"] == 1
    assert counts["stored"] == 1
    assert ingest(str(tmp_path / "missing"))[0] == failures.USAGE
    (tmp_path / "empty").mkdir()
    code, counts = ingest(str(tmp_path / "empty"))
    assert (code, sum(counts.values())) == (0, 0)


@pytest.mark.case("OP-05")
def test_a_service_that_is_down_is_no_success_op_05(
    ragpg_cli: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    monkeypatch.setenv("OPENAI_BASE_URL", NOWHERE)
    docs = _write(tmp_path / "docs", 2)
    result = ragpg_cli("ingest", str(docs), "--embedder", "openai")
    assert result.exit_code in (failures.FAILED, failures.UNAVAILABLE)
    assert "Traceback" not in result.output
    assert "sk-test" not in result.output


@pytest.mark.case("OP-05")
def test_ctrl_c_ends_quietly_and_the_next_run_completes_op_05(
    ragpg_cli: Callable[..., Result],
    ragpg_process: Callable[..., subprocess.Popen[str]],
    tmp_path: Path,
) -> None:
    docs = _write(tmp_path / "docs", 600, paragraphs=30)
    process = ragpg_process("ingest", str(docs), "--embedder", "hash")
    assert process.stdout is not None
    first = process.stdout.readline()
    assert first.startswith("OK "), process.communicate()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == failures.INTERRUPTED, errors
    assert "Interrupted" in errors
    assert "Traceback" not in errors
    found = json.loads(ragpg_cli("ingest", str(docs), "--embedder", "hash", "--json").stdout)
    assert found["counts"]["stored"] + found["counts"]["unchanged"] == 600
    assert found["counts"]["stored"] > 0


def test_sigterm_gives_back_what_others_wait_for(
    ragpg_process: Callable[..., subprocess.Popen[str]],
    db: psycopg.Connection[Any],
    tmp_path: Path,
) -> None:
    """A text is embedded by one process at a time; one that is ended leaves it to the others."""
    pytest.importorskip("openai")
    claims = "select count(*) from ragpg.embedding_claim"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        process = ragpg_process(
            "ingest", str(_write(tmp_path / "docs", 3)), "--embedder", "openai:text-embedding-3-small",
            OPENAI_API_KEY="a key", OPENAI_BASE_URL=f"http://127.0.0.1:{silent.getsockname()[1]}/v1",
        )  # fmt: skip
        assert eventually(lambda: db.execute(claims).fetchone() == (3,))
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == failures.TERMINATED, errors
    assert "Interrupted" in errors
    assert db.execute(claims).fetchone() == (0,)


def test_a_watch_that_waits_for_a_table_ends_at_the_second_signal(
    ragpg_process: Callable[..., subprocess.Popen[str]],
    db: psycopg.Connection[Any],
    tmp_path: Path,
) -> None:
    waiting = "select count(*) > 0 from pg_locks where not granted and relation = 'ragpg.namespace'::regclass"
    with db.transaction():
        db.execute("lock table ragpg.namespace in access exclusive mode")
        process = ragpg_process("watch", str(_write(tmp_path / "docs", 1)), "--embedder", "none")
        assert eventually(lambda: db.execute(waiting).fetchone() == (True,))
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == failures.TERMINATED, errors
    assert "Interrupted" in errors


@pytest.mark.case("OP-05")
def test_a_closed_pipe_ends_quietly_op_05(
    ragpg_process: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    docs = _write(tmp_path / "docs", 300)
    process = ragpg_process("ingest", str(docs), PYTHONUNBUFFERED="1")
    assert process.stdout is not None
    assert process.stderr is not None
    first = process.stdout.readline()
    assert first.startswith("OK "), process.communicate()
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == failures.CLOSED, errors
    assert errors == ""


URL = "postgresql://app:S3cr3t%40pw@127.0.0.1:1/kb?sslmode=require"
KEY = "sk-test-0123456789abcdef"
SECRETS = ("S3cr3t@pw", "S3cr3t%40pw", "S3cr3t", KEY, quote(KEY))


def _no_secrets(*texts: str) -> None:
    for text in texts:
        for secret in SECRETS:
            assert secret not in text


@pytest.mark.case("OP-01")
@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "refunds"],
        ["ingest", "."],
        ["namespaces", "list"],
        ["doctor"],
        ["doctor", "--json"],
        ["migrate"],
        ["migrate", "--status"],
    ],
)
def test_an_unreachable_server_shows_no_password_op_01(
    ragpg_cli: Callable[..., Result],
    arguments: list[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    caplog.set_level("DEBUG")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGPG_CONNECT_TIMEOUT", "2")
    monkeypatch.setenv("RAGPG_POOL_TIMEOUT", "2")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    by_variable = ragpg_cli(*arguments, env={"RAGPG_DSN": URL})
    by_option = ragpg_cli(*arguments, "--dsn", URL)
    for result in (by_variable, by_option):
        assert result.exit_code == failures.UNAVAILABLE, result.output
        assert "127.0.0.1" in result.stderr
        assert "Traceback" not in result.output
        assert "\\n" not in result.stderr
        assert all(line[:5] in ("Error", "Hint:", "note:") for line in result.stderr.splitlines())
        _no_secrets(result.output, caplog.text, str(result.exception))


@pytest.mark.case("OP-01")
@pytest.mark.parametrize(
    "url",
    [
        "postgresql://app:S3cr3t@pw@127.0.0.1:1/kb",
        "postgresql://app:S3cr3t%zz@127.0.0.1/kb",
        "postgresql://app:x/S3cr3t@127.0.0.1/kb",
        "host=127.0.0.1 password='S3cr3t",
    ],
)
def test_an_invalid_address_is_not_quoted_op_01(ragpg_cli: Callable[..., Result], url: str) -> None:
    for command in (["search", "refunds"], ["migrate"], ["doctor"]):
        result = ragpg_cli(*command, "--dsn", url)
        assert result.exit_code in (failures.USAGE, failures.UNAVAILABLE), result.output
        _no_secrets(result.output)


@pytest.mark.case("OP-01")
def test_a_fault_of_ours_shows_no_secret_op_01(
    ragpg_cli: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError(f"while talking to {URL} with {KEY}")

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("ragpg.cli.clients.connect", explode)
    result = ragpg_cli("search", "refunds")
    assert result.exit_code == failures.FAULT
    assert "ZeroDivisionError" in result.stderr
    assert "app:***@127.0.0.1" in result.stderr
    _no_secrets(result.output)


def test_usage_errors_have_their_own_code(ragpg_cli: Callable[..., Result], database: str) -> None:
    assert conninfo_to_dict(database)
    for arguments in (
        ["serch", "x"],
        ["search"],
        ["search", "x", "-k", "-1"],
        ["search", "x", "--embedder", "word2vec"],
        ["ingest"],
        ["eval", "/nowhere"],
    ):
        result = ragpg_cli(*arguments)
        assert result.exit_code == failures.USAGE, (arguments, result.output)
        assert "Traceback" not in result.output


def test_values_that_the_database_cannot_take_are_wrong_use(
    ragpg_cli: Callable[..., Result],
) -> None:
    ragpg_cli("namespaces", "create", "default")
    for wrong in (
        ["-k", "99999999999"],
        ["--filter", '{"a": "b\\u0000"}'],
        ["--filter", '{"a": {"in": ["\\ud800"]}}'],
    ):
        result = ragpg_cli("search", "refund", *wrong)
        assert result.exit_code == failures.USAGE, result.output
    assert ragpg_cli("search", "refund", "--filter", '{"a": "\\\\u0000 é 🎉"}').exit_code == 0
    assert ragpg_cli("search", "refund", "-n", "a\udcff").exit_code == failures.FAILED


def test_downgrade_takes_its_options_before_and_after(
    ragpg_cli: Callable[..., Result], database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAGPG_DSN")
    where = ["--dsn", database, "--schema", "other"]
    assert ragpg_cli("migrate", *where).exit_code == 0
    monkeypatch.setenv("RAGPG_SCHEMA", "third")
    assert "Schema other: " in ragpg_cli("migrate", *where, "downgrade", "--yes").stdout
    assert ragpg_cli("migrate", *where).exit_code == 0
    assert "Schema other: " in ragpg_cli("migrate", "downgrade", "--yes", *where).stdout
    monkeypatch.delenv("RAGPG_SCHEMA")
    assert ragpg_cli("migrate", "--dsn", database, "--status").exit_code == 0


def test_an_unknown_namespace_is_named_by_every_command_that_takes_one(
    ragpg_cli: Callable[..., Result],
) -> None:
    ragpg_cli("namespaces", "create", "handbook")
    for arguments in (
        ("search", "", "-n", "nope"),
        ("search", "refund", "-k", "0", "-n", "nope"),
        ("mcp", "-n", "handbok"),
    ):
        found = ragpg_cli(*arguments)
        assert found.exit_code == failures.FAILED, arguments
        assert "does not exist" in found.stderr, arguments
    assert "Did you mean handbook?" in ragpg_cli("mcp", "-n", "handbok").stderr
