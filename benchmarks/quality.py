"""The ladder on every judged set of a folder, as docs/quality.md.

    python benchmarks/quality.py DSN DATA > docs/quality.md

DATA holds folders in the layout of BEIR (see docs/evaluation.md). Sets whose documents have a `lang`
are split by it, sets whose queries have `spans` are cut into chunks. Namespaces are kept in the
database and each finished rung in --results, so that a run that was stopped goes on.

    --sets a,b      only these
    --sample 500    at most so many queries of a set, chosen by a hash of their id; 0: all of them
    --languages 100 the same for a set that is split by language
    --no-sentences  do not store sentence vectors: most of the time of a first run
    --jobs 2        sets side by side; 1 for quiet timings
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from quality_page import page

import ragpg
from ragpg import migrate
from ragpg.evaluate.datasets import read_judged_set
from ragpg.evaluate.judged import evaluate_set
from ragpg.evaluate.ladder import Rung, ladder
from ragpg.evaluate.query_vectors import RememberingEmbedder
from ragpg.providers.onnx import LocalEmbedder

if TYPE_CHECKING:
    from ragpg.evaluate.report import Report

#: Rungs of a set that is split by language: it asks about fusion, not about every stage.
FEW = ("keyword", "vector", "fused (rrf)", "fused", "default")

#: Built-in profiles beside the default. `seed` stores the sentences of what it finds while it searches,
#: which takes minutes a set: it is a rung only where they are stored before.
PROFILES = ("seed", "fast")


@dataclass(frozen=True, slots=True)
class Job:
    """One set, or one language of it."""

    folder: Path
    language: str | None
    sample: int | None
    sentences: bool


def main() -> None:
    """Run the sets and print the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("dsn")
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", help="names of folders, by commas")
    parser.add_argument("--sample", type=int, default=500)
    parser.add_argument("--languages", type=int, default=100)
    parser.add_argument("--results", type=Path, default=Path(".ragpg/quality"))
    parser.add_argument("--no-sentences", dest="sentences", action="store_false")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    migrate.upgrade(options.dsn)
    wanted = options.sets.split(",") if options.sets else None
    folders = [
        folder
        for folder in sorted(options.data.iterdir())
        if (folder / "qrels.tsv").is_file() and (wanted is None or folder.name in wanted)
    ]
    jobs = [job for folder in folders for job in _jobs(folder, options)]
    # The largest first: the last one running should be a small one.
    order = sorted(jobs, key=lambda job: -(job.folder / "queries.jsonl").stat().st_size)
    with ProcessPoolExecutor(options.jobs) as pool:
        running = {job: pool.submit(run, options.dsn, job, options.results) for job in order}
        reports = [running[job].result() for job in jobs]
    print(page(reports, languages={one.name for one, job in zip(reports, jobs, strict=True)
                                   if job.language}), end="")  # fmt: skip


def run(dsn: str, job: Job, results: Path) -> Report:
    """One set up the ladder; says on standard error when it is through."""
    judged = read_judged_set(job.folder)
    rungs: list[Rung] = ladder(profiles=PROFILES if job.sentences else PROFILES[1:])
    if job.language is not None:
        [judged] = [one for one in judged.split("lang") if one.name.endswith(f"-{job.language}")]
        rungs = ladder(FEW)
    embedder = RememberingEmbedder(LocalEmbedder())
    with ragpg.connect(dsn, embedder=embedder) as rag:
        report = evaluate_set(
            rag,
            judged,
            rungs,
            sample=job.sample or None,
            sentences=job.sentences,
            keep=True,
            results=results,
        )
    print(f"{report.name}: {report.mean('default')}", file=sys.stderr, flush=True)
    return report


def _jobs(folder: Path, options: argparse.Namespace) -> list[Job]:
    judged = read_judged_set(folder)
    codes = dict.fromkeys(
        str(one.extras["lang"]) for one in judged.corpus.values() if "lang" in one.extras
    )
    if not codes:
        return [Job(folder, None, options.sample, options.sentences)]
    return [Job(folder, code, options.languages, False) for code in codes]


if __name__ == "__main__":
    main()
