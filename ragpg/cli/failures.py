"""How a command ends when something goes wrong: one line, a hint, an exit code.

Exit codes: 0 done; 1 failed, or done in part; 2 wrong use: an option, argument, filter or setting;
3 the database or a model service cannot be used; 70 a fault in ragpg itself; 130 interrupted by
Ctrl-C, 143 by SIGTERM; 141 the reader of the output went away, as with `| head -1`.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
import threading
import traceback
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import unquote

import click

from ragpg import errors
from ragpg.connection_address import read_dsn, secrets_of
from ragpg.terminal import visible, visible_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

FAILED, USAGE, UNAVAILABLE, FAULT, INTERRUPTED, CLOSED, TERMINATED = 1, 2, 3, 70, 130, 141, 143

_ONE_INPUT = (
    errors.NamespaceNotFound,
    errors.DimensionMismatch,
    errors.SearchTimeout,
    errors.ContextTooLong,
)
#: Addresses that stand in a configuration file.
_ADDRESSES: set[str] = set()
_UNAVAILABLE = (errors.DatabaseError, errors.LocalDatabaseError, errors.ProviderError)


def exit_code(error: errors.RagpgError) -> int:
    """The exit code of an error; see the head of this module."""
    if isinstance(error, errors.ConfigError):
        return USAGE
    if isinstance(error, _UNAVAILABLE) and not isinstance(error, _ONE_INPUT):
        return UNAVAILABLE
    return FAILED


def without_secrets(text: str) -> str:
    """The text with passwords of connection strings, and keys of the environment, struck out.

    A last line of defence: errors do not quote secrets to begin with.
    """
    for secret in sorted(_secrets(), key=len, reverse=True):
        text = text.replace(secret, "***")
    return re.sub(r"(\w+://[^\s:/@]*):[^\s/]*@", r"\1:***@", text)


def keep_secret(address: str | None) -> None:
    """Strike the password of an address out of whatever is printed from now on."""
    if address:
        _ADDRESSES.add(address)


def _secrets() -> set[str]:
    found = {
        value
        for name, value in os.environ.items()
        if name == "PGPASSWORD" or name.endswith(("_API_KEY", "_TOKEN", "_SECRET"))
    }
    for text in (*sys.argv[1:], os.environ.get("RAGPG_DSN", ""), *_ADDRESSES):
        with suppress(errors.ConfigError):
            found |= set(secrets_of(read_dsn(text)))
        for url in re.findall(r"\w+://[^:/@\s]*:(.*)@", text):
            found |= {url, unquote(url)}
        found |= set(re.findall(r"password\s*=\s*'?([^\s'&]+)", text))
    return {secret for secret in found if len(secret) >= 3}


class _Terminated(KeyboardInterrupt):
    """SIGTERM, which is heard as Ctrl-C is: what is held by a run that ends is given back."""


@contextmanager
def _hearing_sigterm() -> Iterator[None]:
    """Let SIGTERM interrupt, unless somebody else listens."""

    def end(number: int, frame: object) -> None:
        raise _Terminated

    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def reported() -> Iterator[None]:
    """Turn whatever goes wrong inside into a message on standard error and an exit code."""
    try:
        with _hearing_sigterm():
            yield
    except (click.exceptions.Exit, click.Abort):
        raise
    except errors.RagpgError as error:
        raise _failure(error) from error
    except click.ClickException as error:
        if isinstance(error.__cause__, errors.RagpgError):
            raise _failure(error.__cause__) from error
        raise
    except KeyboardInterrupt as error:
        click.echo("\nInterrupted. What was committed stays.", err=True)
        code = TERMINATED if isinstance(error, _Terminated) else INTERRUPTED
        raise click.exceptions.Exit(code) from error
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.EPIPE:
            _stop_writing()
            raise click.exceptions.Exit(CLOSED) from error
        click.echo(without_secrets("".join(traceback.format_exception(error))), err=True, nl=False)
        click.echo(
            "Error: this is a fault in ragpg; please report it with the lines above.", err=True
        )
        raise click.exceptions.Exit(FAULT) from error


def _failure(error: errors.RagpgError) -> click.exceptions.Exit:
    # The log of a server that did not start has lines of its own.
    shown = visible_lines if isinstance(error, errors.LocalDatabaseError) else visible
    click.echo(f"Error: {shown(without_secrets(error.message))}", err=True)
    if error.hint:
        click.echo(f"Hint: {shown(without_secrets(error.hint))}", err=True)
    return click.exceptions.Exit(exit_code(error))


def _stop_writing() -> None:
    """Let nothing more be written to a closed pipe, not even when Python exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            os.dup2(nowhere, stream.fileno())
        except (OSError, ValueError):
            continue
