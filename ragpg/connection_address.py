"""Addresses of databases: read by libpq, never shown with a password."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from ragpg.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

_URL = re.compile(r"(?P<scheme>postgres(?:ql)?)(?:\+\w+)?://(?P<rest>.*)", re.S)
_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.%]*\]|[^:\[\]]*)(?::\d*)?")

_HINT = (
    "Percent-encode the characters : / ? # [ ] @ % and blanks in user and password (@ is %40, / is "
    "%2F, % is %25); Python does it with urllib.parse.quote(password, safe=''). Or leave the "
    "password out of the URL and set PGPASSWORD."
)


def read_dsn(dsn: str) -> dict[str, str]:
    """The parameters of a DSN: a URL, also in SQLAlchemy's spelling, or libpq's key=value list.

    Raises ConfigError, without any part of the DSN in it, when it cannot be read, and when
    characters of a URL that need percent-encoding have changed what it says.
    """
    url = _URL.fullmatch(dsn.strip())
    if url:
        dsn = f"{url['scheme']}://{url['rest']}"
        _check_url(url["rest"])
    try:
        found = conninfo_to_dict(dsn)
    except (ProgrammingError, UnicodeError):
        # libpq's message quotes the part it did not understand, which may be the password.
        raise ConfigError(
            "the database address cannot be read: it is neither a postgresql:// URL nor a list of "
            "key=value pairs",
            hint=_HINT if url else "Example: postgresql://user@host:5432/database",
        ) from None
    return {key: str(value) for key, value in found.items() if value is not None}


def secrets_of(parameters: dict[str, str]) -> list[str]:
    """What must not be shown of an address, as it is and percent-encoded; longest first."""
    found: set[str] = set()
    for key in ("password", "sslpassword"):
        if value := parameters.get(key):
            found |= {value, quote(value, safe=""), quote(value), unquote(value)}
    return sorted(found, key=lambda secret: (-len(secret), secret))


def hide(text: str, secrets: Sequence[str]) -> str:
    """The text with *** for every secret."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


def _check_url(rest: str) -> None:
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    reason = None
    if authority.count("@") > 1:
        reason = "there is an @ in the user name or password"
    elif re.search(r"%(?![0-9A-Fa-f]{2})", rest):
        reason = "a % is not followed by two hexadecimal digits"
    elif "@" not in authority and "@" in rest and not _is_hosts(authority):
        reason = "there is a / or ? or # before the @"
    elif not _is_hosts(authority.rpartition("@")[2]):
        reason = "what follows the @ is no list of hosts and ports"
    if reason:
        raise ConfigError(
            f"the database URL cannot be read, as by a part that is not percent-encoded: {reason}",
            hint=_HINT,
        )


def _is_hosts(text: str) -> bool:
    return all(_HOST.fullmatch(host) for host in text.split(","))
