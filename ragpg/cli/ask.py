"""`ragpg ask`: an answer from a chat model, with its sources and the verdict on every claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import click

from ragpg.cli import options, output
from ragpg.cli.ground import grounding_json, show_grounding

if TYPE_CHECKING:
    from ragpg.cli.options import Connection


@click.command()
@click.argument("question")
@options.namespaces_to_search
@click.option("-k", default=10, show_default=True, type=click.IntRange(1), help="How many sources")
@click.option(
    "--filter",
    "filter_",
    callback=options.json_object,
    metavar="JSON",
    help="Metadata conditions, as JSON",
)
@click.option(
    "--generator", envvar="RAGPG_GENERATOR", help="openai or openai:MODEL [RAGPG_GENERATOR]"
)
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
    generator: str | None,
    profile: str | None,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Answer QUESTION from the documents, with citations; needs a chat model.

    Any server that speaks OpenAI's protocol will do: OPENAI_API_KEY, OPENAI_BASE_URL. Where the
    documents do not hold the answer, it says so; the exit code is 1 then.

    \b
    ragpg ask "How long do refunds take?" -n handbook
    OPENAI_BASE_URL=http://127.0.0.1:11434/v1 ragpg ask "..." --generator openai:llama3.2
    """
    model = options.make_generator(generator)
    with options.connect(**connection, profile=profile, generator=model) as rag:
        answer = rag.ask(question, namespace=namespace, k=k, filter=filter_)
    if as_json:
        output.print_json(
            {
                "question": question,
                "answer": answer.text,
                "refused": answer.refused,
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
            }
        )
    else:
        for remark in answer.result.notes:
            output.note(remark)
        click.echo(answer.text)
        if answer.citations:
            click.echo("\nSources:")
            for one in answer.citations:
                click.echo(f"[{one.number}] {output.place(one.hit)}  {one.hit.breadcrumb}".rstrip())
        if not answer.refused:
            click.echo(f"\n{show_grounding(answer.grounding)}")
    ctx.exit(output.FAILED if answer.refused else 0)
