"""`ragpg eval`: retrieval quality on a judged set, arm by arm."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import click

from ragpg.cli import options, output

if TYPE_CHECKING:
    from ragpg.cli.options import Connection
    from ragpg.client import Client
    from ragpg.evaluate.datasets import JudgedSet

#: Hits fetched for a query: recall@100 needs them.
DEPTH = 100
ARMS = ("keyword", "vector", "metadata", "graph")


@click.command("eval")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option("--arms", help="Arms, by commas [default: keyword,vector; keyword without embedder]")
@click.option("-k", "--k", default=10, show_default=True, type=click.IntRange(1, DEPTH))
@click.option("--limit", type=click.IntRange(1), help="Ask only the first N judged queries")
@click.option(
    "--chunk-size", type=click.IntRange(100), help="Cut documents; default: one chunk a document"
)
@click.option("--qrels", help="Another file of judgements in the folder")
@click.option("--keep", is_flag=True, help="Keep the scratch namespace for the next run")
@options.connection
@options.json_output
def evaluate(
    folder: str,
    *,
    arms: str | None,
    k: int,
    limit: int | None,
    chunk_size: int | None,
    qrels: str | None,
    keep: bool,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Measure retrieval on the judged set in FOLDER, in the layout of BEIR.

    The folder has corpus.jsonl, queries.jsonl (both may end in .gz) and qrels.tsv. The corpus goes
    into a scratch namespace, which is dropped afterwards; embeddings stay cached, so that the
    second run is quick. Rungs: each arm alone, fused, and fused with the default reranker.

    \b
    ragpg eval data/scifact
    ragpg eval data/scifact --arms keyword --limit 50 --json
    """
    from ragpg.evaluate.datasets import read_judged_set
    from ragpg.evaluate.run import evaluate as run

    judged = read_judged_set(folder, qrels=qrels)
    if limit is not None:
        asked = judged.judged_queries[:limit]
        judged = replace(judged, queries={query: judged.queries[query] for query in asked})
    model = options.make_embedder(connection["embedder"])
    chosen = _arms(arms, has_embedder=model is not None)
    with options.open_client(connection["dsn"], connection["schema"], model) as rag:
        rungs: dict[str, dict[str, Any]] = {arm: {"arms": (arm,)} for arm in chosen}
        if len(chosen) > 1:
            # By default every arm takes part, as in a search of yours.
            rungs["fused"] = {"arms": chosen, "others": arms is None}
        rungs[f"{'fused' if len(chosen) > 1 else chosen[0]} + rerank"] = {
            "arms": chosen,
            "others": arms is None and len(chosen) > 1,
            "rerank": True,
        }
        namespace, seconds = fill(rag, judged, chunk_size, model.model if model else "none")
        try:

            def search(query: str, rung: str) -> list[str]:
                return retrieve(rag, namespace, query, chunked=chunk_size is not None,
                                **rungs[rung])  # fmt: skip

            report = run(search, judged, list(rungs), k=k)
        finally:
            if not keep:
                rag.drop_namespace(namespace)
    if as_json:
        output.print_json(
            report.to_json()
            | {"k": k, "chunk_size": chunk_size, "ingest_seconds": round(seconds, 1)}
        )
    else:
        click.echo(str(report))


def fill(rag: Client, judged: JudgedSet, chunk_size: int | None, model: str) -> tuple[str, float]:
    """Ingest the corpus into its scratch namespace; its name and the seconds that it took.

    The name comes from the content, so that a namespace that was kept is found again.
    """
    import hashlib

    from ragpg.ingest.chunk import HeadingChunker, WholeChunker

    digest = hashlib.sha256()
    for document in judged.corpus.values():
        digest.update(f"{document.id}\0{document.title}\0{document.text}\0".encode())
    digest.update(f"{chunk_size}\0{model}".encode())
    namespace = f"eval-{judged.name}-{digest.hexdigest()[:12]}"
    began = time.perf_counter()
    report = rag.ingest(
        texts=[
            {"source": one.id, "title": one.title, "text": one.text}
            for one in judged.corpus.values()
        ],
        namespace=namespace,
        chunker=WholeChunker()
        if chunk_size is None
        else HeadingChunker(chunk_size, min(200, chunk_size // 5)),
    )
    failed = [file for file in report.files if file.status == "failed"]
    if failed:
        raise click.ClickException(
            f"{len(failed)} documents could not be stored, the first one: "
            f"{failed[0].source}: {failed[0].reason}"
        )
    return namespace, time.perf_counter() - began


def retrieve(
    rag: Client,
    namespace: str,
    query: str,
    *,
    arms: tuple[str, ...],
    others: bool = False,
    rerank: bool = False,
    chunked: bool = False,
) -> list[str]:
    """Ids of up to DEPTH distinct documents, best first. `others` leaves the other arms on."""
    # Several chunks of one document take several places, so more of them are fetched.
    depth = DEPTH * 3 if chunked else DEPTH
    wanted: dict[str, Any] = dict.fromkeys(("vector", "keyword", "metadata", "graph"), False)
    wanted |= {name: {"k": depth} for name in arms}
    result = rag.search(query, namespace=namespace, k=depth, arms=wanted, rerank=rerank)
    return list(dict.fromkeys(hit.source for hit in result.hits))[:DEPTH]


def _arms(arms: str | None, *, has_embedder: bool) -> tuple[str, ...]:
    if arms is None:
        return ("keyword", "vector") if has_embedder else ("keyword",)
    chosen = tuple(dict.fromkeys(name.strip() for name in arms.split(",") if name.strip()))
    unknown = [name for name in chosen if name not in ARMS]
    if unknown or not chosen:
        raise click.UsageError(f"--arms: choose from {', '.join(ARMS)}, not {arms!r}")
    if "vector" in chosen and not has_embedder:
        raise click.UsageError("--arms vector needs an embedder: give --embedder")
    return chosen
