"""Citation markers: what is one, where it leads, how it is written."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ragpg.errors import ConfigError
from ragpg.query.cite import citation_json, cite, render, sources_block
from ragpg.query.ground import ground
from ragpg.query.label import label, link, provenance
from ragpg.query.markers import find_markers
from ragpg.types import Citation, Duplicate, Hit


def source(name: str, text: str = "text", first: int = 1, last: int = 2) -> Hit:
    return Hit(1, 1.0, "default", name, text, start_line=first, end_line=last, title="T")


THREE = [source("s1", "s1"), source("s2", "s2"), source("s3", "s3")]


@pytest.mark.case("CI-01")
@pytest.mark.parametrize(
    ("answer", "known", "unknown", "text"),
    [
        ("Keys rotate [7].", [], [7], "Keys rotate."),
        ("Keys rotate [0] and [-1].", [], [0, -1], "Keys rotate and."),
        ("Keys rotate [1][2][9].", [1, 2], [9], "Keys rotate [1][2]."),
        ("Keys rotate [1, 4].", [1], [4], "Keys rotate [1]."),
        ("Keys rotate [2-5].", [2, 3], [4, 5], "Keys rotate [2][3]."),
        ("Keys rotate [1–3].", [1, 2, 3], [], "Keys rotate [1][2][3]."),
        ("Keys rotate [①].", [1], [], "Keys rotate [1]."),
        (
            "Keys rotate [99999999999999999999].",
            [],
            [99999999999999999999],
            "Keys rotate.",
        ),
        ("Keys rotate [2-999999999].", [2], [999999999], "Keys rotate [2]."),
        ("Keys rotate [" + "9" * 5000 + "].", [], [], None),
    ],
)
def test_numbers_without_a_source_are_reported_and_taken_out_ci_01(
    answer: str, known: list[int], unknown: list[int], text: str | None
) -> None:
    cited = cite(answer, THREE, renumber=False)
    assert [one.number for one in cited.citations] == known
    assert cited.unknown == unknown
    assert cited.text == (text or answer)
    grounding = ground(answer, THREE)
    assert list(grounding.bad_citations) == unknown
    assert all(claim.verdict == "unsupported" for claim in grounding.claims)


def test_unknown_numbers_can_be_marked_instead() -> None:
    assert cite("A [1, 4].", THREE, unknown="mark").text == "A [1][4?]."


@pytest.mark.case("CI-02")
@pytest.mark.parametrize(
    ("answer", "markers"),
    [
        ("Use arr[0] and arr[1] [1].", ["[1]@22"]),
        ("See [1](https://example.com) [2].", ["[2]@29"]),
        ("```\nx[1] = y[2]\n```\nDone [1].", ["[1]@25"]),
        ('The paper says "as shown in [3]" [1].', ["[1]@33"]),
        ("Array[2] [^1]", ["[^1]@9"]),
        ("Use `a[1]` and ``b [2]``.", []),
        ("Use arr[0] and arr[1].", []),
        ("Rotate every 90 days[1].", ["[1]@20"]),
        ("- [x] done [1]\n\n[2]: https://example.com\n[^2]: a note", ["[1]@11"]),
        ("![1](a.png) and [text [1]](b.md)", ["[1]@22"]),
        ("[TODO] [a, b] [v1.2] [1a] []", []),
        ("Both 【1】 and 【2†b.md】 and [Source 2]", ["【1】@5", "【2†b.md】@13", "[Source 2]@26"]),
        ("> As shown in [3], x holds.\nSo [1].", ["[1]@31"]),
    ],
)
def test_only_real_markers_are_citations_ci_02(answer: str, markers: list[str]) -> None:
    sources = ["As shown in [3], x holds.", "second"]
    found = find_markers(answer, sources)
    assert [f"{answer[one.start : one.end]}@{one.start}" for one in found] == markers
    cited = cite(answer, [source("a", sources[0]), source("b", sources[1])], renumber=False)
    left = answer
    for marker in reversed(found):
        left = left[: marker.start] + left[marker.end :]
    # All that is no marker is still there, in order.
    assert _without_markers(cited.text) == _without_markers(left)


def _without_markers(text: str) -> str:
    return "".join(mark for mark in text if mark not in " [](){}0123456789^")


@pytest.mark.case("CI-05")
def test_sources_stay_when_no_marker_is_written_ci_05() -> None:
    cited = cite("Keys rotate every 90 days.", THREE[:2])
    assert cited.uncited
    assert cited.citations == []
    assert [one.hit.source for one in cited.not_cited] == ["s1", "s2"]
    assert "Sources given, not cited:\n- s1" in render(cited)
    assert ground("Keys rotate every 90 days.", THREE[:2]).uncited


FOUR = [
    source("a.md", "A1", 1, 5),
    source("b.md", "B", 1, 9),
    source("a.md", "A2", 40, 44),
    source("c.md", "C", 1, 2),
]


@pytest.mark.case("CI-06")
def test_renumbering_leads_to_the_same_chunks_ci_06() -> None:
    cited = cite("X [3]. Y [1]. Z [3][4]. W [10].", FOUR)
    assert cited.text == "X [1]. Y [2]. Z [1][3]. W."
    assert {one.number: one.hit.content for one in cited.citations} == {1: "A2", 2: "A1", 3: "C"}
    assert [(one.number, one.hit.content) for one in cited.not_cited] == [(4, "B")]
    assert cited.unknown == [10]


@pytest.mark.case("CI-06")
def test_two_chunks_of_one_file_stay_apart_in_every_style_ci_06() -> None:
    assert cite("X [3]. Y [1].", FOUR, style="source").text == "X [a.md:40-44]. Y [a.md:1-5]."
    assert cite("X [3]. Y [1].", FOUR, style="footnote").text == "X [^1]. Y [^2]."
    markdown = cite("X [3]. Y [1].", FOUR, style="markdown")
    assert markdown.text == "X [1](a.md#L40-L44). Y [2](a.md#L1-L5)."
    assert "1. [a.md (lines 40-44) T](a.md#L40-L44)" in render(markdown)


def test_blocks_in_every_style() -> None:
    cited = cite("X [2].", FOUR)
    assert render(cited) == "X [1].\n\nSources:\n[1] b.md (lines 1-9) T"
    assert sources_block(cited.citations, style="footnote") == "[^1]: b.md (lines 1-9) T"
    assert sources_block([], style="numeric") == ""
    written = json.loads(render(cite("X [2] [9].", FOUR, style="json")))
    assert written["text"] == "X [1]."
    assert written["citations"][0]["source"] == "b.md"
    assert written["citations"][0]["lines"] == [1, 9]
    assert written["unknown"] == [9]
    assert len(written["not_cited"]) == 3


def test_an_unknown_style_is_refused() -> None:
    with pytest.raises(ConfigError, match="'apa'"):
        cite("X", THREE, style="apa")  # type: ignore[arg-type]


def test_a_function_writes_markers_in_any_form() -> None:
    cited = cite("X [3]. Y [1] [9].", FOUR, style=lambda one: f"(Quelle {one.number})")
    assert cited.text == "X (Quelle 1). Y (Quelle 2)."
    assert render(cited).endswith(
        "Sources:\n(Quelle 1) a.md (lines 40-44) T\n(Quelle 2) a.md (lines 1-5) T"
    )


ODD = [
    "a [1].md",
    "a](b).md",
    "x|y (draft) <b>.md",
    "__init__.py",
    "back\\slash*.md",
    "C:\\docs\\a.md",
    "naïve café 猫.md",
    "50% #1?.md",
    "&amp; `code` ~~x~~.md",
    "javascript:alert(1)",
    "javascript://%0aalert(1)",
    "data:text/html,<script>",
    "https://example.com/?a=1&copy;=2&lt=3",
    "https://example.com/a b(c)|d?q=[1]&r=<2>",
    "http://example.com/%7Euser/x_(y)",
    "![img](x).png",
    "line\nend.md",
]


def rendered(text: str) -> list[tuple[str, str]]:
    """Target and visible text of every link, as a Markdown reader sees them."""
    links: list[tuple[str, str]] = []
    for block in MarkdownIt("commonmark").enable("table").parse(text):
        target, shown = None, ""
        for token in block.children or ():
            if token.type == "link_open":
                target, shown = str(token.attrs["href"]), ""
            elif token.type == "link_close":
                links.append((target or "", shown))
                target = None
            elif target is not None:
                assert token.type in ("text", "text_special"), token.type
                shown += token.content
    return links


@pytest.mark.parametrize("name", ODD)
def test_any_source_is_one_whole_link(name: str) -> None:
    hit = source(name)
    cited = cite("See [1], then go on.", [hit], style="markdown")
    assert "(" not in cited.text[cited.text.index("](") + 2 : cited.text.index(")", 8)]
    [(target, shown)] = rendered(sources_block(cited.citations, style="markdown"))
    assert shown == label(hit)
    assert unquote(target) == unquote(link(hit))
    assert not target.lower().startswith(("javascript:", "data:"))
    [(inline, number)] = rendered(cited.text)
    assert (inline, number) == (target, "1")
    table = rendered(f"| a | b |\n|---|---|\n| {cited.text} | x |\n")
    assert table == [(target, "1")]


@given(name=st.text("ab:/#?%[]()<>|\\*_`~&! .猫é\n\"'", min_size=1, max_size=30).filter(str.strip))
def test_links_of_random_sources_lead_back_to_them(name: str) -> None:
    hit = replace(source(name), title="")
    [(target, shown)] = rendered(
        sources_block([Citation(1, hit)], style="markdown").replace("Sources:\n\n", "")
    )
    assert shown == label(hit)
    if "://" not in name:
        path = unquote(target.removesuffix("#L1-L2"))
        assert path.removeprefix("./") == name.removeprefix("./")


@pytest.mark.parametrize(
    ("name", "marker"),
    [
        ("a.md", "[a.md:1-2]"),
        ("a [1].md", "[a \\[1\\].md:1-2]"),
        ("x|y.md", "[x\\|y.md:1-2]"),
        ("a\n[2] b.md", "[a \\[2\\] b.md:1-2]"),
    ],
)
def test_source_markers_end_where_they_seem_to(name: str, marker: str) -> None:
    assert cite("X [1].", [source(name)], style="source").text == f"X {marker}."


def test_a_footnote_cannot_hold_markup_of_a_source() -> None:
    block = sources_block([Citation(1, source("[x](javascript:a) <b>"))], style="footnote")
    assert block == "[^1]: \\[x\\](javascript:a) \\<b\\> (lines 1-2) T"
    assert rendered(block.removeprefix("[^1]: ")) == []


def test_pages_are_linked_as_pages() -> None:
    page = replace(source("docs/a b.PDF"), page=3)
    assert link(page) == "docs/a%20b.PDF#page=3"
    assert link(replace(page, source="https://example.com/a.pdf?v=2")) == (
        "https://example.com/a.pdf?v=2#page=3"
    )
    assert link(replace(page, source="https://example.com/a.pdf#p4")) == (
        "https://example.com/a.pdf#p4"
    )
    assert link(replace(page, source="notes.md")) == "notes.md#L1-L2"


def test_provenance_tells_the_kind_of_source() -> None:
    stored = replace(source("guide.md", first=3, last=9), chunk_id=1)
    assert provenance(stored) == "docs:guide.md#L3-L9"
    assert provenance(replace(stored, kind="memory", namespace="agent 7", source="m1")) == (
        "memory:agent%207/m1"
    )
    assert provenance(source("https://example.com/x")) == "https://example.com/x"
    assert provenance(replace(stored, kind="external", namespace="wiki")) == (
        "external:wiki/guide.md"
    )


def test_json_says_where_in_which_version() -> None:
    hit = replace(
        source("a.md", "text", 3, 4), chunk_id=7, document_id=2, version=5, start_char=10,
        end_char=14, chunk_ids=(6, 7), duplicates=(Duplicate("default", "b.md"),),
    )  # fmt: skip
    written = citation_json(Citation(1, hit))
    assert json.loads(json.dumps(written)) == written
    assert (written["lines"], written["chars"], written["version"]) == ([3, 4], [10, 14], 5)
    assert (written["chunk_ids"], written["also"]) == ([6, 7], ["b.md"])
    assert written["provenance"] == "docs:a.md#L3-L4"


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        # Where words stand without blanks, a marker stands right behind them.
        ("密钥每90天轮换一次[1]。午餐在中午[2]。", [(1,), (2,)]),
        ("鍵は90日ごとに交換されます[2][1]。", [(2,), (1,)]),
        ("กุญแจเปลี่ยนทุก 90 วัน[3]", [(3,)]),
        ("密钥轮换［１］，午餐【2、3】。", [(1,), (2, 3)]),
        ("المفاتيح تتغير كل ٩٠ يوما[٢]، ثم [\u200f٣\u200f].", [(3,)]),
        ("المفاتيح تتغير كل ٩٠ يوما[٢]،", [(2,)]),
        ("चाबियाँ बदलती हैं[३]।", [(3,)]),
        ("Keys rotate [1 and 2], [1, 2, and 3], [citation:3], [Quelle 2], [来源1].",
         [(1, 2), (1, 2, 3), (3,), (2,), (1,)]),
        ("Keys rotate [1]–[3], not [1] - [3].", [(1, 2, 3), (1,), (3,)]),
        ("Keys rotate ［1], [1】.", []),
        ("Rows[1] and 列[0] of x[2]", [(0,)]),
    ],
)  # fmt: skip
def test_markers_of_other_scripts_and_habits_are_read(
    answer: str, numbers: list[tuple[int, ...]]
) -> None:
    assert [one.numbers for one in find_markers(answer)] == numbers


def test_a_range_of_brackets_keeps_its_sources_when_numbers_change() -> None:
    assert cite("Z [3]. X [1]–[3].", THREE).text == "Z [1]. X [2][3][1]."
