"""Where a local database lives: its options, its folders, its address."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from ragpg.errors import LocalDatabaseError
from ragpg.localdb.account import Account

if TYPE_CHECKING:
    from collections.abc import Mapping

DATABASE = "ragpg"
SUPERUSER = "postgres"
SUITES = ("forky", "trixie")
PROVIDERS = ("debian", "embedded")
# A Unix socket's path may have 107 bytes; this leaves room for "/.s.PGSQL.65535.lock".
SOCKET_FOLDER_BYTES = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a caller may choose; None means the environment's choice, else the default."""

    home: Path | None = None
    suite: str | None = None
    port: int | None = None
    user: str | None = None
    throwaway: bool | None = None
    provider: str | None = None
    programs: Path | None = None

    @classmethod
    def from_env(cls, environment: Mapping[str, str] | None = None) -> Options:
        """Read RAGPG_DB_HOME, _SUITE, _PORT, _USER, _THROWAWAY, _PROVIDER and _PROGRAMS."""
        source = os.environ if environment is None else environment

        def get(name: str) -> str | None:
            return source.get(f"RAGPG_DB_{name}") or None

        home, port, throwaway, programs = map(get, ["HOME", "PORT", "THROWAWAY", "PROGRAMS"])
        if port is not None and not port.isdecimal():
            raise LocalDatabaseError(f"RAGPG_DB_PORT is not a port number: {port!r}")
        flags = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
        if throwaway is not None and throwaway.lower() not in flags:
            raise LocalDatabaseError(f"RAGPG_DB_THROWAWAY is neither 1 nor 0: {throwaway!r}")
        return cls(
            home=Path(home) if home else None,
            suite=get("SUITE"),
            port=int(port) if port else None,
            user=get("USER"),
            throwaway=flags[throwaway.lower()] if throwaway else None,
            provider=get("PROVIDER"),
            programs=Path(programs) if programs else None,
        )

    def over(self, other: Options) -> Options:
        """These options, and the other's where these say nothing."""

        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(other, **{name: value for name, value in given.items() if value is not None})


@dataclass(frozen=True, slots=True)
class Place:
    """The folders of one server; nothing outside them changes."""

    home: Path
    name: str
    programs: Path
    socket: Path
    account: Account

    @property
    def folder(self) -> Path:
        return self.home / self.name

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def password(self) -> Path:
        return self.folder / "password"

    @property
    def configuration(self) -> Path:
        return self.data / "ragpg.conf"

    @property
    def complete(self) -> Path:
        """The mark that the data's initialisation went through to its end."""
        return self.data / "ragpg.ok"

    def socket_dsn(self, port: int, database: str = DATABASE) -> str:
        socket = quote(str(self.socket), safe="")
        return f"postgresql://{SUPERUSER}@/{database}?host={socket}&port={port or 5432}"

    def dsn(self, port: int, database: str = DATABASE) -> str:
        """The address to connect to: over TCP if the server has a port, else over its socket."""
        if not port:
            return self.socket_dsn(port, database)
        password = self.password.read_text()
        return f"postgresql://{SUPERUSER}:{password}@127.0.0.1:{port}/{database}"


def locate(options: Options, provider: str) -> Place:
    """The place that the options name; nothing is written."""
    suite = options.suite or SUITES[0]
    if not suite.isalnum():
        raise LocalDatabaseError(f"not the name of a Debian suite: {suite!r}")
    name = "embedded" if provider == "embedded" else suite
    account = Account.choose(options.user)
    home = _reachable(account, (options.home or _default_home()).expanduser().resolve())
    programs = home / "programs"
    if options.programs:
        programs = _reachable(account, options.programs.expanduser().resolve())
    socket = home / name / "run"
    if len(os.fsencode(socket)) > SOCKET_FOLDER_BYTES:
        socket = Path(f"/tmp/ragpg-{_tag(home)}-{name}")
    return Place(home, name, programs, socket, account)


def _default_home() -> Path:
    here = Path.cwd()
    for folder in [here, *here.parents]:
        if (folder / "pyproject.toml").exists() or (folder / ".git").exists():
            return folder / ".ragpg"
    return Path("~/.local/share/ragpg")


def _reachable(account: Account, folder: Path) -> Path:
    # Root's own folders and mode 0700 parents are closed to the server's user. The data moves
    # to where a system keeps state: /var/tmp is emptied after 30 days on newer distributions.
    return folder if account.reaches(folder) else Path("/var/lib/ragpg") / _tag(folder)


def _tag(folder: Path) -> str:
    return hashlib.sha256(os.fsencode(folder)).hexdigest()[:10]
