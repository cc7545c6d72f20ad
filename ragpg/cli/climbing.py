"""What `eval` and `bench` share: options, progress, output, the gate, the picture."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import click

from ragpg.cli import files, output

if TYPE_CHECKING:
    from ragpg.evaluate.gate import Threshold
    from ragpg.evaluate.judged import Advance, Progress
    from ragpg.evaluate.report import Report

Command = TypeVar("Command", bound=Callable[..., Any])


class Outputs(TypedDict):
    """The options of `outputs`."""

    fail_below: tuple[str, ...]
    plot: str | None
    as_json: bool


def outputs(command: Command) -> Command:
    """Add the options of `Outputs`."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON"),
        click.option("--plot", type=click.Path(dir_okay=False, writable=True),
                     help="Draw the ladder: out.html, or out.png with the extra plot"),
        click.option("--fail-below", multiple=True, metavar="METRIC=VALUE",
                     help="Exit with 1 below this, as nDCG@10=0.7 or vector:recall@10=0.8"),
    ):  # fmt: skip
        command = option(command)
    return command


def rungs_option(command: Command) -> Command:
    """Add --rungs and --profile."""
    for option in (
        click.option("--profile", "profiles", multiple=True,
                     help="A further rung: a built-in profile, or the path of a file"),
        click.option("--rungs", help="Only these rungs, by commas"),
    ):  # fmt: skip
        command = option(command)
    return command


def names_of(text: str | None) -> list[str] | None:
    """Names by commas; None where nothing was given."""
    if text is None:
        return None
    return [name.strip() for name in text.split(",") if name.strip()]


def thresholds(fail_below: Sequence[str]) -> list[Threshold]:
    """The thresholds of --fail-below; a bad one is a usage error before anything is run."""
    from ragpg.errors import ConfigError
    from ragpg.evaluate.gate import parse

    try:
        return [parse(text) for text in fail_below]
    except ConfigError as error:
        raise click.UsageError(f"--fail-below: {error}") from error


def progress(*, hidden: bool) -> Progress:
    """Bars on standard error, where that is a terminal."""

    @contextmanager
    def bar(label: str, length: int) -> Iterator[Advance]:
        if hidden or not sys.stderr.isatty() or length < 1:
            yield lambda steps=1: None
            return
        with click.progressbar(length=length, label=label, file=sys.stderr, show_pos=True) as found:
            yield lambda steps=1: found.update(steps)

    return bar


def finish(
    ctx: click.Context,
    reports: Sequence[Report],
    wanted: Outputs,
    *,
    extra: dict[str, Any] | None = None,
) -> None:
    """Print the reports, draw the picture, and end with 1 where a threshold is missed."""
    from ragpg.evaluate import gate, plot, tables

    if wanted["plot"]:
        with files.writing(wanted["plot"]):
            plot.draw(reports, Path(wanted["plot"]))
    missed = [
        line
        for report in reports
        for line in gate.failures(report, thresholds(wanted["fail_below"]))
    ]
    if wanted["as_json"]:
        found = {"sets": [report.to_json() for report in reports], "missed": missed}
        output.print_json((extra or {}) | found)
    else:
        for report in reports:
            click.echo(tables.text(report) + "\n")
            if report.kinds:
                click.echo(tables.kinds(report) + "\n")
        if len(reports) > 1:
            click.echo(f"{reports[0].main} of all sets\n{tables.summary(reports)}\n")
        click.echo(tables.NOTE)
    for line in missed:
        click.echo(f"below the threshold: {line}", err=True)
    if missed:
        ctx.exit(output.FAILED)
