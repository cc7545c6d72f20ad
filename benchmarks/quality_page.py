"""The page that benchmarks/quality.py prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragpg.evaluate import tables
from ragpg.evaluate.ladder import DEFAULT, STAGES
from ragpg.evaluate.report import TOLERANCE, average, mean_over_sets, over_sets
from ragpg.query.profile import Profile, read_profile

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ragpg.evaluate.report import Report

HEAD = """# How good is the search, and which stage makes it so?

Made by one command, `python benchmarks/quality.py DSN DATA > docs/quality.md`; what the rungs are and
how the numbers are computed is in [evaluation.md](evaluation.md). The local model (all-MiniLM-L6-v2,
int8, 384 dimensions) gives all vectors, no stage asks a language model, and every document is one
chunk unless something else is said. `default` is a search after `ragpg ingest` and nothing else;
`default +sentences` after `ragpg sentences` too. Queries of larger sets are a sample by a hash of their ids.
Milliseconds are of one busy machine with two cores: compare them with each other.
"""


def page(reports: Sequence[Report], languages: Collection[str]) -> str:
    """The whole page. `languages` names the reports that are parts of a set split by language."""
    whole = [one for one in reports if one.name not in languages]
    # Spans in chunks measure something else than documents; a mean over both would mean nothing.
    documents = [one for one in whole if not _has_spans(one)]
    parts = [HEAD]
    if documents:
        parts += [
            f"## {documents[0].main} of every rung\n\n{tables.markdown_summary(documents)}",
            "## The default against the better arm\n\n"
            f"It must not be more than {TOLERANCE} below keyword or vector search alone, whichever "
            f"is better on the set.\n\n{_arms(documents)}",
            "## What each stage adds\n\nDifference to the rung it is compared with; bold where a "
            "paired bootstrap gives it less than 5 % by chance.\n\n"
            f"{tables.markdown_changes(documents)}",
            f"## What follows for the default\n\n{_verdicts(documents)}",
            f"## What it costs\n\n{_costs(documents)}",
            "## Set by set",
            *(_set(one) for one in documents),
        ]
    parts += [
        f"## Spans in chunks: {one.name}\n\nDocuments are cut into chunks of 1,000 characters; a span "
        f"counts as found where half of it has been seen.\n\n{_set(one, head=False)}"
        for one in whole
        if _has_spans(one)
    ]
    split = [one for one in reports if one.name in languages]
    if split:
        parts.append(
            "## Languages\n\nThe same paragraphs and questions in several languages, each searched "
            "with its own text search configuration. The model knows English only, so its arm is "
            f"weak elsewhere: that is the test.\n\n{tables.markdown_summary(split)}\n\n{_arms(split)}"
        )
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def _has_spans(report: Report) -> bool:
    return any("[" in name for one in report.questions[:1] for name in one.gold.gains)


def _set(report: Report, *, head: bool = True) -> str:
    title = f"### {report.name}\n\n" if head else ""
    return (
        f"{title}{report.documents} documents, {len(report.questions)} queries.\n\n"
        f"{tables.markdown(report)}"
    )


def _arms(reports: Sequence[Report]) -> str:
    rows = [
        "| set | better arm | alone | default | difference | 95 % | |",
        "|---|---|--:|--:|--:|--:|---|",
    ]
    for one in reports:
        arm, over = one.better_arm, one.over_better_arm(DEFAULT)
        if arm is None or over is None:
            continue
        fault = "" if over.mean >= -TOLERANCE else "below"
        rows.append(
            f"| {one.name} | {arm} | {one.mean(arm):.4f} | {one.mean(DEFAULT):.4f} | "
            f"{over.mean:+.4f} | {over.low:+.3f} to {over.high:+.3f} | {fault} |"
        )
    better = [one.mean(one.better_arm) for one in reports if one.better_arm]
    known = [mean for mean in better if mean is not None]
    whole = mean_over_sets(reports, DEFAULT)
    if known and whole is not None:
        alone = sum(known) / len(known)
        rows.append(f"| mean | | {alone:.4f} | {whole:.4f} | {whole - alone:+.4f} | | |")
    fused = over_sets(reports, DEFAULT, "fused")
    said = (
        f"\n\nOn the mean the default is {fused.mean:+.4f} over its own fused list "
        f"({fused.low:+.4f} to {fused.high:+.4f}, p {fused.p:.3f})."
        if fused
        else ""
    )
    return "\n".join(rows) + said


def _verdicts(reports: Sequence[Report]) -> str:
    measured = read_profile("measured")
    rows = [
        "| stage | on the mean | 95 % | sets up | sets down | in the default |",
        "|---|--:|--:|--:|--:|---|",
    ]
    for stage in STAGES:
        rung = next(one for one in reports[0].rungs if one.name == stage.name)
        changes = [found for one in reports if (found := one.change(rung)) is not None]
        if not changes or (stage.fresh and not stage.against):
            continue
        mean = over_sets(reports, rung.name)
        up = sum(one.significant and one.mean > 0 for one in changes)
        down = sum(one.significant and one.mean < 0 for one in changes)
        figures = f"{mean.mean:+.4f} | {mean.low:+.4f} to {mean.high:+.4f}" if mean else " | "
        rows.append(f"| {stage.name} | {figures} | {up} | {down} | {_on(measured, stage.name)} |")
    return "\n".join(rows)


def _on(profile: Profile, stage: str) -> str:
    """Whether a stage of the ladder is part of a profile, in words."""
    arms = {name: profile.arms.get(name, name in ("vector", "keyword", "metadata", "graph"))
            for name in ("prf", "graph")}  # fmt: skip
    found = {
        "fused (rrf)": profile.fusion.get("method") == "rrf",
        "fused": profile.fusion.get("method", "adaptive") == "adaptive",
        "+prf": bool(arms["prf"]),
        "+probes": profile.carryover or profile.facets,
        "+corrective": profile.corrective > 0,
        "+rerank": bool(profile.rerankers),
        "+collapse": profile.collapse < 1,
        "+mmr": profile.mmr < 1,
        "+compress": profile.compress,
        "+parents": profile.parents > 0,
        "+graph": bool(arms["graph"]),
    }
    if stage == "+sentences":
        return "where they are stored"
    return "yes" if found.get(stage) else "no"


def _costs(reports: Sequence[Report]) -> str:
    """Median milliseconds and tokens of each rung, and of the default's stages."""
    rows = [
        "| rung | p50 ms | p95 ms | context tokens | gold in the context |",
        "|---|--:|--:|--:|--:|",
    ]
    for rung in reports[0].rungs:
        ran = [one for one in reports if one.runs[rung.name].unavailable is None]
        if not ran:
            continue
        times = [ms for one in ran for ms in one.runs[rung.name].ms]
        tokens = average([count for one in ran for count in one.runs[rung.name].tokens])
        ordered = sorted(times)
        shown = mean_over_sets(ran, rung.name, "context")
        rows.append(
            f"| {rung.name} | {ordered[len(ordered) // 2]:.1f} | {ordered[int(0.95 * len(ordered))]:.1f} | "
            f"{tokens or 0:.0f} | {'-' if shown is None else format(shown, '.4f')} |"
        )
    stages: dict[str, list[float]] = {}
    for one in reports:
        for name, ms in one.runs[DEFAULT].stages.items():
            stages.setdefault(name, []).append(ms)
    said = ", ".join(f"{name} {sorted(ms)[len(ms) // 2]:.1f}" for name, ms in stages.items())
    return "\n".join(rows) + f"\n\nOf the default, median milliseconds by arm and stage: {said}."
