"""Structure of Markdown, HTML and reStructuredText."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragpg.ingest.load import load_text
from ragpg.types import Document, Link


def markdown(text: str) -> Document:
    return load_text(text, source="guide/a.md", format="markdown")


def html(text: str) -> Document:
    return load_text(text, source="guide/a.html", format="html")


def rst(text: str) -> Document:
    return load_text(text, source="guide/a.rst", format="rst")


def paths(document: Document) -> list[tuple[str, ...]]:
    """The heading paths, after a check that the sections partition the text."""
    edges = [section.start for section in document.sections] + [len(document.text)]
    assert edges[0] == 0
    assert [section.end for section in document.sections] == edges[1:]
    return [section.path for section in document.sections]


def blocks(document: Document) -> list[str]:
    return [document.text[start:end] for start, end in document.blocks]


def test_markdown_headings_are_plain_words() -> None:
    document = markdown("intro\n\nA *big* `title`\n=====\n\n### [Deep](x.md)\n\n> # quoted\n")
    assert paths(document) == [(), ("A big title",), ("A big title", "Deep")]
    assert document.title == "A big title"


def test_markdown_links_of_all_kinds() -> None:
    document = markdown(
        "[one](b.md#part) ![img](i.png) <https://example.com/x> [two][ref] `[no](c.md)`\n\n"
        "```\n[no](d.md)\n```\n\n[ref]: ../e.md\n"
    )
    assert document.links == (
        Link("guide/b.md", "part", "one"),
        Link("https://example.com/x", "", "https://example.com/x"),
        Link("e.md", "", "two"),
    )


def test_markdown_blocks_are_fences_tables_and_lists() -> None:
    document = markdown("p\n\n- a\n- b\n\np\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx\n```\n")
    assert [block.strip() for block in blocks(document)] == [
        "- a\n- b",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "```\nx\n```",
    ]


@pytest.mark.parametrize(
    ("text", "metadata", "title", "body"),
    [
        ("---\ntitle: T\nn: [1]\n---\n# H\n", {"title": "T", "n": [1]}, "T", "# H\n"),
        ("+++\ntitle = 'T'\n+++\nx\n", {"title": "T"}, "T", "x\n"),
        ("---\n---\nx\n", {}, "", "x\n"),
        ("---\nwords only\n---\nx\n", {}, "", "---\nwords only\n---\nx\n"),
        ("---\nno end: 1\n", {}, "", "---\nno end: 1\n"),
        ("\n---\na: 1\n---\n", {}, "", "\n---\na: 1\n---\n"),
    ],
)
def test_front_matter(text: str, metadata: dict[str, object], title: str, body: str) -> None:
    document = markdown(text)
    assert (document.metadata, document.title, document.text) == (metadata, title, body)
    assert document.line_offset == text.count("\n") - body.count("\n")


def test_broken_front_matter_stays_text_with_a_note() -> None:
    document = markdown("---\na: [1\n---\nx\n")
    assert document.text.startswith("---")
    assert "not valid YAML" in document.notes[0]


def test_front_matter_builds_no_objects() -> None:
    document = markdown("---\na: !!python/object/apply:os.getcwd []\n---\nx\n")
    assert document.metadata == {}
    assert "not valid YAML" in document.notes[0]


PAGE = """<!doctype html><html><head><title>Install - Manual</title><style>x{}</style></head>
<body><nav>Home</nav><h1>Install<a class="headerlink" href="#install">¶</a></h1>
<p>Run <code>make</code>, then <a href="../b%20c.html#top">read
on</a>.<p>Second<br>line<ul><li>one<ul><li>inner</ul><li><p>two</p></ul>
<pre>  x = 1

  # y
</pre><h2>Limits</h2><table><caption>Sizes</caption><tr><th>A<th>B<tr><td>1<td>2|3<tr>
<td colspan=2>w</table><h3> </h3><h2>Odd &amp; &#0;ends</h2><script>alert(1)</script><p>Last.
<footer>foot</footer></body></html>"""


def test_html_is_readable_text() -> None:
    document = html(PAGE)
    assert document.text == (
        "Install\n\nRun make, then read on.\n\nSecond\nline\n\n- one\n  - inner\n\n- two\n\n"
        "  x = 1\n\n  # y\n\nLimits\n\nSizes\n\n| A | B |\n|---|---|\n| 1 | 2\\|3 |\n| w | w |\n\n"
        "Odd & \ufffdends\n\nLast.\n"
    )
    assert document.title == "Install"
    assert paths(document) == [
        ("Install",),
        ("Install", "Limits"),
        ("Install", "Odd & \ufffdends"),
    ]
    assert document.links == (Link("b c.html", "top", "read on"),)
    assert blocks(document)[0] == "- one\n  - inner\n\n- two"
    assert blocks(document)[1] == "  x = 1\n\n  # y"
    assert blocks(document)[2].startswith("| A | B |\n|---|---|\n")


def test_html_reads_main_alone() -> None:
    assert html("<body><div>menu</div><main><p>Text</main><div>more</div>").text == "Text\n"
    assert html("<body><p>Text<main></main>").text == "Text\n"


def test_html_layout_tables_are_running_text() -> None:
    document = html("<table><tr><td>menu<td><h1>T</h1><p>Text<tr><td>a<td>b</table>")
    assert document.text == "menu\nT\n\nText\na\nb\n"
    assert paths(document) == [(), ("T",)]


def test_html_says_what_a_tag_left_open_hid() -> None:
    document = html("<p>a<nav>b<p>c")
    assert document.text == "a\n"
    assert document.notes == ("<nav> is never closed: what follows it was not read",)


def test_html_encoding_is_declared_in_the_file() -> None:
    from ragpg.ingest.load import load

    page = '<html><meta charset="iso-8859-2"><p>Zażółć gęślą jaźń</p>'
    document = load(page.encode("iso-8859-2"), source="a.html")
    assert document.text == "Zażółć gęślą jaźń\n"


RST = """=====
Title
=====

See `that page <b.rst#x>`_, :doc:`/top` and https://example.com/y.

Part
----

Code::

    a = 1
    ----

====  ====
A     B
====  ====
1     2
====  ====

Sub :class:`Foo`
~~~~~~~~~~~~~~~~

.. function:: foo(x)

   Body.

Other
-----
"""


def test_rst_sections_links_and_blocks() -> None:
    document = rst(RST)
    assert document.text == RST
    assert document.title == "Title"
    assert paths(document) == [
        ("Title",),
        ("Title", "Part"),
        ("Title", "Part", "Sub Foo"),
        ("Title", "Other"),
    ]
    assert [(link.target, link.anchor) for link in document.links] == [
        ("guide/b.rst", "x"),
        ("https://example.com/y", ""),
        ("top.rst", ""),
    ]
    assert [block.split("\n", 1)[0] for block in blocks(document)] == [
        "Code::",
        "====  ====",
        ".. function:: foo(x)",
    ]


def test_rst_never_reads_other_files() -> None:
    text = ".. include:: /etc/hostname\n\n.. raw:: html\n   :file: /etc/hostname\n"
    assert rst(text).text == text


_REPEATED = ["<div>", "<a <b <c ", "<!--", '<a b="c', "<table><tr><td>a", "<p><h1>", "<ul><li>"]
_REPEATED += ["[", "[a]: <", "> ", "`", "*", "- ", "|a", "a\n-\n", "== ==\nx\n", "a::\n\n  ", "&#"]


@pytest.mark.parametrize("format", ["markdown", "html", "rst"])
@pytest.mark.parametrize("piece", _REPEATED)
def test_hostile_repeats_end_soon(piece: str, format: str) -> None:
    # Quadratic work takes minutes here; CPU time does not count what other processes do.
    started = time.process_time()
    load_text(piece * (40_000 // len(piece)), source="a", format=format)
    load_text(piece * (40_000 // len(piece)) + ">", source="a", format=format)
    assert time.process_time() - started < 20


_TAGS = ["<p>", "</p>", "<b>", "</b>", "<ul>", "<li>", "</ul>", "<table>", "<tr>", "<td>", "<th>"]
_TAGS += ["</table>", "<pre>", "</pre>", "<h1>", "</h1>", "<h2>", "<a href=b>", "</a>", "<nav>"]
_TAGS += ["</nav>", "<br>", "<main>", "</main>", "x", " y ", "\n", "&#769;", "e", "<title>", "<!--"]


@given(st.lists(st.sampled_from(_TAGS), max_size=60))
@settings(deadline=None, max_examples=300)
def test_any_html_keeps_its_offsets_inside_the_text(tags: list[str]) -> None:
    document = html("".join(tags))
    if document.sections:
        paths(document)
    assert load_text(document.text, source="a").text == document.text
    for start, end in document.blocks:
        assert 0 <= start < end <= len(document.text)
        assert not document.text[start:end].startswith("\n")
