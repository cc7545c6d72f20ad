"""`ragpg ask`: an answer from a chat model, with its sources and the verdict on every claim."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Unpack

import click

from ragpg.cli import clients, judge_options, options, output
from ragpg.cli.ask_output import answer_json, print_events, show_answer, show_events
from ragpg.cli.failures import FAILED, UNAVAILABLE
from ragpg.query.prompt import Prompt

if TYPE_CHECKING:
    from ragpg.cli.options import Connection
    from ragpg.query.profile import Unsupported
    from ragpg.types import Answer


@click.command()
@click.argument("question")
@options.namespaces_to_search
@click.option(
    "-k", "--k", default=10, show_default=True, type=click.IntRange(1), help="How many sources"
)
@options.filter_option
@judge_options.judge
@judge_options.about_unsupported
@click.option("--history", multiple=True, metavar="QUESTION",
              help="Earlier question of the conversation; repeat it, oldest first")  # fmt: skip
@click.option("--system", type=click.File(), help="File with the rules for the chat model")
@click.option("--template", type=click.File(),
              help="File with the message to it, with {context} and {question}")  # fmt: skip
@click.option("--stream", is_flag=True,
              help="Print the text as it is written; with --json a line an event")  # fmt: skip
@options.profile
@options.connection
@options.json_output
@click.pass_context
def ask(
    ctx: click.Context,
    question: str,
    *,
    namespace: tuple[str, ...],
    k: int,
    filter_: dict[str, Any] | None,
    judge: str | None,
    generator: str | None,
    gate: float | None,
    unsupported: Unsupported | None,
    history: tuple[str, ...],
    system: IO[str] | None,
    template: IO[str] | None,
    profile: str | None,
    as_json: bool,
    stream: bool,
    **connection: Unpack[Connection],
) -> None:
    """Answer QUESTION from the documents, with citations; needs a chat model.

    Any server that speaks OpenAI's protocol will do: OPENAI_API_KEY, OPENAI_BASE_URL. Where the
    documents do not hold the answer, or the confidence is below the gate, it says so; the exit code
    is 1 then, and 3 where a model service cannot be reached.

    \b
    ragpg ask "How long do refunds take?" -n handbook
    ragpg ask "How long do refunds take?" --stream
    ragpg ask "And abroad?" --history "How long do refunds take?" --unsupported repair --gate 0.5
    OPENAI_BASE_URL=http://127.0.0.1:11434/v1 ragpg ask "..." --generator openai:llama3.2
    """
    model = clients.make_generator(generator)
    with clients.connect(**connection, profile=profile, generator=model) as rag:
        own = rag.profile.prompt
        prompt = Prompt(
            own.system if system is None else system.read(),
            own.template if template is None else template.read(),
        )
        asked: dict[str, Any] = {
            "namespace": namespace, "k": k, "filter": filter_, "history": history, "judge": judge,
            "gate": gate, "unsupported": unsupported, "prompt": prompt,
        }  # fmt: skip
        if not stream:
            answer = rag.ask(question, **asked)
            if as_json:
                output.print_json(answer_json(question, answer))
            else:
                show_answer(answer)
        else:
            events = rag.ask_stream(question, **asked)
            answer = print_events(question, events) if as_json else show_events(events)
    ctx.exit(_exit_code(answer))


def _exit_code(answer: Answer) -> int:
    """A refusal says something of the documents only where the query could be embedded; else it
    says that a service is down, as an error of the chat model does."""
    if not answer.refused:
        return 0
    embed = answer.result.report.get("embed")
    return UNAVAILABLE if embed is not None and embed.error else FAILED
