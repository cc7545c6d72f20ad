"""Reports for a terminal and for a page of Markdown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ragpg.evaluate.report import TOLERANCE, Report, average, mean_over_sets, over_sets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.evaluate.bootstrap import Difference
    from ragpg.evaluate.crossvalidate import Tuned
    from ragpg.evaluate.ladder import Rung

NOTE = (
    "change: what the rung adds to the one it is compared with, and the 95 % interval of a paired "
    "bootstrap;\n* less than 5 % likely by chance. ms: one search, without embedding the query."
)


def text(report: Report) -> str:
    """One set for a terminal: a line for each rung, what was unavailable, and the check against
    the better arm."""
    counted = "questions" if report.kinds else "queries"
    head = (
        f"{report.name}: {report.documents} documents, {len(report.questions)} {counted}, "
        f"best {report.k} hits"
    )
    lines = [head, _columns(_rows(report))]
    lines += _remarks(report)
    if not report.kinds:
        lines += check(report)
    elif len(set(report.groups.values())) < 30:
        lines.append("fewer than 30 chunks: take the intervals for too narrow")
    return "\n".join(lines)


def kinds(report: Report, metric: str | None = None) -> str:
    """One metric by kind of question and rung."""
    rows = [["rung", *report.kinds, "all"]]
    rows += [
        [rung.name, *(_number(report.mean(rung.name, metric, kind)) for kind in report.kinds),
         _number(report.mean(rung.name, metric))]
        for rung in report.available
    ]  # fmt: skip
    return f"{metric or report.main} by kind of question\n{_columns(rows)}"


def summary(reports: Sequence[Report]) -> str:
    """Several sets side by side: nDCG@k of each rung, and the mean of the sets."""
    return _columns(_matrix(reports))


def check(report: Report) -> list[str]:
    """A line for each whole profile that falls below the better arm alone by more than it may."""
    lines = []
    for rung in report.available:
        over = report.over_better_arm(rung.name) if rung.name == "default" else None
        if over is not None:
            verdict = "below" if over.mean < 0 else "above"
            fault = "  FAULT: more than it may" if over.mean < -TOLERANCE else ""
            lines.append(
                f"{rung.name} is {abs(over.mean):.4f} {verdict} {report.better_arm} alone{fault}"
            )
    return lines


def markdown(report: Report) -> str:
    """One set as a Markdown table with intervals."""
    rows = _rows(report)
    rows[0] = [cell or "its 95 %" for cell in rows[0]]
    return "\n".join([_table(rows), "", *[f"- {line}" for line in _remarks(report)]]).rstrip()


def markdown_summary(reports: Sequence[Report]) -> str:
    """nDCG@k of every rung on every set, the better arm in bold, and the mean."""
    return _table(_matrix(reports))


def markdown_changes(reports: Sequence[Report]) -> str:
    """What each stage adds on each set; bold where chance is an unlikely cause."""
    rows = [["stage", "compared with", *(one.name for one in reports), "mean"]]
    for rung in _rungs(reports):
        found = [one.change(rung) if rung.name in one.runs else None for one in reports]
        if not any(found):
            continue
        against = {one.against(rung) for one in reports}
        same = next(iter(against)) if len(against) == 1 else None
        cells = [*map(_bold, found), _bold(over_sets(reports, rung.name))]
        rows.append([rung.name, same or rung.against or "", *cells])
    return _table(rows)


def tuned(result: Tuned) -> str:
    """What was learned about fusion, and whether it is worth using."""
    rows = [["fusion", f"{result.metric} of all queries", "chosen in folds"]]
    rows += [
        [name, _number(mean), str(result.chosen.get(name, ""))]
        for name, mean in result.means.items()
    ]
    held_out = sum(result.held_out.values()) / len(result.held_out)
    default = next(iter(result.means.values()))
    gain = result.gain
    said = f" ({gain.mean:+.4f}, {gain.low:+.4f} to {gain.high:+.4f})" if gain else ""
    best = ", ".join(f"{key} = {json.dumps(value)}" for key, value in result.best.items())
    advice = (
        f"Use it in a profile: fusion = {{ {best} }}"
        if result.worth_it
        else "Keep the default: the gain may be chance."
    )
    return (
        f"{len(result.held_out)} judged queries\n{_columns(rows)}\n"
        f"Chosen by cross-validation {held_out:.4f}, the default {default:.4f}"
        f"{said}.\n{advice}"
    )


def page(reports: Sequence[Report]) -> str:
    """All sets as one page: the summary, what each stage adds, and each set with its intervals."""
    parts = [f"{reports[0].main} of every rung:\n\n{markdown_summary(reports)}"]
    parts.append(
        "What each stage adds to the one it is compared with, in bold where a paired bootstrap "
        f"gives it less than 5 % by chance:\n\n{markdown_changes(reports)}"
    )
    parts += [
        f"### {one.name}\n\n{one.documents} documents, {len(one.questions)} queries.\n\n"
        f"{markdown(one)}"
        for one in reports
    ]
    return "\n\n".join(parts) + "\n"


def _rungs(reports: Sequence[Report]) -> list[Rung]:
    found: dict[str, Rung] = {}
    for report in reports:
        for rung in report.rungs:
            found.setdefault(rung.name, rung)
    return list(found.values())


def _matrix(reports: Sequence[Report]) -> list[list[str]]:
    rows = [["rung", *(one.name for one in reports), "mean"]]
    for rung in _rungs(reports):
        means = [one.mean(rung.name) if rung.name in one.runs else None for one in reports]
        whole = mean_over_sets(reports, rung.name)
        rows.append([rung.name, *map(_number, means), _number(whole)])
    return rows


def _rows(report: Report) -> list[list[str]]:
    names = report.metrics
    head = ["rung", names[0], "95 %", "change", "", *names[1:], "tokens", "p50 ms", "p95 ms"]
    failing = any(report.runs[rung.name].summary(report.main).failures for rung in report.available)
    rows = [head + (["failed"] if failing else [])]
    for rung in report.available:
        run = report.runs[rung.name]
        found, change = report.interval(rung.name), report.change(rung)
        summary = run.summary(report.main)
        row = [
            rung.name,
            _number(report.mean(rung.name)),
            f"{found.low:.3f}-{found.high:.3f}" if found else "-",
            *_change(change),
            *(_number(report.mean(rung.name, name)) for name in names[1:]),
            _whole(average(run.tokens)),
            _tenth(run.latency(0.5)),
            _tenth(run.latency(0.95)),
        ]
        rows.append(row + ([str(summary.failed)] if failing else []))
    return rows


def _remarks(report: Report) -> list[str]:
    """What could not be run, and what did not run in some questions."""
    lines = [
        f"{rung.name}: not available: {run.unavailable}"
        for rung in report.rungs
        if (run := report.runs[rung.name]).unavailable
    ]
    seen: set[str] = set()
    for rung in report.available:
        for remark, count in report.runs[rung.name].remarks.items():
            # The metadata arm has nothing to do without a filter; that is no news.
            if remark not in seen and not remark.startswith("metadata skipped"):
                lines.append(f"{rung.name}: {remark} ({count} of {len(report.questions)})")
                seen.add(remark)
    return lines


def _change(change: Difference | None) -> tuple[str, str]:
    if change is None:
        return "", ""
    star = "*" if change.significant else ""
    return f"{change.mean:+.4f}{star}", f"{change.low:+.3f} to {change.high:+.3f}"


def _bold(change: Difference | None) -> str:
    if change is None:
        return ""
    return f"**{change.mean:+.3f}**" if change.significant else f"{change.mean:+.3f}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _tenth(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _whole(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def _columns(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    marks = ["---"] + ["--:"] * (len(head) - 1)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, marks, *body))
