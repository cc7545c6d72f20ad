"""Runs the rungs of a ladder over namespaces, one by one; what was run before is reused."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import ragpg
from ragpg.errors import ConfigError, RagpgError
from ragpg.evaluate.report import Report
from ragpg.evaluate.run import RungRun, from_json, run_rung, to_json
from ragpg.sqlfiles import digest as sql_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ragpg.client import Client
    from ragpg.evaluate.gold import Question
    from ragpg.evaluate.ladder import Rung
    from ragpg.types import SearchResult


@dataclass(frozen=True, slots=True)
class Climb:
    """A namespace, the questions asked of it, and how many hits count.

    `k` hits are scored; `depth` are fetched, for recall@depth. `results` is a folder where runs
    are kept: a rung whose profile, questions and code are the same is read from there.
    """

    rag: Client
    namespaces: Sequence[str]
    questions: Sequence[Question]
    k: int = 10
    depth: int = 10
    results: Path | None = None
    on_question: Callable[[], object] | None = None

    def run(self, rung: Rung) -> RungRun:
        """One rung: kept results, a run, or the reason why it is not available."""
        if rung.vectors and self.rag.embedder is None:
            return RungRun(rung.name, unavailable="it needs an embedder")
        kept = self._kept(rung)
        if kept is not None and kept.is_file():
            for _ in self.questions if self.on_question else ():
                self.on_question()  # type: ignore[misc]
            return from_json(json.loads(kept.read_text(encoding="utf-8")))
        run = self._measure(rung)
        if kept is not None and run.unavailable is None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            partial = kept.with_suffix(".part")
            partial.write_text(json.dumps(to_json(run)), encoding="utf-8")
            os.replace(partial, kept)
        return run

    def report(self, name: str, documents: int, rungs: Sequence[Rung]) -> Report:
        """Every rung, as a report that calls the set `name`."""
        runs = {rung.name: self.run(rung) for rung in rungs}
        return Report(name, documents, self.questions, rungs, runs, self.k, self.depth)

    def _measure(self, rung: Rung) -> RungRun:
        def search(question: Question) -> SearchResult:
            return self.rag.search(
                question.text,
                namespace=self.namespaces,
                k=max(self.k, self.depth),
                profile=rung.profile,
                history=question.history,
            )

        try:
            # A profile that this installation does not know fails in every question alike.
            search(self.questions[0])
        except ConfigError as error:
            return RungRun(rung.name, unavailable=str(error))
        except RagpgError:
            pass
        run = run_rung(search, self.questions, rung.name, k=self.k, depth=self.depth,
                       on_question=self.on_question)  # fmt: skip
        reason = _never_ran(run, rung.report, len(self.questions))
        return RungRun(rung.name, unavailable=reason) if reason else run

    def _kept(self, rung: Rung) -> Path | None:
        if self.results is None:
            return None
        profile = {key: value for key, value in asdict(rung.profile).items() if key != "name"}
        digest = hashlib.sha256(_code().encode())
        described = [
            self.namespaces, profile, self.k, self.depth,
            [(one.id, one.text, list(one.history), repr(one.gold)) for one in self.questions],
        ]  # fmt: skip
        digest.update(json.dumps(described, sort_keys=True, default=str).encode())
        return self.results / f"{'+'.join(self.namespaces)}-{digest.hexdigest()[:16]}.json"


@lru_cache(maxsize=1)
def _code() -> str:
    """A digest of whatever decides a result: the SQL and the modules of search."""
    root = Path(ragpg.__file__).parent
    total = hashlib.sha256(sql_digest().encode())
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] not in ("cli", "demo", "evaluate", "localdb"):
            total.update(path.read_bytes())
    return total.hexdigest()


def _never_ran(run: RungRun, stage: str | None, questions: int) -> str | None:
    """The reason, where the stage that the rung adds was skipped or failed in every question, or
    none of the searches knows of it."""
    if stage is None or not run.ms:
        return None
    if stage not in run.stages:
        return f"no search reports a stage {stage!r}"
    said = {text: count for text, count in run.remarks.items() if text.startswith(f"{stage} ")}
    if said and sum(said.values()) >= questions:
        return max(said, key=lambda text: said[text])
    return None if run.rows.get(stage) else f"the stage {stage!r} gave nothing in any search"
