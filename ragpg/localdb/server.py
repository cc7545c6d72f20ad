"""The life of one server: initialise, start, repair, stop."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ragpg.errors import LocalDatabaseError
from ragpg.localdb.configuration import Configuration
from ragpg.localdb.place import DATABASE, SUPERUSER, Place

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragpg.localdb.programs import Programs

log = logging.getLogger("ragpg.localdb")

EXTENSIONS = ("vector", "btree_gin", "pg_trgm", "age")


def ensure(place: Place, programs: Programs, wanted: Configuration) -> None:
    """Leave a server running with the wanted configuration, whatever was there before."""
    if place.complete.exists():
        _check_owner(place)
        _check_version(place, programs)
        _start(place, programs, wanted)
    else:
        _initialise(place, programs, wanted)


def postmaster(place: Place) -> int | None:
    """The process in the pid file, if it is a server that works on this data.

    The number alone proves nothing: after a crash another process may have it, and a data
    folder copied from a running server brings the pid file of the original.
    """
    with contextlib.suppress(OSError, ValueError, IndexError):
        pid = int((place.data / "postmaster.pid").read_text().splitlines()[0])
        if works_on(pid, place.data):
            return pid
    return None


def works_on(pid: int, data: Path) -> bool:
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            return os.path.samefile(f"/proc/{pid}/cwd", data)
        return False
    found = subprocess.run(
        ["ps", "-o", "command=", "-p", str(pid)], text=True, stdout=subprocess.PIPE, check=False
    )
    return str(data) in found.stdout


def answers(place: Place, programs: Programs) -> bool:
    port = Configuration.read(place.configuration).port
    address = place.socket_dsn(port, "postgres")
    command = [str(programs.path("pg_isready")), "-q", "-d", address]
    return subprocess.run(command, check=False).returncode == 0


def stop(place: Place) -> None:
    """Stop the server if there is one: sessions are ended, all data is written."""
    pid = postmaster(place)
    if pid is None:
        return
    # What pg_ctl sends for a fast stop; this way a server stops without its programs, too.
    os.kill(pid, signal.SIGINT)
    if not _wait(lambda: not works_on(pid, place.data), seconds=60):
        raise LocalDatabaseError(f"server {pid} does not stop; see {place.log}")


def _initialise(place: Place, programs: Programs, wanted: Configuration) -> None:
    # An initialisation that was cut short left no mark: it starts afresh.
    stop(place)
    shutil.rmtree(place.data, ignore_errors=True)
    account = place.account
    account.own_folder(place.data, 0o700)
    place.password.unlink(missing_ok=True)
    place.password.touch(mode=0o600)
    place.password.write_text(secrets.token_urlsafe(24))
    account.own(place.password, 0o600)
    # The built-in C.UTF-8 is the same on every host, whatever locales the host has.
    account.run(
        programs.path("initdb"),
        *("-D", place.data, "-U", SUPERUSER),
        *("--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={place.password}"),
        *("--encoding=UTF8", "--locale=C", "--locale-provider=builtin"),
        *("--builtin-locale=C.UTF-8", "--no-instructions"),
        *(["--no-sync"] if wanted.throwaway else []),
    )
    with open(place.data / "postgresql.conf", "a") as main:
        main.write(f"include = '{place.configuration.name}'\n")
    _start(place, programs, wanted)
    _sql(place, programs, "postgres", f"CREATE DATABASE {DATABASE}")
    present = programs.extensions()
    creates = [f"CREATE EXTENSION {name}" for name in EXTENSIONS if name in present]
    _sql(place, programs, DATABASE, *creates)
    place.complete.touch()
    account.own(place.complete, 0o600)


def _start(place: Place, programs: Programs, wanted: Configuration) -> None:
    text = wanted.text(place.socket, programs.libraries())
    before = place.configuration.read_text() if place.configuration.exists() else ""
    if before != text:
        stop(place)
        _wait_for_orphans(place)
        if not wanted.throwaway and Configuration.read(place.configuration).throwaway:
            # What was written while nobody waited for the disk has to reach it once.
            place.account.run(programs.path("initdb"), "--sync-only", "-D", place.data)
        place.configuration.write_text(text)
        place.account.own(place.configuration, 0o600)
    if pid := postmaster(place):
        # It may still be in recovery.
        if not _wait(lambda: answers(place, programs), seconds=60):
            raise LocalDatabaseError(f"server {pid} does not answer; see {place.log}")
        return
    _wait_for_orphans(place)
    _remove_stale_locks(place)
    place.account.own_folder(place.socket, 0o700)
    place.log.touch()
    place.account.own(place.log, 0o600)
    started = place.account.run(
        programs.path("pg_ctl"),
        *("-D", place.data, "-l", place.log, "-w", "-t", "60", "-s", "start"),
        check=False,
        # The server would inherit a pipe and keep its reader waiting.
        capture=False,
    )
    if started.returncode:
        lines = place.log.read_text(errors="replace").splitlines()[-15:]
        raise LocalDatabaseError("the server did not start:\n" + "\n".join(lines))


def _wait_for_orphans(place: Place) -> None:
    """Wait until no session of a killed server works on the data any more.

    After kill -9 of the main process its sessions notice within moments, but one that is busy
    may go on writing. A second server beside it would destroy the data, so it is ended; what
    it wrote is recovered from the log as after any crash.
    """
    if sys.platform != "linux":
        return
    for number in (signal.SIGQUIT, signal.SIGKILL):
        if _wait(lambda: not _orphans(place), seconds=2):
            return
        for pid in _orphans(place):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
    if _wait(lambda: not _orphans(place), seconds=5):
        return
    raise LocalDatabaseError(
        f"processes {_orphans(place)} of a killed server still work on {place.data}",
        hint="end them",
    )


def _orphans(place: Place) -> list[int]:
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [pid for pid in pids if works_on(pid, place.data) and _is_server(pid)]


def _is_server(pid: int) -> bool:
    """Whether a process is PostgreSQL's, and not a shell that stands in the data folder."""
    with contextlib.suppress(OSError):
        return b"postgres" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def _remove_stale_locks(place: Place) -> None:
    """Remove the lock files of a server that is gone.

    PostgreSQL does so itself, unless another process of the same user now has the number:
    then it would refuse to start.
    """
    if (place.data / "postmaster.pid").exists():
        log.warning("removing the pid file of a server that is gone")
        (place.data / "postmaster.pid").unlink()
        for stale in place.socket.glob(".s.PGSQL.*"):
            stale.unlink()


def _check_owner(place: Place) -> None:
    owner = place.data.stat().st_uid
    if owner != place.account.uid:
        raise LocalDatabaseError(
            f"{place.data} belongs to the user with number {owner}, not to {place.account.name}",
            hint="run as that user, or as root with RAGPG_DB_USER set to it",
        )


def _check_version(place: Place, programs: Programs) -> None:
    has = (place.data / "PG_VERSION").read_text().strip()
    if has != programs.major:
        raise LocalDatabaseError(
            f"{place.data} is of PostgreSQL {has}, but the programs are {programs.major}",
            hint="dump it with the old programs, or delete it: ragpg db destroy --yes",
        )


def _sql(place: Place, programs: Programs, database: str, *statements: str) -> None:
    address = place.socket_dsn(Configuration.read(place.configuration).port, database)
    words = [word for statement in statements for word in ("-c", statement)]
    place.account.run(
        programs.path("psql"), "-qXAt", "-v", "ON_ERROR_STOP=1", "-d", address, *words
    )


def _wait(done: Callable[[], bool], *, seconds: float) -> bool:
    limit = time.monotonic() + seconds
    while not done():
        if time.monotonic() > limit:
            return False
        time.sleep(0.05)
    return True
