"""The options of commands that check an answer: who judges, by which bars, and what follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ragpg.config.values import Config

Command = TypeVar("Command", bound=Callable[..., Any])

_META = "ragpg.bars"
#: Tables of the judges that have a name; any other name is the folder of an entailment model.
_KEYS = {
    "": "lexical_judge",
    "lexical": "lexical_judge",
    "embedding": "embedding_judge",
    "llm": "llm_judge",
}
_BARS = {
    "supported": "Least score of a supported claim, as its judge counts [default: as configured]",
    "partial": "Least score of a claim that is supported in part [default: as configured]",
    "contradicted": "Least probability of a contradiction, for an entailment model "
    "[default: as configured]",
}


def judge(command: Command) -> Command:
    """Add --judge with its bars, and --generator for the judge that is one."""
    for option in (
        *(_bar(name, text) for name, text in reversed(_BARS.items())),
        click.option(
            "--generator",
            envvar="RAGPG_GENERATOR",
            help="Chat model: openai or openai:MODEL [RAGPG_GENERATOR]",
        ),
        click.option(
            "--judge",
            help="Who checks claims: lexical, embedding, llm or the folder of an entailment model "
            "[default: lexical, or what the profile says]",
        ),
    ):
        command = option(command)
    return command


def about_unsupported(command: Command) -> Command:
    """Add --gate and --unsupported."""
    for option in (
        click.option(
            "--unsupported",
            type=click.Choice(["keep", "mark", "drop", "repair"]),
            help="What becomes of claims without support [default: keep, or what the profile says]",
        ),
        click.option(
            "--gate",
            type=click.FloatRange(0, 1),
            help="Give no answer of lower confidence [default: give any, or as the profile says]",
        ),
    ):
        command = option(command)
    return command


def with_bars(config: Config, judge: str) -> Config:
    """A configuration with the bars that the options of the running command give to its judge.

    Raises UsageError for a judge that has no such bar, ConfigError for one out of its range.
    """
    ctx = click.get_current_context(silent=True)
    given = {} if ctx is None else ctx.meta.get(_META, {})
    if not given:
        return config
    key = _KEYS.get(judge.strip(), "nli_judge")
    table = getattr(config, key)
    for name in given:
        if not hasattr(table, name):
            raise click.UsageError(f"the judge {judge!r} has no bar --{name}", ctx)
    return replace(config, **{key: replace(table, **given)})


def _bar(name: str, text: str) -> Callable[[Command], Command]:
    def keep(ctx: click.Context, _: click.Parameter, value: float | None) -> None:
        if value is not None:
            ctx.meta.setdefault(_META, {})[name] = value

    return click.option(f"--{name}", type=float, expose_value=False, callback=keep, help=text)
