"""A real server in a folder of its own, through everything that can happen to it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from ragpg import localdb
from ragpg.cli.db import db
from ragpg.errors import LocalDatabaseError

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "ragpg.cli.db"]
# The programs are the ones that the other tests run on: nothing is downloaded twice.
SETTINGS = {
    "RAGPG_DB_PROGRAMS": os.environ.get("RAGPG_DB_PROGRAMS") or str(PROJECT / ".ragpg/programs"),
    "RAGPG_DB_PROVIDER": os.environ.get("RAGPG_DB_PROVIDER") or "",
    "RAGPG_DB_SUITE": os.environ.get("RAGPG_DB_SUITE") or "",
}


@contextlib.contextmanager
def new_home() -> Iterator[Path]:
    """An empty home that every function uses, destroyed with its server afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("RAGPG_DB_")]:
            patch.delenv(name)
        folder = Path(tempfile.mkdtemp(prefix="ragpg-test-"))
        # As root, the server's user has to pass through.
        folder.chmod(0o755)
        for name, value in {**SETTINGS, "RAGPG_DB_HOME": str(folder)}.items():
            patch.setenv(name, value)
        yield folder
        localdb.destroy()
        shutil.rmtree(folder)


@pytest.fixture
def home() -> Iterator[Path]:
    with new_home() as folder:
        yield folder


@pytest.fixture(scope="module")
def stopped() -> Iterator[Path]:
    """The folder of a throw-away server, to copy: initialising one takes longer."""
    with new_home():
        localdb.up(throwaway=True)
        localdb.stop()
        folder = localdb.status().data.parent
        original = folder.rename(folder.with_name("stopped"))
        yield original
        shutil.rmtree(original)


@pytest.fixture
def throwaway(stopped: Path, home: Path) -> Path:
    """A home whose server runs and does not wait for the disk."""
    copy = localdb.status().data.parent
    subprocess.run(["cp", "-a", stopped, copy], check=True)
    localdb.up()
    return home


def ask(query: str) -> str:
    command, environment = localdb.psql_command("-qXAt", "-c", query)
    return subprocess.run(
        command, env=environment, check=True, text=True, stdout=subprocess.PIPE
    ).stdout.strip()


def postmaster() -> int:
    pid = localdb.status().pid
    assert pid is not None
    return pid


def wait_until_gone(pid: int) -> None:
    for _ in range(200):
        if not localdb.status().running:
            return
        time.sleep(0.05)
    raise AssertionError(f"process {pid} is still there")


@pytest.mark.smoke
def test_up_makes_a_durable_database_with_the_extensions(home: Path) -> None:
    dsn = localdb.up()
    assert dsn == localdb.dsn()
    assert dsn.startswith("postgresql://postgres@/ragpg?host=")
    assert ask("show fsync") == "on"
    assert ask("show full_page_writes") == "on"
    assert ask("select current_database()") == "ragpg"
    extensions = ask("select string_agg(extname, ' ' order by extname) from pg_extension").split()
    assert {"vector", "btree_gin", "pg_trgm"} <= set(extensions)
    assert ("age" in extensions) == (localdb.status().name != "embedded")


def test_up_twice_keeps_the_server(throwaway: Path) -> None:
    before = postmaster()
    assert localdb.up() == localdb.dsn()
    assert postmaster() == before


def test_starts_again_quickly_with_its_data(throwaway: Path) -> None:
    ask("create table kept as select 7 as n")
    localdb.stop()
    assert not localdb.status().running
    started = time.monotonic()
    localdb.up()
    assert time.monotonic() - started < 60
    assert ask("select n from kept") == "7"


def test_durability_is_remembered_and_a_change_restarts(throwaway: Path) -> None:
    before = postmaster()
    localdb.up()
    assert ask("show fsync") == "off"
    localdb.up(throwaway=False)
    assert ask("show fsync") == "on"
    assert localdb.status().throwaway is False
    assert postmaster() != before


def test_repairs_a_killed_server(throwaway: Path) -> None:
    # A busy session outlives the main process and must not meet a second server.
    command, environment = localdb.psql_command(
        "-qXc", "select count(*) from generate_series(1, 1e11)"
    )
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ):
        while ask("select count(*) from pg_stat_activity where query like '%1e11)'") == "0":
            time.sleep(0.05)
        pid = postmaster()
        os.kill(pid, signal.SIGKILL)
        wait_until_gone(pid)
        localdb.up()
    assert ask("select 1") == "1"
    assert postmaster() != pid


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_a_pid_file_that_names_another_process_is_no_server(throwaway: Path) -> None:
    localdb.stop()
    data = localdb.status().data
    (data / "postmaster.pid").write_text(f"{os.getpid()}\n{data}\n")
    assert not localdb.status().running
    localdb.stop()
    localdb.up()
    assert ask("select 1") == "1"


def test_an_initialisation_that_was_cut_short_starts_afresh(throwaway: Path) -> None:
    data = localdb.status().data
    (data / "ragpg.ok").unlink()
    (data / "global/pg_control").unlink()
    localdb.up(throwaway=True)
    assert ask("select 1") == "1"


def test_two_at_once_make_one_server(home: Path) -> None:
    runs = [
        subprocess.Popen(
            [*COMMAND, "up", "--throwaway"], cwd=PROJECT, text=True, stdout=subprocess.PIPE
        )
        for _ in range(2)
    ]
    printed = {run.communicate(timeout=120)[0].strip() for run in runs}
    assert [run.returncode for run in runs] == [0, 0]
    assert printed == {localdb.dsn()}


def test_works_under_a_closed_umask(home: Path) -> None:
    before = os.umask(0o077)
    try:
        localdb.up(throwaway=True)
    finally:
        os.umask(before)
    assert ask("select 1") == "1"


def test_a_long_path_gets_a_short_socket(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGPG_DB_HOME", str(home / ("long" * 25)))
    localdb.up(throwaway=True)
    assert ask("select 1") == "1"
    assert str(home) not in localdb.dsn()
    localdb.destroy()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to become another user")
def test_root_moves_what_the_servers_user_cannot_reach(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "closed").mkdir(mode=0o700)
    monkeypatch.setenv("RAGPG_DB_HOME", str(home / "closed/db"))
    localdb.up(throwaway=True)
    moved = localdb.status().data
    assert not moved.is_relative_to(home)
    assert ask("select 1") == "1"
    localdb.destroy(delete_programs=True)
    assert not moved.exists()
    shutil.rmtree(moved.parents[1])


def test_a_port_asks_for_the_password_and_is_remembered(throwaway: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    dsn = localdb.up(port=port)
    assert f"@127.0.0.1:{port}/ragpg" in dsn
    assert localdb.up() == dsn
    command, environment = localdb.psql_command("-qXAt", "-c", "select 1", "-d", dsn)
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    wrong = dsn.replace("postgres:", "postgres:no", 1)
    refused = subprocess.run(
        [*command[:-1], wrong], env=environment, check=False, stderr=subprocess.PIPE, text=True
    )
    assert "password authentication failed" in refused.stderr
    assert "host=" in localdb.up(port=0)


def test_a_server_that_cannot_start_shows_its_log(throwaway: Path) -> None:
    localdb.stop()
    (localdb.status().data / "postgresql.auto.conf").write_text("shared_buffers = 'plenty'\n")
    with pytest.raises(LocalDatabaseError, match="shared_buffers"):
        localdb.up()


def test_data_of_another_version_is_refused(throwaway: Path) -> None:
    localdb.stop()
    (localdb.status().data / "PG_VERSION").write_text("12\n")
    with pytest.raises(LocalDatabaseError, match="is of PostgreSQL 12"):
        localdb.up()


def test_commands(home: Path) -> None:
    run = CliRunner().invoke
    absent = run(db, ["status"])
    assert absent.exit_code == 3
    assert absent.stdout.startswith("absent")
    assert "ragpg db up" in run(db, ["dsn"]).output

    up = run(db, ["up", "--throwaway", "--json"])
    assert '"running": true' in up.stdout
    assert run(db, ["dsn"]).stdout == f"{localdb.dsn()}\n"
    passed = subprocess.run(
        [*COMMAND, "psql", "-qXAt", "-c", "select 6 * 7"],
        cwd=PROJECT,
        check=True,
        text=True,
        stdout=subprocess.PIPE,
    )
    assert passed.stdout == "42\n"

    refused = run(db, ["destroy"])
    assert refused.exit_code == 2
    assert "--yes" in refused.output
    assert run(db, ["status"]).exit_code == 0
    assert run(db, ["destroy", "--yes"]).exit_code == 0
    assert run(db, ["status"]).stdout.startswith("absent")
    assert not (home / localdb.status().name).exists()


def test_shared_programs_survive_destroy(throwaway: Path) -> None:
    localdb.destroy(delete_programs=True)
    localdb.up(throwaway=True)
    assert ask("select 1") == "1"


def test_stop_and_destroy_tell_the_state_as_json(throwaway: Path) -> None:
    told = CliRunner().invoke(db, ["dsn", "--json"])
    assert json.loads(told.stdout)["running"] is True
    stopped = CliRunner().invoke(db, ["stop", "--json"])
    assert json.loads(stopped.stdout)["running"] is False
    gone = CliRunner().invoke(db, ["destroy", "--yes", "--json"])
    assert gone.exit_code == 0
    assert json.loads(gone.stdout)["running"] is False
