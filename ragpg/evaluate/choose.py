"""Chooses the stages that help on a corpus, and writes them down as a profile.

The search grows stage by stage from adaptive fusion, or from keyword search where there is no
embedder. Questions made from chunks favour keyword search, so the vector arm is never dropped on
their word. A stage stays where it adds to nDCG more
than chance explains and takes nothing from any kind of question that chance does not explain.
Stages of the context stay where they show more of the gold, or as much of it in fewer tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragpg.evaluate.ladder import DEFAULT, STAGES, Rung, add, ladder, rung_of
from ragpg.evaluate.report import Report, average

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.evaluate.climb import Climb
    from ragpg.query.profile import Profile

#: The searches to start from.
BASES = ("keyword", "vector", "fused (rrf)", "fused")


@dataclass(frozen=True, slots=True)
class Choice:
    """A profile and why it is what it is: a sentence for each stage."""

    profile: Profile
    reasons: Sequence[str]
    report: Report


def choose(climb: Climb, profile: str, corpus: str, documents: int) -> Choice:
    """Run the stages one by one, each on top of those that stayed; the default profile last.

    `profile` names the profile, `corpus` the report, `documents` is the size of the corpus.
    """
    vectors = climb.rag.embedder is not None
    report = Report(corpus, documents, climb.questions, [], {}, climb.k, climb.depth)

    def run(rung: Rung) -> Report:
        runs = {**report.runs, rung.name: climb.run(rung)}
        return replace(report, rungs=[*report.rungs, rung], runs=runs)

    for rung in ladder(BASES, vectors=vectors):
        report = run(rung)
    current, reasons = _base(report)
    for stage in STAGES:
        if stage.name in BASES:
            continue
        below = next(rung for rung in report.rungs if rung.name == current)
        rung = rung_of(stage, add(below.profile, stage), current)
        report = run(rung)
        stays, reason = _verdict(report, rung)
        reasons.append(f"{stage.name} {'stays' if stays else 'is left out'}: {reason}")
        current = rung.name if stays else current
    chosen = next(rung.profile for rung in report.rungs if rung.name == current)
    [default] = ladder([DEFAULT], vectors=vectors)
    report = run(replace(default, against=current))
    return Choice(replace(chosen, name=profile), reasons, report)


def to_toml(choice: Choice) -> str:
    """The profile as a file, with the reasons in front."""
    report = choice.report
    lines = [
        f"# Chosen by `ragpg bench` from {len(report.questions)} questions on {report.name}.",
        *(f"# {reason}" for reason in choice.reasons),
    ]
    return "\n".join(lines) + "\n" + choice.profile.to_toml()


def _base(report: Report) -> tuple[str, list[str]]:
    names = [rung.name for rung in report.available]
    if "fused" not in names:
        return names[0], [f"the base is {names[0]}: there is nothing to fuse it with"]
    reason = "the base is fused"
    arm = report.better_arm
    over = report.compare(arm, "fused") if arm else None
    if over is not None and over.significant and over.mean > 0:
        reason += f"; {arm} alone is {over.mean:+.4f}, but such questions favour keyword search"
    return "fused", [reason]


def _verdict(report: Report, rung: Rung) -> tuple[bool, str]:
    run = report.runs[rung.name]
    if run.unavailable:
        return False, run.unavailable
    if rung.context:
        return _context_verdict(report, rung)
    change = report.change(rung)
    if change is None:
        return False, "it could not be compared"
    said = f"{change.mean:+.4f} {report.main} ({change.low:+.4f} to {change.high:+.4f})"
    if not change.significant or change.mean <= 0:
        return False, said
    for kind in report.kinds:
        loss = report.change(rung, kind=kind)
        if loss is not None and loss.mean < 0 and loss.significant:
            return False, f"{said}, but {loss.mean:+.4f} on {kind}"
    return True, said


def _context_verdict(report: Report, rung: Rung) -> tuple[bool, str]:
    change, against = report.change(rung, "context"), report.against(rung)
    if change is None or against is None:
        return False, "it could not be compared"
    old, new = average(report.runs[against].tokens), average(report.runs[rung.name].tokens)
    said = f"{change.mean:+.4f} of the gold in the context, {old} -> {new} tokens"
    more = change.significant and change.mean > 0
    as_much = not (change.significant and change.mean < 0) and change.low > -0.02
    fewer = old is not None and new is not None and new < 0.95 * old
    return more or (as_much and fewer), said
