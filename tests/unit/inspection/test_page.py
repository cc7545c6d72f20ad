"""The page of an inspection: what it says without scripts, and in a real browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from ragpg.inspection.columns import board
from ragpg.inspection.inspect import Inspection
from ragpg.inspection.page import as_html
from ragpg.query.ground import ground
from ragpg.query.rerank_features import features
from ragpg.query.trace import Trace
from ragpg.types import ArmHit, ArmReport, Citation, Fusion, Hit, SearchResult
from tests.browser import Browser, showing

if TYPE_CHECKING:
    from collections.abc import Iterator

EVIL = '</script><img src=x onerror="window.bad=1"><script>window.bad=2</script>'


def _hit(number: int, **arms: tuple[int, float]) -> Hit:
    return Hit(
        rank=number, score=1 / number, namespace="hand\"book'", source=f"{number}.md",
        content=f"Refunds take {number} days. {EVIL}", chunk_id=number, breadcrumb=f"A > {EVIL}",
        start_line=1, end_line=number, metadata={"note": EVIL},
        arms={name: ArmHit(rank, score, "3.md links here" if name == "graph" else None)
              for name, (rank, score) in arms.items()},
    )  # fmt: skip


def _found(**changes: Any) -> Inspection:
    fused = [
        _hit(1, vector=(1, 0.9), keyword=(2, 4.0)),
        _hit(2, keyword=(1, 5.0), graph=(1, 0.5)),
        _hit(3, vector=(3, 0.2)),
    ]
    reranked = [fused[1], fused[0], fused[2]]
    shown = reranked[:2]
    result = SearchResult(
        query=f"refunds {EVIL}",
        hits=shown,
        report={
            "vector": ArmReport(3, 12.0, mode="exact"),
            "keyword": ArmReport(2, 3.0),
            "metadata": ArmReport(skipped="no filter"),
            "sentence": ArmReport(error=f"broken {EVIL}"),
            "graph": ArmReport(1, 2.0),
            "rerank": ArmReport(3, 1.0, mode="heuristic"),
        },
        context=f"[1] {EVIL}",
        citations=[Citation(at, hit) for at, hit in enumerate(shown, start=1)],
        grounding=ground("Refunds take 2 days. Refunds take 77 days.", shown),
        notes=[EVIL],
        context_tokens=9,
        confidence=0.7,
        fusion=Fusion("adaptive", {"vector": 1.2, "keyword": 0.8}, {"near": 0.25}, 0.4),
    )
    given: dict[str, Any] = {
        "result": result,
        "trace": Trace(fused, reranked, reranked),
        "namespaces": ['hand"book'],
        "profile": "measured",
        "reranker": "heuristic",
        "beyond": [_hit(4, vector=(2, 0.5))],
        "features": features("refunds", fused),
        "stages": [("embed", 1.0), ("search", 20.0)],
        "confidence": {"bias": -2.0, "vector.gap": 3.0},
    }
    return Inspection(**given | changes)


def test_columns_hold_every_list_and_what_became_of_each_chunk() -> None:
    lists = board(_found())
    by_name = {column.name: column for column in lists.columns}
    assert list(by_name) == [
        "vector", "keyword", "sentence", "graph", "metadata", "fused", "reranked", "shown",
    ]  # fmt: skip
    assert [(one.chunk, one.rank) for one in by_name["vector"].entries] == [(0, 1), (3, 2), (2, 3)]
    assert [one.move for one in by_name["reranked"].entries] == [1, -1, 0]
    assert [one.tag for one in by_name["shown"].entries] == ["[1]", "[2]"]
    assert by_name["graph"].entries[0].note == "3.md links here"
    assert by_name["sentence"].said.startswith("failed: broken")
    assert by_name["metadata"].said == "skipped: no filter"
    assert lists.chunks[1]["places"] == {
        "fused": {"rank": 2, "score": 0.5},
        "reranked": {"rank": 1, "score": 0.5},
        "result": {"rank": 1, "score": 0.5},
    }
    assert [one.chunk for one in board(_found(), depth=1).columns[0].entries] == [0]


def test_the_page_says_everything_without_a_script() -> None:
    page = re.sub(r"<script.*?</script>", "", as_html(_found()), flags=re.DOTALL)
    assert page.count('data-chunk="1"') == 5
    assert 'aria-label="reranked rank 1, ' in page
    assert ", up 1" in page
    for text in ("weight 1.20", "contradicted", "supported", "skipped: no filter", "2 in 9 tokens"):
        assert text in page, text
    assert "<img" not in page
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:|//)|url\(|@import", page)


def test_without_an_inspection_there_is_a_form_and_the_reason() -> None:
    page = as_html(None, form={"q": EVIL, "n": "a, b", "k": "10"}, error=f"no {EVIL}")
    assert 'role="alert"' in page
    assert "form-action 'self'" in page
    assert "<img" not in page
    assert "form-action 'none'" in as_html(_found())


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser with the page."""
    with showing(as_html(_found()), tmp_path_factory.mktemp("page"), 1440, 1000) as opened:
        yield opened


FOCUSED = (
    "document.activeElement.closest('.column').querySelector('h2').textContent"
    " + ' ' + document.activeElement.dataset.chunk"
)


@pytest.mark.browser
def test_the_page_loads_nothing_and_runs_nothing_foreign(browser: Browser) -> None:
    asked = [
        event["params"]["request"]["url"]
        for event in browser.events
        if event.get("method") == "Network.requestWillBeSent"
    ]
    assert all(address.startswith("file:") for address in asked)
    assert [
        event for event in browser.events
        if event.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")
    ] == []  # fmt: skip
    # What gets in as markup after all is not run either: the policy allows one script.
    browser.value(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.bad=3\">')"
    )
    browser.value(
        "document.body.append(Object.assign(document.createElement('script'),"
        " {textContent: 'window.bad=4'}))"
    )
    assert browser.value("window.bad === undefined")


@pytest.mark.browser
def test_a_chunk_is_followed_by_keyboard(browser: Browser) -> None:
    browser.press("Tab")
    # One stop for the whole board, in the last list.
    assert browser.value(FOCUSED) == "result 1"
    assert browser.value("document.querySelectorAll('[data-chunk][tabindex=\"0\"]').length") == 1
    assert browser.value("document.querySelectorAll('.near').length") == 5
    assert browser.value("document.querySelectorAll('#lines path').length") == 4
    browser.press("ArrowLeft")
    assert browser.value(FOCUSED) == "reranked 1"
    browser.press("ArrowDown")
    assert browser.value(FOCUSED) == "reranked 0"
    said = browser.value("document.getElementById('said').textContent")
    assert said.endswith(": vector 1, keyword 2, fused 1, reranked 2, result 2")
    assert browser.value("document.querySelector('#chunk table').rows.length") == 6
    for _ in range(4):
        browser.press("ArrowLeft")
    assert browser.value(FOCUSED) == "vector 0"
    # A kept chunk stays while one walks on, until it is let go.
    browser.press("Enter")
    pressed = "document.querySelectorAll('[aria-pressed=\"true\"]').length"
    assert browser.value(pressed) == 5
    browser.press("ArrowDown")
    assert browser.value(FOCUSED) == "vector 3"
    assert browser.value("document.querySelector('.near').dataset.chunk") == "0"
    browser.press("Escape")
    assert browser.value(pressed) == 0
    browser.press("ArrowUp")
    browser.press("ArrowDown")
    assert browser.value("document.querySelector('.near').dataset.chunk") == "3"
    browser.press("Home")
    assert browser.value(FOCUSED) == "vector 0"


@pytest.mark.browser
def test_it_can_be_read_in_light_and_in_dark_and_on_a_narrow_window(browser: Browser) -> None:
    contrast = """(() => {
      const lamp = text => {
        const part = text.match(/[\\d.]+/g).slice(0, 3).map(one => {
          one = one / 255;
          return one <= .03928 ? one / 12.92 : ((one + .055) / 1.055) ** 2.4;
        });
        return .2126 * part[0] + .7152 * part[1] + .0722 * part[2];
      };
      const behind = one => {
        for (; one; one = one.parentElement) {
          const colour = getComputedStyle(one).backgroundColor;
          if (!colour.startsWith('rgba(0, 0, 0, 0)')) return colour;
        }
      };
      const bad = [];
      for (const one of document.querySelectorAll('h1, h2, h3, small, p, dt, dd, b, q, pre, td, th,'
          + '.label, .where, .rank, .note, .move, .verdict, .reason, .follow, li > span')) {
        if (!one.textContent.trim() || !one.getClientRects().length) continue;
        const [high, low] = [lamp(getComputedStyle(one).color), lamp(behind(one))].sort((a, b) => b - a);
        const ratio = (high + .05) / (low + .05);
        if (ratio < 4.5) bad.push(one.className + ' ' + one.tagName + ' ' + ratio.toFixed(2));
      }
      return bad;
    })()"""
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        assert browser.value(contrast) == [], scheme
    browser.resize(420, 800)
    assert browser.value("document.documentElement.scrollWidth <= innerWidth")
    browser.resize(1440, 1000)
