"""The user a server runs as, and the folders and commands that belong to this user."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragpg.errors import LocalDatabaseError

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Account:
    """A user of this machine; `switch` says that the caller is root and has to become it."""

    name: str
    uid: int
    gid: int
    switch: bool

    @classmethod
    def choose(cls, name: str | None = None) -> Account:
        """The caller, or for root `name`, else `postgres`, else `nobody`."""
        # Absent on Windows, where `ragpg` must still import.
        import pwd

        caller = os.geteuid()
        if caller != 0:
            # A container may run under a number that has no name.
            with contextlib.suppress(KeyError):
                return cls(pwd.getpwuid(caller).pw_name, caller, os.getegid(), switch=False)
            return cls(str(caller), caller, os.getegid(), switch=False)
        # PostgreSQL refuses to run as root.
        for candidate in [name] if name else ["postgres", "nobody"]:
            with contextlib.suppress(KeyError):
                entry = pwd.getpwnam(candidate)
                if entry.pw_uid == 0:
                    raise LocalDatabaseError(
                        "PostgreSQL refuses to run as root",
                        hint="set RAGPG_DB_USER to an ordinary user of this machine",
                    )
                return cls(candidate, entry.pw_uid, entry.pw_gid, switch=True)
        raise LocalDatabaseError(
            f"there is no user {name or 'postgres or nobody'} to run the server as",
            hint="set RAGPG_DB_USER to an ordinary user of this machine",
        )

    def run(
        self, *command: str | Path, check: bool = True, capture: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run a command as this user, with nothing of the caller's environment or folder."""
        return subprocess.run(
            [str(word) for word in command],
            check=check,
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if capture else subprocess.DEVNULL,
            stderr=subprocess.PIPE if capture else subprocess.DEVNULL,
            text=True,
            user=self.uid if self.switch else None,
            group=self.gid if self.switch else None,
            extra_groups=[] if self.switch else None,
            # A caller's umask of 077 would hide the files from the server's user.
            umask=0o022,
        )

    def reaches(self, folder: Path) -> bool:
        """Whether this user may pass through the folder and every parent that exists."""
        if not self.switch:
            return True
        existing = [str(path) for path in [folder, *folder.parents] if path.exists()]
        # One shell for all of them: a process for each folder would be slow.
        test = 'for folder; do [ -x "$folder" ] || exit 1; done'
        return self.run("/bin/sh", "-c", test, "sh", *existing, check=False).returncode == 0

    def own(self, path: Path, mode: int) -> None:
        """Give an existing file to this user."""
        path.chmod(mode)
        if self.switch:
            os.chown(path, self.uid, self.gid)

    def own_folder(self, path: Path, mode: int) -> None:
        """Make a folder of this user, and refuse one that somebody else put there."""
        make_folder(path.parent)
        path.mkdir(mode=mode, exist_ok=True)
        found = path.lstat()
        # The name of a socket folder in /tmp can be foreseen by every user of the machine.
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in {self.uid, os.geteuid()}:
            raise LocalDatabaseError(
                f"{path} belongs to another user",
                hint="remove it, or run as the user it belongs to",
            )
        self.own(path, mode)


def make_folder(path: Path) -> None:
    """Make a folder, and its parents, that every user may read whatever the umask is."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(exist_ok=True)
        path.chmod(0o755)
