"""`ragpg ask`: an answer from a chat model, with its sources and the verdict on every claim."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Unpack

import click

from ragpg.cli import options, output
from ragpg.query.grounding_report import grounding_json, render_grounding
from ragpg.query.prompt import Prompt

if TYPE_CHECKING:
    from ragpg.cli.options import Connection
    from ragpg.query.profile import Unsupported


@click.command()
@click.argument("question")
@options.namespaces_to_search
@click.option("-k", default=10, show_default=True, type=click.IntRange(1), help="How many sources")
@options.filter_option
@options.judge
@options.about_unsupported
@click.option("--history", multiple=True, metavar="QUESTION",
              help="Earlier question of the conversation; repeat it, oldest first")  # fmt: skip
@click.option("--system", type=click.File(), help="File with the rules for the chat model")
@click.option("--template", type=click.File(),
              help="File with the message to it, with {context} and {question}")  # fmt: skip
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
    **connection: Unpack[Connection],
) -> None:
    """Answer QUESTION from the documents, with citations; needs a chat model.

    Any server that speaks OpenAI's protocol will do: OPENAI_API_KEY, OPENAI_BASE_URL. Where the
    documents do not hold the answer, or the confidence is below the gate, it says so; the exit code
    is 1 then.

    \b
    ragpg ask "How long do refunds take?" -n handbook
    ragpg ask "And abroad?" --history "How long do refunds take?" --unsupported repair --gate 0.5
    OPENAI_BASE_URL=http://127.0.0.1:11434/v1 ragpg ask "..." --generator openai:llama3.2
    """
    model = options.make_generator(generator)
    with options.connect(**connection, profile=profile, generator=model) as rag:
        own = rag.profile.prompt
        prompt = Prompt(
            own.system if system is None else system.read(),
            own.template if template is None else template.read(),
        )
        answer = rag.ask(
            question, namespace=namespace, k=k, filter=filter_, history=history, judge=judge,
            gate=gate, unsupported=unsupported, prompt=prompt,
        )  # fmt: skip
    if as_json:
        output.print_json(
            {
                "question": question,
                "answer": answer.text,
                "refused": answer.refused,
                "revision": answer.revision,
                "draft": answer.draft,
                "citations": [
                    {"number": one.number} | output.hit_json(one.hit) for one in answer.citations
                ],
                "grounding": grounding_json(answer.grounding),
                "usage": {
                    "input_tokens": answer.usage.input_tokens,
                    "output_tokens": answer.usage.output_tokens,
                    "cost_usd": answer.usage.cost_usd,
                },
                **{
                    key: value
                    for key, value in output.result_json(answer.result).items()
                    if key != "query"
                },
                "notes": [*answer.result.notes, *answer.notes],
            }
        )
    else:
        for remark in (*answer.result.notes, *answer.notes):
            output.note(remark)
        click.echo(answer.text)
        if answer.citations:
            click.echo("\nSources:")
            for one in answer.citations:
                click.echo(f"[{one.number}] {output.place(one.hit)}  {one.hit.breadcrumb}".rstrip())
        if not answer.refused:
            click.echo(f"\n{render_grounding(answer.grounding)}")
    ctx.exit(output.FAILED if answer.refused else 0)
