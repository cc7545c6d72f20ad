"""An inspection as one HTML page: no network, no library, and no script but its own.

The lists, times, signals and verdicts are there without scripts. The script lets one chunk be
followed through all columns, by mouse and by keyboard. Colours follow the reader's light or dark
setting.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ragpg.inspection.columns import board, where
from ragpg.inspection.inspect import key_of
from ragpg.page_template import as_data, filled, script_source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragpg.inspection.columns import Board, Column, Entry
    from ragpg.inspection.inspect import Inspection
    from ragpg.types import Claim

#: Shares of the stages' time below this are left out of the bars.
_TOO_SHORT = 0.005


def as_html(
    found: Inspection | None,
    *,
    depth: int = 12,
    form: Mapping[str, str] | None = None,
    error: str | None = None,
) -> str:
    """The page, complete.

    depth  how many entries a column shows
    form   the values of a query form, where a server answers it: q, n, k and answer
    error  what went wrong, where there is nothing to show
    """
    template = files("ragpg.inspection").joinpath("page.html").read_text(encoding="utf-8")
    query = found.result.query if found else (form or {}).get("q", "")
    parts = {
        "script": script_source(template),
        "action": "'self'" if form is not None else "'none'",
        "title": escape(f"{query} · ragpg inspect" if query else "ragpg inspect"),
        "query": escape(query or "ragpg inspect"),
        "form": "" if form is None else _form(form),
        "error": f'<p class="error" role="alert">{escape(error)}</p>' if error else "",
        "body": "",
        "data": "null",
    }
    if found is not None:
        lists = board(found, depth)
        parts |= {"body": _body(found, lists), "data": as_data({"chunks": list(lists.chunks)})}
    return filled(template, parts)


def _form(values: Mapping[str, str]) -> str:
    def box(name: str, text: str, kind: str = "text", more: str = "") -> str:
        value = escape(values.get(name, ""))
        return (
            f'<label class="{name}"><span>{text}</span>'
            f'<input name="{name}" type="{kind}" value="{value}"{more}></label>'
        )

    return (
        '<form action="/" method="get" role="search">'
        + box("q", "Query", "search", " autofocus required")
        + box("n", "Namespaces")
        + box("k", "Results", "number", ' min="1" max="100"')
        + box("answer", "Answer to check")
        + "<button>Inspect</button></form>"
    )


def _body(found: Inspection, lists: Board) -> str:
    return "\n".join(
        [
            _summary(found),
            f'<div class="cards">{_times(found)}{_fusion(found)}{_sure(found)}</div>',
            '<div class="panes"><div class="board" id="board" tabindex="-1">'
            '<svg id="lines" aria-hidden="true"></svg><div class="columns">',
            *[_column(column, lists) for column in lists.columns],
            "</div></div>",
            '<aside id="chunk" aria-label="The chunk that is followed">'
            '<p class="dim">Hover over an entry, or walk the lists with the arrow keys: its way '
            "through all lists is shown. Enter keeps it, Escape lets it go.</p></aside></div>",
            _grounding(found, lists),
            _context(found),
        ]
    )


def _summary(found: Inspection) -> str:
    result = found.result
    facts = [f"namespace {', '.join(found.namespaces)}", f"profile {found.profile}"]
    total = next((ms for name, ms in found.stages if name == "search"), None)
    facts += [] if total is None else [f"{total:.0f} ms"]
    notes = "".join(f"<li>{escape(note)}</li>" for note in result.notes)
    return (
        f'<p class="facts">{escape(" · ".join(facts))}</p>'
        + (f'<ul class="notes">{notes}</ul>' if notes else "")
        + '<p id="said" class="unseen" role="status" aria-live="polite"></p>'
    )


def _times(found: Inspection) -> str:
    """A bar for each arm and stage; what one of them contains is not told twice."""
    rows = [
        (name, report.ms, report.error or "")
        for name, report in found.result.report.items()
        if report.ms or report.error
    ]
    told = {name for name, _, _ in rows}
    inner = {"search", "retrieve", "rewrite"}
    rows += [(name, ms, "") for name, ms in found.stages if name not in told | inner]
    fusion = found.result.fusion
    if fusion is not None:
        rows.append(("fusion", fusion.ms, fusion.error or ""))
    most = max((ms for _, ms, _ in rows), default=1.0) or 1.0
    bars = "".join(
        f"<li{_failed(error)}><span>{escape(name)}</span>{_bar(ms / most, name)}"
        f"<b>{ms:.1f}</b></li>"
        for name, ms, error in rows
        if ms / most > _TOO_SHORT or error
    )
    return (
        '<section class="card"><h2>Time <small>ms</small></h2>'
        f'<ol class="bars">{bars}</ol></section>'
    )


def _failed(error: str) -> str:
    return f' class="failed" title="{escape(error)}"' if error else ""


def _bar(share: float, name: str) -> str:
    """A bar of a share of its place; the number stands beside it."""
    width = max(0.0, min(1.0, share)) * 100
    return (
        f'<svg class="bar {_hue(name)}" viewBox="0 0 100 4" preserveAspectRatio="none" '
        f'aria-hidden="true"><rect width="{width:.1f}" height="4"/></svg>'
    )


def _hue(name: str) -> str:
    known = ("vector", "keyword", "prf", "sentence", "graph", "metadata", "minus")
    return f"hue-{name}" if name in known else "hue-stage"


def _fusion(found: Inspection) -> str:
    fusion = found.result.fusion
    if fusion is None:
        return ""
    most = max(fusion.weights.values(), default=1.0) or 1.0
    bars = "".join(
        f"<li><span>{escape(name)}</span>{_bar(weight / most, name)}<b>{weight:.2f}</b></li>"
        for name, weight in sorted(fusion.weights.items(), key=lambda one: -one[1])
    )
    signals = "".join(
        f"<div><dt>{escape(str(name))}</dt><dd>{escape(_value(value))}</dd></div>"
        for name, value in fusion.signals.items()
    )
    error = f'<p class="error">{escape(fusion.error)}</p>' if fusion.error else ""
    return (
        f'<section class="card"><h2>Fusion <small>{escape(fusion.method)}, weights</small></h2>'
        f'<ol class="bars">{bars}</ol>{error}'
        + (f'<dl class="signals">{signals}</dl>' if signals else "")
        + "</section>"
    )


def _sure(found: Inspection) -> str:
    value = found.result.confidence
    most = max((abs(part) for part in found.confidence.values()), default=1.0) or 1.0
    bars = "".join(
        f"<li><span>{escape(name)}</span>{_bar(abs(part) / most, 'minus' if part < 0 else '')}"
        f"<b>{part:+.2f}</b></li>"
        for name, part in found.confidence.items()
        if abs(part) > 0.005
    )
    head = "unknown" if value is None else f"{value:.2f}"
    return (
        f'<section class="card"><h2>Confidence <small>{head}</small></h2>'
        f'<ol class="bars">{bars}</ol></section>'
    )


def _column(column: Column, lists: Board) -> str:
    facts = "".join(
        f'<li title="{escape(fact)}">{escape(fact)}</li>' for fact in column.facts if fact
    )
    best = max((entry.score for entry in column.entries), default=0.0)
    least = min((entry.score for entry in column.entries), default=0.0)
    floor = min(0.0, least) if best > 0 else least
    span = (best - floor) or 1.0
    rows = "".join(
        _entry(entry, column, lists.chunks[entry.chunk], (entry.score - floor) / span)
        for entry in column.entries
    )
    more = column.total - len(column.entries)
    rest = f'<p class="dim rest">{more} more</p>' if more > 0 and column.entries else ""
    said = f'<p class="said">{escape(column.said)}</p>' if column.said else ""
    empty = '<p class="dim">found nothing</p>' if not column.entries and not column.said else ""
    kind = ("arm" if column.is_arm else "stage") + ("" if column.entries else " none")
    name = escape(column.name)
    return (
        f'<section class="column {kind} {_hue(column.name)}" aria-labelledby="head-{name}">'
        f'<header><h2 id="head-{name}">{escape(column.title)}</h2>'
        f'<ul class="facts">{facts}</ul></header>{said}{empty}'
        f"<ol>{rows}</ol>{rest}</section>"
    )


def _entry(entry: Entry, column: Column, chunk: Mapping[str, Any], share: float) -> str:
    moved = _moved(entry)
    words = [
        f"{column.title} rank {entry.rank}",
        chunk["label"],
        chunk["where"],
        f"score {_score(entry.score)}",
        *([moved[1]] if moved else []),
        *filter(None, [entry.tag, entry.note]),
    ]
    note = f'<span class="note">{escape(entry.note)}</span>' if entry.note else ""
    marks = f'<span class="tag">{escape(entry.tag)}</span>' if entry.tag else ""
    if moved:
        marks += f'<span class="move {moved[2]}">{moved[0]}</span>'
    return (
        f'<li><button type="button" data-chunk="{entry.chunk}" tabindex="-1" aria-pressed="false" '
        f'aria-label="{escape(", ".join(words))}">'
        f'<span class="rank">{entry.rank}</span><span class="label">{escape(chunk["label"])}</span>'
        f'<span class="where">{escape(chunk["where"])}</span>'
        f'<span class="marks" aria-hidden="true">{marks}</span>{note}'
        f'<span class="score">{_bar(share, column.name)}<b>{_score(entry.score)}</b></span>'
        "</button></li>"
    )


def _moved(entry: Entry) -> tuple[str, str, str] | None:
    if not entry.move:
        return None
    count = abs(entry.move)
    if entry.move > 0:
        return f"▲{count}", f"up {count}", "up"
    return f"▼{count}", f"down {count}", "down"


def _score(score: float) -> str:
    """Three figures; a time stays whole."""
    return f"{score:.0f}" if abs(score) >= 1000 else f"{score:.3g}"


def _value(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _grounding(found: Inspection, lists: Board) -> str:
    grounding = found.result.grounding
    if grounding is None:
        return ""
    head = "no claims" if grounding.confidence is None else f"{grounding.confidence:.2f}"
    claims = "".join(_claim(claim, lists) for claim in grounding.claims)
    bad = ", ".join(f"[{number}]" for number in grounding.bad_citations)
    return (
        f'<section class="card grounding" aria-labelledby="head-ground">'
        f'<h2 id="head-ground">Grounding <small>{escape(grounding.state)}, {head}, '
        f"judge {escape(grounding.judge)}</small></h2><ol>{claims}</ol>"
        + (f'<p class="error">These citations name no source: {bad}</p>' if bad else "")
        + "</section>"
    )


def _claim(claim: Claim, lists: Board) -> str:
    evidence = "".join(
        f"<li>{_link(one.hit, f'[{one.number}] {where(one.hit)}', lists)} "
        f"<q>{escape(' '.join(one.quote.split()))}</q></li>"
        for one in claim.evidence
    )
    reasons = "".join(f'<li class="reason">{escape(reason)}</li>' for reason in claim.reasons)
    return (
        f'<li class="claim {claim.verdict}"><p><b class="verdict">{claim.verdict} '
        f"{claim.support:.2f}</b> {escape(claim.text)}</p><ul>{evidence}{reasons}</ul></li>"
    )


def _link(hit: Any, text: str, lists: Board) -> str:
    number = lists.numbers.get(key_of(hit))
    if number is None or not lists.chunks[number]:
        return escape(text)
    return f'<button type="button" class="follow" data-follow="{number}">{escape(text)}</button>'


def _context(found: Inspection) -> str:
    result = found.result
    return (
        f'<details class="card context"><summary>The context, as a prompt has it '
        f"<small>{result.context_tokens} tokens</small></summary>"
        f"<pre>{escape(result.context)}</pre></details>"
    )
