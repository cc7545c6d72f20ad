"""Bytes and texts become documents; binary content is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragpg.errors import LoadError
from ragpg.ingest.chunk import HeadingChunker
from ragpg.ingest.clean import is_blank
from ragpg.ingest.load import detect_format, load, load_text
from ragpg.ingest.loaders import LOADERS
from ragpg.ingest.loaders.links import resolve_link
from ragpg.types import Document, Link

FILES = Path(__file__).parents[2] / "cases" / "files" / "load"


def read(name: str) -> Document:
    return load((FILES / name).read_bytes(), source=name)


@pytest.mark.case("LO-01")
def test_nuls_in_a_file_are_dropped_and_noted_lo_01() -> None:
    document = read("nul_inside.txt")
    assert document.text == "line one\nline two end\n"
    assert document.notes == ("3 NUL characters removed",)


@pytest.mark.case("LO-02")
def test_title_source_and_metadata_are_cleaned_lo_02() -> None:
    document = load_text(
        "x", source="re\x00port.txt", title="Report\x00", metadata={"nested": {"k\x00": ["a\x00"]}}
    )
    assert (document.source, document.title) == ("report.txt", "Report")
    assert document.metadata == {"nested": {"k": ["a"]}}


@pytest.mark.case("LO-03")
def test_lone_surrogates_are_no_encoding_error_lo_03() -> None:
    document = load_text("a \ud83d b \ud83c\udf78", source="\udcb2.txt", format="markdown")
    assert document.text == "a \ufffd b \U0001f378"
    assert document.source == "\ufffd.txt"
    assert document.notes == ("1 lone surrogate replaced by U+FFFD",)


@pytest.mark.case("LO-04")
def test_utf8_is_tried_over_all_bytes_lo_04() -> None:
    document = read("ascii_then_utf8.txt")
    assert "café" in document.text
    assert not document.notes


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-16", "Grüße aus Köln"),
        ("utf-16-le", "plain words without a mark"),
        ("utf-32", "Grüße"),
        ("cp1252", "Grüße “quoted” – café"),
        ("shift_jis", "日本語の文章です。検索の試験をします。" * 20),
        ("cp1251", "Это предложение написано по-русски для проверки. " * 10),
    ],
)
def test_other_encodings_are_read(encoding: str, text: str) -> None:
    assert load(text.encode(encoding), source="a.txt").text == text


def test_a_broken_byte_does_not_garble_the_rest() -> None:
    data = "naïve café, Grüße, señor, garçon, façade, Übung ".encode() * 5 + b"\xff"
    document = load(data, source="a.txt")
    assert document.text.count("naïve café") == 5
    assert "undecodable" in document.notes[0]


def test_lines_of_another_encoding_do_not_garble_the_rest() -> None:
    """As in a changelog that several people have added to."""
    lines = ["- Überschrift für Großes „ergänzt“"] * 4
    data = "\n".join(lines).encode() + "\n- für Größe".encode("latin-1")
    document = load(data, source="changelog")
    assert document.text.split("\n")[:4] == lines
    assert document.text.endswith("f\ufffdr Gr\ufffd\ufffde")
    assert document.notes == ("3 undecodable bytes replaced by U+FFFD",)


@pytest.mark.case("LO-07")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("picture.md", "binary (PNG image)"),
        ("archive.txt", "binary (broken ZIP archive)"),
        (
            "fake.txt",
            "the PDF cannot be read: Failed to load document (PDFium: Data format error).",
        ),
    ],
)
def test_binary_content_is_refused_by_what_it_is_lo_07(name: str, reason: str) -> None:
    with pytest.raises(LoadError) as caught:
        read(name)
    assert caught.value.message == f"{name}: {reason}"


def test_noise_without_a_known_start_is_binary() -> None:
    with pytest.raises(LoadError, match="unknown format"):
        load(bytes(range(256)) * 4, source="a.txt")


@pytest.mark.case("LO-08")
@pytest.mark.parametrize(
    "name", ["empty.md", "only_spaces.txt", "only_front_matter.md", "only_bom.txt"]
)
def test_a_file_without_text_gives_no_chunks_lo_08(name: str) -> None:
    document = read(name)
    assert is_blank(document.text)
    assert not list(HeadingChunker()(document))


@pytest.mark.case("FI-08")
def test_front_matter_that_json_cannot_hold_is_named_fi_08() -> None:
    with pytest.raises(LoadError, match=r"a\.md: metadata key 'score' cannot be stored: nan"):
        load(b"---\nscore: .nan\n---\nText", source="a.md")
    document = load(b"---\nwhen: 2024-02-30\nday: 2024-02-29\n---\nText", source="a.md")
    assert document.metadata == {"when": "2024-02-30", "day": "2024-02-29"}


@pytest.mark.parametrize(
    ("source", "start", "expected"),
    [
        ("a.md", b"# T", "markdown"),
        ("a.rst", b"T\n=", "rst"),
        ("a.htm", b"<p>", "html"),
        ("page.txt", b"\xef\xbb\xbf <!DOCTYPE html><p>", "html"),
        ("a.py", b"x = 1", "code"),
        ("Dockerfile", b"FROM x", "code"),
        ("template.php", b"<html>", "code"),
        ("README", b"words", "text"),
        ("a.unknown", b"words", "text"),
    ],
)
def test_the_format_comes_from_content_then_name(source: str, start: bytes, expected: str) -> None:
    assert detect_format(start, source) == expected


def test_a_loader_of_the_users_reads_its_format() -> None:
    def pdf(data: bytes, *, source: str) -> Document:
        return Document(source, "text of a PDF", format="pdf", metadata={"pages": 1})

    document = load(b"%PDF-1.7", source="a.pdf", loaders={"pdf": pdf}, metadata={"by": "us"})
    assert document.text == "text of a PDF"
    assert document.metadata == {"pages": 1, "by": "us"}
    assert LOADERS["pdf"] is not pdf


def test_a_failing_loader_names_the_source() -> None:
    def broken(data: bytes, *, source: str) -> Document:
        raise IndexError("oops")

    with pytest.raises(LoadError, match=r"a\.x: cannot be read as x: IndexError: oops"):
        load(b"words", source="a.x", format="x", loaders={"x": broken})
    with pytest.raises(LoadError, match="no loader for format 'y'"):
        load(b"words", source="a.x", format="y")


def test_source_code_is_verbatim_with_its_language() -> None:
    code = "def f():\n\n\treturn 1  \n"
    document = load(code.encode(), source="src/a.py")
    assert (document.text, document.format) == (code, "code")
    assert document.metadata == {"language": "python"}


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("install.md", Link("guide/install.md")),
        ("../api/a%20b.md#Part%201", Link("api/a b.md", "Part 1")),
        ("/top.md?x=1", Link("top.md")),
        ("#here", Link("guide/index.md", "here")),
        ("https://example.com/a?b=1#c", Link("https://example.com/a?b=1", "c")),
        ("//example.com/a", Link("https://example.com/a")),
        ("../../outside.md", None),
        ("mailto:someone@example.com", None),
        ("javascript:void(0)", None),
        ("", None),
        ("..", None),
    ],
)
def test_links_are_resolved_against_their_source(href: str, expected: Link | None) -> None:
    assert resolve_link(href, "guide/index.md") == expected


@given(st.binary(max_size=300), st.sampled_from(["a.txt", "a.md", "a.html", "a.rst", "a.py"]))
@settings(deadline=None)
def test_any_bytes_are_a_document_or_a_load_error(data: bytes, source: str) -> None:
    try:
        document = load(data, source=source)
    except LoadError:
        return
    assert load_text(document.text, source=source, format="text").text == document.text
    for chunk in HeadingChunker(20, 5)(document):
        assert document.text[chunk.start_char : chunk.end_char] == chunk.content
