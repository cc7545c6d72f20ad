"""The command line against a database of the test's own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from ragpg.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from click.testing import Result


@pytest.fixture
def environment(database: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment with this test's database and no embedder, here and for subprocesses."""
    monkeypatch.setenv("RAGPG_DSN", database)
    monkeypatch.setenv("RAGPG_EMBEDDER", "none")
    return dict(os.environ)


@pytest.fixture
def ragpg_cli(environment: dict[str, str]) -> Callable[..., Result]:
    """A function that runs `ragpg ARGUMENTS` in this process."""

    def run(*arguments: str, **options: Any) -> Result:
        return CliRunner().invoke(main, list(arguments), prog_name="ragpg", **options)

    return run


@pytest.fixture
def ragpg_process(
    environment: dict[str, str],
) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """A function that starts `ragpg ARGUMENTS` as a process of its own, ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, **variables: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "ragpg.cli.main", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            env=environment | variables,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
