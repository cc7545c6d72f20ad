"""`ragpg eval`: retrieval quality on judged sets, arm by arm or stage by stage."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from ragpg.cli import clients, climbing, files, options, output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.cli.climbing import Outputs
    from ragpg.cli.options import Connection
    from ragpg.client import Client
    from ragpg.evaluate.datasets import JudgedSet


@click.command("eval")
@click.argument("folders", nargs=-1, required=True,
                type=click.Path(exists=True, file_okay=False))  # fmt: skip
@click.option("--ladder", "whole", is_flag=True, help="Every stage of the search, one by one")
@click.option("--arms", help="Arms alone, fused, and the default profile, by commas "
              "[default: keyword,vector; keyword without embedder]")  # fmt: skip
@climbing.rungs_option
@click.option("-k", "--k", default=10, show_default=True, type=click.IntRange(1, 1000),
              help="How many hits are judged")  # fmt: skip
@click.option("--depth", type=click.IntRange(1, 1000),
              help="Fetch so many hits, for recall at that depth [default: k]")  # fmt: skip
@click.option("--limit", type=click.IntRange(1), help="Ask only the first N judged queries")
@click.option("--sample", type=click.IntRange(1), help="Ask N queries chosen by a hash of their id")
@click.option("--chunk-size", type=click.IntRange(100),
              help="Cut documents [default: 1000 where spans are judged, else not]")  # fmt: skip
@click.option("--by", metavar="FIELD", help="Split a set by a field of its documents, as lang")
@click.option("--qrels", help="Another file of judgements in the folder")
@click.option("--sentences/--no-sentences", default=True, show_default=True,
              help="Store sentence vectors where a rung asks for them")  # fmt: skip
@click.option("--tune", is_flag=True, help="Learn how to fuse from the judged queries instead")
@click.option("--keep", is_flag=True, help="Keep the scratch namespace for the next run")
@click.option("--results", type=click.Path(file_okay=False),
              help="Keep the result of each rung there, and go on from it")  # fmt: skip
@click.option("--markdown", type=click.Path(dir_okay=False, writable=True),
              help="Write the tables as a page of Markdown")  # fmt: skip
@options.connection
@climbing.outputs
@click.pass_context
def evaluate(
    ctx: click.Context,
    folders: tuple[str, ...],
    *,
    whole: bool,
    arms: str | None,
    rungs: str | None,
    profiles: tuple[str, ...],
    k: int,
    depth: int | None,
    limit: int | None,
    sample: int | None,
    chunk_size: int | None,
    by: str | None,
    qrels: str | None,
    sentences: bool,
    tune: bool,
    keep: bool,
    results: str | None,
    markdown: str | None,
    fail_below: tuple[str, ...],
    plot: str | None,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Measure retrieval on the judged sets in FOLDERS, in the layout of BEIR.

    A folder has corpus.jsonl, queries.jsonl (both may end in .gz) and qrels.tsv. The corpus goes
    into a scratch namespace, which is dropped afterwards; embeddings stay cached, so that the
    second run is quick. Intervals and p-values are of a paired bootstrap over the queries.

    \b
    ragpg eval data/scifact
    ragpg eval data/scifact data/cranfield --ladder --plot ladder.html
    ragpg eval data/scifact --arms keyword --limit 50 --json
    ragpg eval data/scifact --fail-below nDCG@10=0.7
    ragpg eval data/mine --tune
    """
    from ragpg.evaluate import ladder, tables
    from ragpg.evaluate.datasets import read_judged_set
    from ragpg.evaluate.judged import evaluate_set
    from ragpg.evaluate.query_vectors import RememberingEmbedder

    wanted: Outputs = {"fail_below": fail_below, "plot": plot, "as_json": as_json}
    climbing.thresholds(fail_below)
    if arms and (whole or rungs):
        raise click.UsageError("--arms chooses the rungs itself: leave out --ladder and --rungs")
    files.check_places(markdown, plot)
    model = clients.make_embedder(connection["embedder"])
    embedder = RememberingEmbedder(model) if model else None
    if whole or rungs:
        steps = ladder.ladder(
            climbing.names_of(rungs), vectors=model is not None, profiles=profiles
        )
    else:
        chosen = _arms(arms, has_embedder=model is not None)
        steps = ladder.arm_rungs(chosen, profiles)
    sets = [
        part
        for folder in folders
        for judged in [read_judged_set(folder, qrels=qrels)]
        for part in (judged.split(by) if by else [judged])
    ]
    if tune:
        if embedder is None:
            raise click.UsageError("--tune weighs words against vectors: give --embedder")
        with clients.open_client(connection["dsn"], connection["schema"], embedder) as rag:
            _tune(rag, sets, k, limit, sample, chunk_size, keep, as_json)
        return
    with clients.open_client(connection["dsn"], connection["schema"], embedder) as rag:
        reports = [
            evaluate_set(
                rag,
                judged,
                steps,
                k=k,
                depth=depth,
                limit=limit,
                sample=sample,
                chunk_size=chunk_size,
                sentences=sentences,
                keep=keep,
                results=Path(results) if results else None,
                progress=climbing.progress(hidden=as_json),
            )
            for judged in sets
        ]
    if markdown:
        files.write_file(markdown, tables.page(reports))
    climbing.finish(ctx, reports, wanted, extra={"k": k, "chunk_size": chunk_size})


def _tune(
    rag: Client,
    sets: Sequence[JudgedSet],
    k: int,
    limit: int | None,
    sample: int | None,
    chunk_size: int | None,
    keep: bool,
    as_json: bool,
) -> None:
    from ragpg.evaluate.crossvalidate import FUSIONS, tune_fusion
    from ragpg.evaluate.judged import prepared
    from ragpg.evaluate.tables import tuned

    found = []
    for judged in sets:
        with prepared(
            rag, judged, len(FUSIONS), k=k, limit=limit, sample=sample, chunk_size=chunk_size,
            keep=keep, progress=climbing.progress(hidden=as_json),
        ) as climb:  # fmt: skip
            result = tune_fusion(climb)
        found.append({"set": judged.name, **result.to_json()})
        if not as_json:
            click.echo(f"{judged.name}: {tuned(result)}\n")
    if as_json:
        output.print_json({"k": k, "sets": found})


def _arms(arms: str | None, *, has_embedder: bool) -> list[str]:
    from ragpg.evaluate.ladder import ARMS

    if arms is None:
        return ["keyword", "vector"] if has_embedder else ["keyword"]
    chosen = list(dict.fromkeys(climbing.names_of(arms) or []))
    if not chosen or set(chosen) - set(ARMS):
        raise click.UsageError(f"--arms: choose from {', '.join(ARMS)}, not {arms!r}")
    if "vector" in chosen and not has_embedder:
        raise click.UsageError("--arms vector needs an embedder: give --embedder")
    return chosen
