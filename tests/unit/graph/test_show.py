"""A neighbourhood as text, as DOT and as a page in a real browser."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import pytest

from ragpg.graph.layout import rings
from ragpg.graph.page import as_html
from ragpg.graph.show import Edge, Neighbourhood, Node, as_dot, as_text
from tests.browser import Browser, showing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOSTILE = [
    "</script><script>window.bad = 1</script>", "<img src=x onerror='window.bad = 2'>", "{{data}}",
    '"; window.bad = 3; //', "line\nbreak\x1b[31m", "back\\slash\\", "🚀", "x" * 5000, "&lt;b&gt;",
]  # fmt: skip


def _neighbourhood() -> Neighbourhood:
    nodes = [Node("d1", "document", "Refunds", "refund.md")]
    nodes += [Node(f"d{n}", "document", f"Page {n}", f"{n}.md") for n in range(2, 8)]
    nodes += [Node("e1", "name", "Falcon", None), Node("e2", "place", "Delta", None)]
    nodes += [Node(f"e{n + 10}", "name", name, None) for n, name in enumerate(HOSTILE)]
    edges = [Edge("LINKS", "d1", f"d{n}", 2.0, None) for n in range(2, 5)]
    edges += [Edge("LINKS", f"d{n}", "d1", 1.0, "part") for n in range(5, 8)]
    edges += [Edge("RELATED", "e1", "e2", 3.0, "made by"), Edge("MENTIONS", "d1", "e1", 1.0, None)]
    edges += [Edge("SHARES", "d2", "d3", 4.0, "terms")]
    edges += [Edge("MENTIONS", "d1", f"e{n + 10}", 1.0, None) for n in range(len(HOSTILE))]
    return Neighbourhood(tuple(nodes), tuple(edges))


def test_text_says_every_edge_once() -> None:
    lines = as_text(_neighbourhood()).splitlines()
    assert lines[0] == "refund.md (Refunds)"
    assert lines[1] == "  links to  2.md (Page 2)"
    assert "  is linked from (part)  5.md (Page 5)" in lines
    assert "  is related to (made by)  Delta [place]" in lines
    assert sum("shares terms with" in line for line in lines) == 2
    assert sum("links" in line or "linked" in line for line in lines) == 6
    assert all(line.isprintable() and len(line) <= 240 for line in lines)
    alone = Neighbourhood((Node("e1", "name", "Falcon", None),), ())
    assert as_text(alone) == "Falcon\n  stands alone"


def test_dot_quotes_what_means_something_to_graphviz() -> None:
    dot = as_dot(_neighbourhood())
    assert dot.count("->") == len(_neighbourhood().edges)
    assert '"d1" [label="refund.md (Refunds)", shape=box, penwidth=3];' in dot
    assert '"d2" -> "d3" [label="shares terms with", dir=none];' in dot
    # Every quote inside of a label is escaped: taken away, the rest is balanced.
    for line in dot.splitlines():
        assert re.sub(r'"(?:[^"\\]|\\.)*"', "", line).count('"') == 0, line
    assert r"back\\slash\\" in dot


def test_nodes_stand_apart_on_rings_in_the_same_places_every_time() -> None:
    places = rings(_neighbourhood())
    assert places == rings(_neighbourhood())
    assert places["d1"] == (0.0, 0.0)
    values = list(places.values())
    for at, one in enumerate(values):
        for other in values[at + 1 :]:
            assert math.dist(one, other) > 60
    assert math.hypot(*places["e2"]) > math.hypot(*places["e1"])


def test_the_page_holds_no_foreign_markup_and_no_address() -> None:
    page = as_html(_neighbourhood())
    assert page.count("<script") == 2
    assert "<img" not in page
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:|//)|url\(|@import", page)
    # Without scripts the list says everything.
    text = re.sub(r"<script.*?</script>", "", page, flags=re.S)
    assert '<span class="how">is related to (made by)</span>' in text
    assert len(re.findall(r"<section id=", text)) == len(_neighbourhood().nodes)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser with the page."""
    with showing(as_html(_neighbourhood()), tmp_path_factory.mktemp("page"), 1280, 900) as opened:
        yield opened


@pytest.mark.browser
def test_the_page_loads_nothing_and_runs_nothing_foreign(browser: Browser) -> None:
    asked = [
        event["params"]["request"]["url"]
        for event in browser.events
        if event.get("method") == "Network.requestWillBeSent"
    ]
    assert all(address.startswith("file:") for address in asked)
    trouble = [
        event for event in browser.events
        if event.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")
    ]  # fmt: skip
    assert trouble == []
    assert browser.value("window.bad === undefined")
    assert browser.value("document.title") == "Around refund.md (Refunds)"
    assert browser.value("document.querySelectorAll('.node').length") == len(_neighbourhood().nodes)


@pytest.mark.browser
def test_the_drawing_is_walked_by_keyboard(browser: Browser) -> None:
    focused = "document.activeElement.dataset.node"
    browser.press("Tab")
    assert browser.value(focused) == "d1"
    # One stop for the whole drawing: arrows walk inside of it.
    assert browser.value("document.querySelectorAll('.node[tabindex=\"0\"]').length") == 1
    browser.press("ArrowUp")
    up = browser.value(focused)
    assert up == "e2"
    browser.press("ArrowRight")
    browser.press("ArrowRight")
    up = browser.value(focused)
    assert up == "d2"
    browser.press("Enter")
    pressed = "document.querySelector('.node[aria-pressed=\"true\"]')?.dataset.node ?? null"
    assert browser.value(pressed) == up
    assert browser.value("document.getElementById('said').textContent").endswith(": 2 edges")
    assert browser.value("document.querySelectorAll('.edge.near').length") == 2
    browser.press("Escape")
    assert browser.value(pressed) is None
    assert browser.value("document.getElementById('said').textContent") == ""
    browser.press("Home")
    assert browser.value(focused) == "d1"
    seen = set()
    for _ in _neighbourhood().nodes:
        browser.press("ArrowRight")
        seen.add(browser.value(focused))
    assert seen == {node.id for node in _neighbourhood().nodes}
    assert browser.value(focused) == "d1"
    browser.press("Tab")
    assert browser.value("document.activeElement.id") == "list"


CONTRAST = """
(() => {
  const light = colour => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(v => v / 255)
      .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
                            return (x + .05) / (y + .05); };
  const style = (what, key) => getComputedStyle(document.querySelector(what))[key];
  const back = style("body", "backgroundColor"), panel = style("#list", "backgroundColor");
  return [ratio(style("h1", "color"), back), ratio(style("header p", "color"), back),
          ratio(style("#list a", "color"), panel), ratio(style("#list .how", "color"), panel),
          ratio(style(".node text", "fill"), panel), ratio(style(".node.entity circle", "fill"), panel)];
})()
"""


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_can_be_read_in_light_and_dark(
    browser: Browser, scheme: str, tmp_path: Path
) -> None:
    browser.prefer(scheme)
    ratios = browser.value(CONTRAST)
    assert min(ratios) >= 4.5, ratios
    background = browser.value("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") is (scheme == "light")
    for width in (1280, 360):
        browser.resize(width, 800)
        assert browser.value("document.documentElement.scrollWidth") <= width
    browser.screenshot(tmp_path / f"{scheme}.png")
    assert (tmp_path / f"{scheme}.png").stat().st_size > 10_000
