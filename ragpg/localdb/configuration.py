"""The settings a server is started with, written anew at each start."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

TEMPLATE = """# Written at each start of the local database; ALTER SYSTEM overrides it.
listen_addresses = '{listen}'
port = {port}
unix_socket_directories = '{socket}'
shared_preload_libraries = '{preload}'
shared_buffers = {buffers}MB
maintenance_work_mem = 256MB
max_wal_size = 4GB
random_page_cost = 1.1
# Compiling costs short queries more than it saves, and its library is not unpacked.
jit = off
"""
THROWAWAY = """# Throw-away data: the server never waits for the disk.
fsync = off
synchronous_commit = off
full_page_writes = off
"""
# Both work only when they are preloaded. AGE is left out on purpose, as on a managed service:
# code that forgets to load it fails here first.
PRELOAD = ("pg_stat_statements", "pg_textsearch")


def buffers() -> int:
    """An eighth of the memory in MB, from 128 to 1024: the indexes of 200,000 chunks fit."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(128, min(1024, memory // 8 // 2**20))


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a caller can choose: a TCP port (0: Unix socket only) and throw-away data."""

    port: int = 0
    throwaway: bool = False

    @classmethod
    def read(cls, path: Path) -> Configuration:
        """What the server was last started with; the defaults if it never was."""
        return cls.parse(path.read_text() if path.exists() else "")

    @classmethod
    def parse(cls, text: str) -> Configuration:
        port = re.search(r"^listen_addresses = '.+'\nport = (\d+)", text, re.MULTILINE)
        return cls(int(port[1]) if port else 0, "\nfsync = off\n" in text)

    def choose(self, *, port: int | None, throwaway: bool | None) -> Configuration:
        return Configuration(
            self.port if port is None else port,
            self.throwaway if throwaway is None else throwaway,
        )

    def text(self, socket: Path, libraries: set[str]) -> str:
        text = TEMPLATE.format(
            listen="127.0.0.1" if self.port else "",
            port=self.port or 5432,
            socket=str(socket).replace("'", "''"),
            preload=",".join(name for name in PRELOAD if name in libraries),
            buffers=buffers(),
        )
        if self.throwaway:
            text += THROWAWAY
        if not _roomy_shared_memory():
            text += "dynamic_shared_memory_type = mmap\n"
        return text


def _roomy_shared_memory() -> bool:
    """Whether parallel queries fit in /dev/shm: containers have 64 MB of it, or none."""
    folder = Path("/dev/shm")
    return folder.is_mount() and shutil.disk_usage(folder).total >= 2**30
