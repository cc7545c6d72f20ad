"""A picture of a ladder: the metric with its interval beside the milliseconds, a panel a set.

`.html` is a page of its own with SVG inside and needs nothing; `.png` and the other formats of
matplotlib need the extra `plot`.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.evaluate.report import Report

#: Position and colour of what a point says.
_GAIN, _LOSS, _SAME, _BAR = "#1a7f5a", "#b3392f", "#3b4a5a", "#c9d3de"
_ROW, _HEAD, _NAME, _PLOT, _GAP, _BARS = 26, 64, 130, 430, 70, 200


def draw(reports: Sequence[Report], path: Path | str) -> None:
    """Write the picture; the ending of the path says in which format. Raises ConfigError for an
    ending that is unknown, or when matplotlib is not installed."""
    path = Path(path)
    if path.suffix.lower() in (".html", ".htm"):
        path.write_text(page(reports), encoding="utf-8")
    elif path.suffix.lower() in (".svg", ".png", ".pdf"):
        _matplotlib(reports, path)
    else:
        raise ConfigError(
            f"a picture cannot be written as {path.name}", hint="End it with .html, .png or .svg."
        )


def page(reports: Sequence[Report]) -> str:
    """The page as HTML."""
    panels = "\n".join(_panel(report) for report in reports)
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>ragpg: the ladder</title>
<style>
  body {{ font: 14px/1.5 system-ui, sans-serif; color: #1d2733; margin: 2rem auto; max-width: 900px;
         padding: 0 1rem; background: #fff; }}
  svg {{ width: 100%; height: auto; margin: 1rem 0 2rem; }}
  text {{ font: 12px system-ui, sans-serif; fill: #1d2733; }}
  .faint {{ fill: #6b7886; }}
  .title {{ font-size: 15px; font-weight: 600; }}
  .gain {{ color: {_GAIN}; }} .loss {{ color: {_LOSS}; }}
</style>
<h1>Retrieval, stage by stage</h1>
<p>A point is the mean, the line through it the 95 % interval of a bootstrap over the questions.
<b class="gain">Green</b> adds to the rung it is compared with, <b class="loss">red</b> takes from
it, each more than chance explains; a change that chance may explain is dark. Bars are the median
milliseconds of a search, the thin line reaches to the slowest twentieth.</p>
{panels}
</html>
"""


def _points(report: Report) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for rung in report.rungs:
        run, interval = report.runs[rung.name], report.interval(rung.name)
        if run.unavailable or interval is None:
            found.append({"name": rung.name, "why": run.unavailable or "nothing could be scored"})
            continue
        change = report.change(rung)
        colour = _SAME
        if change is not None and change.significant:
            colour = _GAIN if change.mean > 0 else _LOSS
        found.append(
            {
                "name": rung.name,
                "mean": interval.mean,
                "low": interval.low,
                "high": interval.high,
                "colour": colour,
                "change": change,
                "p50": run.latency(0.5) or 0.0,
                "p95": run.latency(0.95) or 0.0,
            }
        )
    return found


def _panel(report: Report) -> str:
    points = _points(report)
    scored = [point for point in points if "mean" in point]
    height = _HEAD + _ROW * len(points) + 16
    width = _NAME + _PLOT + _GAP + _BARS + 60
    if not scored:
        return f"<p>{escape(report.name)}: no rung could be run.</p>"
    low, high = _range(scored)
    slowest = max(point["p95"] for point in scored) or 1.0

    def across(value: float) -> float:
        return _NAME + (value - low) / (high - low) * _PLOT

    bars = _NAME + _PLOT + _GAP
    parts = [
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(report.name)}">',
        f'<text x="0" y="18"><tspan class="title">{escape(report.name)}</tspan>'
        f'<tspan class="faint" dx="10">{report.documents} documents, '
        f"{len(report.questions)} questions</tspan></text>",
        f'<text x="{_NAME}" y="38" class="faint">{escape(report.main)}</text>',
        f'<text x="{bars}" y="38" class="faint">ms, p50 and p95</text>',
    ]
    for tick in _ticks(low, high):
        x = across(tick)
        parts += [
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_HEAD - 8}" y2="{height - 12}" '
            f'stroke="#e6ebf0"/>',
            f'<text x="{x:.1f}" y="{_HEAD - 12}" text-anchor="middle" class="faint">'
            f"{tick:.2f}</text>",
        ]
    for place, point in enumerate(points):
        y = _HEAD + _ROW * place + _ROW / 2
        parts.append(f'<text x="0" y="{y + 4}">{escape(point["name"])}</text>')
        if "mean" not in point:
            why = point["why"] if len(point["why"]) < 80 else point["why"][:77] + "..."
            parts.append(
                f'<text x="{_NAME}" y="{y + 4}" class="faint">not available: {escape(why)}</text>'
            )
            continue
        x, long = across(point["mean"]), point["p50"] / slowest * _BARS
        change = point["change"]
        tip = f"{point['mean']:.4f} ({point['low']:.4f} to {point['high']:.4f})" + (
            f", change {change.mean:+.4f}, p {change.p:.3f}" if change else ""
        )
        parts += [
            f"<g><title>{escape(tip)}</title>",
            f'<line x1="{across(point["low"]):.1f}" x2="{across(point["high"]):.1f}" y1="{y}" '
            f'y2="{y}" stroke="{point["colour"]}" stroke-width="2"/>',
            f'<circle cx="{x:.1f}" cy="{y}" r="5" fill="{point["colour"]}"/></g>',
            f'<text x="{_NAME + _PLOT + 12}" y="{y + 4}">{point["mean"]:.3f}</text>',
            f'<rect x="{bars}" y="{y - 6}" width="{max(long, 1):.1f}" height="12" fill="{_BAR}"/>',
            f'<line x1="{bars + long:.1f}" x2="{bars + point["p95"] / slowest * _BARS:.1f}" '
            f'y1="{y}" y2="{y}" stroke="#8b98a6"/>',
            f'<text x="{bars + _BARS + 8}" y="{y + 4}" class="faint">{point["p50"]:.0f}</text>',
        ]
    return "\n".join([*parts, "</svg>"])


def _range(points: Sequence[dict[str, Any]]) -> tuple[float, float]:
    low = min(point["low"] for point in points)
    high = max(point["high"] for point in points)
    return max(low - 0.02, 0.0), min(max(high, low + 0.02) + 0.02, 1.04)


def _ticks(low: float, high: float) -> list[float]:
    step = next(one for one in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if (high - low) / one <= 7)
    first = int(low / step) + 1
    return [round(n * step, 4) for n in range(first, int(high / step) + 1)]


def _matplotlib(reports: Sequence[Report], path: Path) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ConfigError(
            "matplotlib is not installed",
            hint="pip install 'ragpg[plot]', or write the picture as .html, which needs nothing.",
        ) from error
    rows = [_points(report) for report in reports]
    heights = [len(points) + 2 for points in rows]
    figure = Figure(figsize=(10, 0.32 * sum(heights) + 0.6), layout="constrained")
    grid = figure.subplots(
        len(reports), 2, squeeze=False, width_ratios=(2, 1), height_ratios=heights
    )
    for (left, right), report, points in zip(grid, reports, rows, strict=True):
        scored = [(at, point) for at, point in enumerate(points) if "mean" in point]
        for at, point in scored:
            left.plot([point["low"], point["high"]], [at, at], color=point["colour"], linewidth=2)
            left.plot(point["mean"], at, "o", color=point["colour"])
            left.annotate(f"{point['mean']:.3f}", (point["mean"], at), xytext=(0, 5),
                          textcoords="offset points", ha="center", fontsize=7)  # fmt: skip
            right.barh(at, point["p50"], height=0.55, color=_BAR)
            right.plot([point["p50"], point["p95"]], [at, at], color="#8b98a6", linewidth=1)
        names = [
            point["name"] if "mean" in point else f"{point['name']} (not available)"
            for point in points
        ]
        left.set_yticks(range(len(points)), names, fontsize=8)
        left.set_title(f"{report.name}: {report.main}, 95 % interval", fontsize=9, loc="left")
        right.set_title("ms, p50 and p95", fontsize=9, loc="left")
        right.set_yticks([])
        for axis in (left, right):
            axis.set_ylim(len(points) - 0.4, -0.8)
            axis.grid(axis="x", color="#e6ebf0")
            axis.set_axisbelow(True)
            axis.tick_params(labelsize=8)
            for side in ("top", "right"):
                axis.spines[side].set_visible(False)
        right.set_xlim(left=0)
    figure.savefig(path, dpi=150)
