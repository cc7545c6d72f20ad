"""Judged sets through a search: any function that returns ids, or a client with a ladder."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Protocol

from ragpg.evaluate.climb import Climb
from ragpg.evaluate.corpus import fill
from ragpg.evaluate.ladder import Rung, bare
from ragpg.evaluate.query_vectors import RememberingEmbedder, warm
from ragpg.evaluate.report import Report
from ragpg.evaluate.run import run_rung

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from ragpg.client import Client
    from ragpg.evaluate.datasets import JudgedSet
    from ragpg.evaluate.gold import Question
    from ragpg.ingest.sentences import SentenceReport

#: Characters of a chunk where the queries ask for spans of long texts.
CHUNK_SIZE = 1000


class Advance(Protocol):
    """Moves a bar on."""

    def __call__(self, steps: int = 1) -> object: ...


class Progress(Protocol):
    """Shows how far a phase of `length` steps is; the context gives what moves it on."""

    def __call__(self, label: str, length: int) -> AbstractContextManager[Advance]: ...


def silent(label: str, length: int) -> AbstractContextManager[Advance]:
    """A progress that shows nothing."""
    return nullcontext(lambda steps=1: None)


def evaluate(
    search: Callable[[str, str], Sequence[str]],
    judged: JudgedSet,
    rungs: Sequence[str],
    *,
    k: int = 10,
    depth: int | None = None,
) -> Report:
    """Score a function (query, rung) -> ids of documents, best first, on each rung by name.

    Queries without a relevant document are not asked. A query whose search raises a RagpgError is
    counted as failed with its message. `depth` also reports recall at that depth.
    """
    questions = judged.questions()

    def asked(rung: str) -> Callable[[Question], Sequence[str]]:
        return lambda question: search(question.text, rung)

    runs = {rung: run_rung(asked(rung), questions, rung, k=k, depth=depth or k) for rung in rungs}
    steps = [
        Rung(rung, bare(), rungs[place - 1] if place else None) for place, rung in enumerate(rungs)
    ]
    return Report(judged.name, len(judged.corpus), questions, steps, runs, k, depth or k)


def evaluate_set(
    rag: Client,
    judged: JudgedSet,
    rungs: Sequence[Rung],
    *,
    k: int = 10,
    depth: int | None = None,
    limit: int | None = None,
    sample: int | None = None,
    chunk_size: int | None = None,
    sentences: bool = True,
    keep: bool = False,
    results: Path | None = None,
    progress: Progress = silent,
) -> Report:
    """Ingest a judged set into a scratch namespace and climb the rungs.

    `sentences` stores sentence vectors where a rung asks for them, which takes several times as
    long as the documents' own. The namespace is dropped afterwards unless `keep`; embeddings of
    documents and queries stay cached. `results` is a folder where the run of each rung is kept, for
    a run that goes on where another stopped.
    """
    with prepared(
        rag, judged, len(rungs), k=k, depth=depth, limit=limit, sample=sample,
        chunk_size=chunk_size, sentences=sentences and _asks_for_sentences(rungs), keep=keep,
        results=results, progress=progress,
    ) as climb:  # fmt: skip
        return climb.report(judged.name, len(judged.corpus), rungs)


@contextmanager
def prepared(
    rag: Client,
    judged: JudgedSet,
    rungs: int,
    *,
    k: int = 10,
    depth: int | None = None,
    limit: int | None = None,
    sample: int | None = None,
    chunk_size: int | None = None,
    sentences: bool = False,
    keep: bool = False,
    results: Path | None = None,
    progress: Progress = silent,
) -> Iterator[Climb]:
    """A judged set in its namespace, its queries embedded, ready for so many rungs; the arguments
    are those of `evaluate_set`."""
    questions = judged.questions(sample=sample, limit=limit)
    size = chunk_size or (CHUNK_SIZE if judged.has_spans else None)
    with progress(f"{judged.name}: documents", len(judged.corpus)) as advance:
        namespace = fill(rag, judged, chunk_size=size, on_document=lambda _: advance())
    try:
        if sentences and rag.embedder:
            store_sentences(rag, namespace, len(judged.corpus), progress=progress)
        embed_queries(rag, namespace, questions, progress=progress)
        with progress(f"{judged.name}: queries", rungs * len(questions)) as advance:
            yield Climb(rag, [namespace], questions, k, depth or k, results, advance)
    finally:
        if not keep:
            rag.drop_namespace(namespace)


def _asks_for_sentences(rungs: Sequence[Rung]) -> bool:
    return any(rung.profile.arms.get("sentence") for rung in rungs)


def store_sentences(
    rag: Client, namespace: str, chunks: int, *, progress: Progress = silent
) -> None:
    """Store the sentence vectors that a namespace lacks; `chunks` is about how many it has."""
    with progress(f"{namespace}: sentences", chunks) as advance:
        done = 0

        def on_step(report: SentenceReport) -> None:
            nonlocal done
            advance(report.chunks - done)
            done = report.chunks

        rag.fill_sentences(namespace, on_step=on_step)


def embed_queries(
    rag: Client,
    namespace: str,
    questions: Sequence[Question],
    *,
    keep: bool = True,
    progress: Progress = silent,
) -> None:
    """Embed the questions once for all rungs, where the client's embedder remembers them."""
    if not isinstance(rag.embedder, RememberingEmbedder):
        return
    texts = list(dict.fromkeys(question.text for question in questions))
    with progress("query vectors", len(texts)) as advance:
        rag.run(warm(rag.embedder, texts, namespace, keep=keep, on_text=advance))
