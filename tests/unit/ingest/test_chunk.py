"""Chunks: exact offsets, whole blocks, limits kept on any input."""

from __future__ import annotations

import subprocess
import sys
import time
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragpg.errors import ConfigError
from ragpg.ingest.borders import is_grapheme_border, sentence_starts
from ragpg.ingest.build import breadcrumb
from ragpg.ingest.chunk import HeadingChunker, WholeChunker
from ragpg.ingest.clean import is_blank
from ragpg.ingest.load import load, load_text
from ragpg.types import Chunk, Document, Section

FILES = Path(__file__).parents[2] / "cases" / "files" / "chunk"


def read(name: str) -> Document:
    return load((FILES / name).read_bytes(), source=name)


def plain(text: str, *, format: str = "text") -> Document:
    return load_text(text, source="a.txt", format=format)


def cut(document: Document, size: int, overlap: int) -> list[Chunk]:
    """The chunks, after checks that hold for every document and every setting."""
    chunks = list(HeadingChunker(size, overlap)(document))
    text, covered, last_start = document.text, 0, -1
    for ordinal, chunk in enumerate(chunks):
        start, end = chunk.start_char, chunk.end_char
        assert chunk.ordinal == ordinal
        assert text[start:end] == chunk.content
        assert len(chunk.content) <= size
        assert not is_blank(chunk.content)
        assert start >= last_start
        assert is_blank(text[covered:start])
        assert chunk.start_line == text.count("\n", 0, start) + 1 + document.line_offset
        assert chunk.end_line == text.count("\n", 0, end) + 1 + document.line_offset
        covered, last_start = max(covered, end), start
    assert is_blank(text[covered:])
    return chunks


def headings(document: Document) -> list[str]:
    return [section.path[-1] for section in document.sections if section.path]


@pytest.mark.case("CH-01")
def test_a_comment_in_a_fence_is_no_heading_ch_01() -> None:
    document = read("heading_in_fence.md")
    assert headings(document) == ["Install guide", "Usage", "Options"]
    chunks = cut(document, 1000, 200)
    for fence in ("```bash", "~~~python"):
        [chunk] = [chunk for chunk in chunks if fence in chunk.content]
        assert chunk.content.count(fence[:3]) == 2
    assert chunks[-1].breadcrumb == "Install guide > Usage > Options"


@pytest.mark.case("CH-02")
def test_longer_and_nested_fences_hide_their_headings_ch_02() -> None:
    assert headings(read("fence_lengths.md")) == ["Real", "Next"]


@pytest.mark.case("CH-03")
def test_a_long_table_is_cut_between_rows_with_its_header_ch_03() -> None:
    document = read("long_table.md")
    chunks = cut(document, 800, 100)
    header = "| parameter | unit | default | meaning |\n|---|:--:|--:|---|\n"
    rows = [line for line in document.text.splitlines() if line.startswith("| opt_")]
    assert len(rows) == 80
    for row in rows:
        assert sum(row in chunk.content.splitlines() for chunk in chunks) == 1
    tables = [chunk for chunk in chunks if "| opt_" in chunk.content]
    assert len(tables) > 1
    for chunk in tables:
        assert (chunk.prefix + chunk.content).startswith(header)
        assert len(chunk.prefix + chunk.content) <= 800
        assert set(chunk.content.splitlines()) <= {*rows, *header.splitlines()}
    assert [chunk.prefix for chunk in tables] == ["", *[header] * (len(tables) - 1)]


@pytest.mark.case("CH-04")
@pytest.mark.parametrize(("size", "overlap"), [(50, 50), (50, 80), (0, 0), (-1, 0), (50, -5)])
def test_sizes_that_cannot_work_are_refused_ch_04(size: int, overlap: int) -> None:
    with pytest.raises(ConfigError) as caught:
        HeadingChunker(size, overlap)
    assert f"size={size}" in caught.value.message
    assert f"overlap={overlap}" in caught.value.message


@pytest.mark.case("CH-04")
def test_chunks_of_one_character_end_ch_04() -> None:
    started = time.process_time()
    list(HeadingChunker(1, 0)(plain("alpha beta gamma delta. " * 200)))
    assert time.process_time() - started < 5


@pytest.mark.case("CH-05")
@pytest.mark.parametrize(
    "text",
    [
        "A" * 1048576,
        "see https://example.com/" + "p/" * 3000 + " end",
        '{"a":' + "[0," * 30000 + "0",
    ],
    ids=["letters", "address", "brackets"],
)
@pytest.mark.parametrize("format", ["text", "markdown"])
def test_a_run_without_blanks_ends_soon_ch_05(text: str, format: str) -> None:
    document = plain(text, format=format)
    started = time.process_time()
    chunks = list(HeadingChunker(256, 32)(document))
    assert time.process_time() - started < 5
    assert max(len(chunk.content) for chunk in chunks) <= 256
    covered = 0
    for chunk in chunks:
        assert is_blank(text[covered : chunk.start_char])
        covered = chunk.end_char
    assert covered == len(text)


@pytest.mark.case("CH-05")
def test_a_run_without_blanks_takes_little_memory_ch_05() -> None:
    program = """
import resource, sys
from ragpg.ingest.chunk import HeadingChunker
from ragpg.ingest.load import load_text
texts = ["A" * 1048576, "see https://example.com/" + "p/" * 3000 + " end",
         '{"a":' + "[0," * 30000 + "0"]
for text in texts:
    for format in ("text", "markdown"):
        assert list(HeadingChunker(256, 32)(load_text(text, source="a", format=format)))
try:
    # What getrusage tells begins with the memory of the process that started this one.
    with open("/proc/self/status") as status:
        print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
except OSError:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(most // 1024 if sys.platform == "darwin" else most)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 500_000


@pytest.mark.case("CH-06")
@pytest.mark.parametrize(
    "text",
    [
        "red red red red red red red red",
        "Terms apply. See section 2.\n" * 40,
        "one  two\t three\r\n\r\nfour\u00a0five \U0001f680 six",
    ],
    ids=["words", "lines", "mixed"],
)
@pytest.mark.parametrize(("size", "overlap"), [(3, 1), (20, 5), (10, 3)])
def test_offsets_point_at_their_text_ch_06(text: str, size: int, overlap: int) -> None:
    assert cut(plain(text), size, overlap)


@pytest.mark.case("CH-07")
def test_control_strings_of_tokenizers_are_text_ch_07() -> None:
    text = (
        "A document ends with <|endoftext|>; others use <|im_start|>, <s>, </s>, [SEP] and <pad>."
    )
    for name in ("text", "markdown"):
        [chunk] = cut(plain(text, format=name), 1000, 200)
        assert chunk.content == text


@pytest.mark.case("CH-08")
@pytest.mark.parametrize(
    "text",
    [
        "\u732b\u304c\u597d\u304d\u3067\u3059\u3002" * 50,
        "\U0001f469\u200d\U0001f4bb works \U0001f1eb\U0001f1f7 e\u0301 " * 40,
        "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 " * 40,
    ],
    ids=["cjk", "emoji", "right-to-left"],
)
def test_visible_characters_stay_whole_ch_08(text: str) -> None:
    document = plain(text)
    for overlap in (0, 2):
        for chunk in cut(document, 7, overlap):
            assert "\ufffd" not in chunk.content
            assert is_grapheme_border(document.text, chunk.start_char, 0)
            assert is_grapheme_border(document.text, chunk.end_char, 0)


@pytest.mark.case("CH-09")
def test_abbreviations_and_numbers_end_no_sentence_ch_09() -> None:
    text = (
        "Dr. Ada set it to 3.14 (v1.2.3) at 10.0.0.1, e.g. for tests. Use config.toml. The U.S. "
        "site, i.e. us-east-1, costs $1.50 per hr. See Sec. 4.2 ... and wait. Is it done? Yes!"
    )
    starts = [0, *sentence_starts(text, 0, len(text)), len(text)]
    sentences = [text[start:end].strip() for start, end in pairwise(starts)]
    assert [sentence.split()[-1] for sentence in sentences] == [
        "tests.",
        "config.toml.",
        "hr.",
        "wait.",
        "done?",
        "Yes!",
    ]
    for chunk in cut(plain(text), 40, 0):
        assert not set(chunk.content.split()) & {"3.", "14", "(v1.", "10.", "$1.", "4."}


@pytest.mark.case("CH-10")
@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("# A\n\n## B\n\n\n\n## C\n\ntext\n", 2),
        ("Header line." + " " * 5000 + "Footer line.", 2),
        ("\n" * 2000, 0),
        ("\u200b\u200b \ufeff", 0),
    ],
    ids=["headings", "blanks", "newlines", "zero-width"],
)
def test_no_chunk_is_blank_ch_10(text: str, count: int) -> None:
    assert len(cut(plain(text, format="markdown"), 64, 8)) == count


@pytest.mark.case("CH-11")
def test_a_byte_order_mark_hides_nothing_ch_11() -> None:
    document = read("bom_heading.md")
    assert [section.path for section in document.sections] == [
        ("Harbour rules",),
        ("Harbour rules", "Mooring"),
    ]
    document = read("bom_front_matter.md")
    assert document.metadata == {"title": "Handbook", "tags": ["ops", "db"]}
    chunks = cut(document, 1000, 200)
    assert [(chunk.content, chunk.start_line) for chunk in chunks] == [("# Start\n\nText.", 6)]
    assert chunks[0].breadcrumb == "Handbook > Start"


_PARTS = ["a", "b ", " ", "\n", "\n\n", ". ", "Word", "    x\n", "\U0001f469\u200d\U0001f4bb"]
_PARTS += ["e\u0301", "\u0301", "\U0001f1eb\U0001f1f7", "\u732b\u3002", "# H\n", "- i\n", "```\n"]
_PARTS += ["| a | b |\n", "|---|---|\n", "\u200b", "> ", "\t"]


@given(
    st.lists(st.sampled_from(_PARTS), max_size=150),
    st.integers(1, 60),
    st.data(),
    st.sampled_from(["text", "markdown", "rst"]),
)
@settings(deadline=None, max_examples=200)
def test_any_text_and_setting_keeps_the_promises(
    parts: list[str],
    size: int,
    data: st.DataObject,
    format: str,
) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    document = plain("".join(parts), format=format)
    chunks = cut(document, size, overlap)
    for chunk in chunks:
        assert unicodedata.is_normalized("NFC", chunk.content)
    assert chunks == list(HeadingChunker(size, overlap)(document))


def test_neighbours_overlap_from_a_sentence_start() -> None:
    text = " ".join(f"Sentence number {number} is here." for number in range(60))
    chunks = cut(plain(text), 300, 80)
    for earlier, later in pairwise(chunks):
        shared = earlier.end_char - later.start_char
        assert 0 < shared <= 80
        assert later.content.startswith("Sentence")


def test_a_list_that_fits_is_not_cut() -> None:
    prose = "Some words stand here. " * 20
    items = "\n".join(f"- item {number}\n\n  more" for number in range(12))
    chunks = cut(plain(f"{prose}\n\n{items}\n\n{prose}", format="markdown"), 600, 100)
    assert sum(items in chunk.content for chunk in chunks) == 1
    assert all(items in chunk.content or "- item" not in chunk.content for chunk in chunks)


def test_code_keeps_its_indentation_at_a_chunk_start() -> None:
    text = "class A:\n" + "".join(f"\n    def f{n}(self):\n        return {n}\n" for n in range(30))
    chunks = cut(plain(text, format="code"), 200, 0)
    assert all(chunk.content.startswith("    def") for chunk in chunks[1:])


def test_breadcrumbs_repeat_nothing_and_fall_back_to_the_file_name() -> None:
    document = Document("guide/install.md", "x", title="Install")
    assert breadcrumb(document, ("install", "Linux", "Linux")) == "Install > Linux"
    assert breadcrumb(Document("guide/install.md", "x"), ("Linux",)) == "install.md > Linux"


def test_a_bare_heading_joins_the_section_below_it() -> None:
    chunks = cut(plain("# A\n\n## B\n\ntext\n\n# C\n", format="markdown"), 100, 0)
    assert [(chunk.content, chunk.breadcrumb) for chunk in chunks] == [
        ("# A\n\n## B\n\ntext", "A > B"),
        ("# C", "A > C"),
    ]


def test_pages_are_found_by_offset() -> None:
    document = Document("a", "one\n\ntwo", pages=(0, 5), sections=(Section(0, 5), Section(5, 8)))
    assert [chunk.page for chunk in cut(document, 10, 0)] == [1, 2]


def test_settings_name_the_chunker_and_its_parameters() -> None:
    assert HeadingChunker(500, 50).settings == "heading/1 size=500 overlap=50"
    assert WholeChunker().settings != HeadingChunker().settings


def test_the_whole_chunker_gives_one_chunk_up_to_its_limit() -> None:
    assert [len(chunk.content) for chunk in WholeChunker()(plain("a" * 200_000))] == [200_000]
    assert len(list(WholeChunker()(plain("a " * 200_000)))) == 2
    assert not list(WholeChunker()(plain(" \n")))
