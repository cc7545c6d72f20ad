"""`ragpg bench`: which stages of the search help on your own corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from ragpg.cli import clients, climbing, files, options
from ragpg.evaluate import synthesis

if TYPE_CHECKING:
    from ragpg.cli.climbing import Outputs
    from ragpg.cli.options import Connection


@click.command()
@options.namespaces_to_search
@click.option("--items", default=50, show_default=True, type=click.IntRange(1, 10_000),
              help="Chunks to make questions from")  # fmt: skip
@click.option(
    "--kinds", help=f"Kinds of questions, by commas [default: {','.join(synthesis.KINDS)}]"
)
@click.option("--seed", default=1, show_default=True, help="Another seed, another sample")
@click.option("-k", "--k", default=10, show_default=True, type=click.IntRange(1, 1000),
              help="How many hits are judged")  # fmt: skip
@click.option("--coverage", default=0.5, show_default=True, type=click.FloatRange(0.01, 1),
              help="Share of a chunk's characters that hits must cover")  # fmt: skip
@climbing.rungs_option
@click.option("--show", default=0, type=click.IntRange(0), help="Print so many of the questions")
@click.option("--write-profile", type=click.Path(dir_okay=False, writable=True),
              help="Choose the stages that help and write them as a profile")  # fmt: skip
@options.connection
@climbing.outputs
@click.pass_context
def bench(
    ctx: click.Context,
    *,
    namespace: tuple[str, ...],
    items: int,
    kinds: str | None,
    seed: int,
    k: int,
    coverage: float,
    rungs: str | None,
    profiles: tuple[str, ...],
    show: int,
    write_profile: str | None,
    fail_below: tuple[str, ...],
    plot: str | None,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Measure the search on your own corpus, stage by stage.

    Questions are made from sampled chunks, which they should find again: their most telling words,
    and rewordings of several kinds. The words come from the chunk, so keyword search is favoured;
    read the result by kind. Nothing is written to the database.

    \b
    ragpg bench -n handbook
    ragpg bench -n handbook --write-profile handbook.toml
    ragpg bench -n handbook --fail-below recall@10=0.9 --plot ladder.html
    """
    from ragpg.evaluate.choose import choose, to_toml
    from ragpg.evaluate.climb import Climb
    from ragpg.evaluate.judged import embed_queries
    from ragpg.evaluate.ladder import STAGES, ladder
    from ragpg.evaluate.query_vectors import RememberingEmbedder

    wanted: Outputs = {"fail_below": fail_below, "plot": plot, "as_json": as_json}
    climbing.thresholds(fail_below)
    if write_profile and (rungs or profiles):
        raise click.UsageError("--write-profile chooses the rungs itself: leave out --rungs")
    files.check_places(write_profile, plot)
    chosen = None
    model = clients.make_embedder(connection["embedder"])
    embedder = RememberingEmbedder(model) if model else None
    steps = ladder(climbing.names_of(rungs), vectors=model is not None, profiles=profiles)
    with clients.open_client(connection["dsn"], connection["schema"], embedder) as rag:
        sizes = {one.name: one.documents for one in rag.namespaces()}
        name, documents = ", ".join(namespace), sum(sizes.get(one, 0) for one in namespace)
        questions = synthesis.questions_from(
            rag, namespace, items=items, kinds=_kinds(kinds), seed=seed, coverage=coverage
        )
        for question in questions[:show]:
            before = " / ".join([*question.history, question.text])
            click.echo(f"{question.kind}: {before}", err=as_json)
        progress = climbing.progress(hidden=as_json)
        embed_queries(rag, namespace[0], questions, keep=False, progress=progress)
        rounds = len(STAGES) + 1 if write_profile else len(steps)
        with progress("questions", rounds * len(questions)) as advance:
            climb = Climb(rag, namespace, questions, k=k, depth=k, on_question=advance)
            if write_profile:
                chosen = choose(climb, Path(write_profile).stem, name, documents)
            report = chosen.report if chosen else climb.report(name, documents, steps)
    if chosen is not None and write_profile:
        files.write_file(write_profile, to_toml(chosen))
        for line in [*chosen.reasons, f"profile written to {write_profile}\n"]:
            click.echo(line, err=as_json)
    climbing.finish(ctx, [report], wanted, extra={"seed": seed, "items": items})


def _kinds(text: str | None) -> list[str]:
    names = climbing.names_of(text) or list(synthesis.KINDS)
    unknown = [name for name in names if name not in synthesis.KINDS]
    if unknown:
        raise click.UsageError(
            f"--kinds: choose from {', '.join(synthesis.KINDS)}, not {', '.join(unknown)}"
        )
    return names
