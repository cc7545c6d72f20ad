"""Formats behind extras and formats made of records: what text, pages and sections come out."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import sys
import zlib
from typing import TYPE_CHECKING

import pytest

from ragpg.errors import ConfigError, LoadError
from ragpg.ingest.chunkers import AutoChunker
from ragpg.ingest.load import detect_format, load
from ragpg.ingest.loaders import LOADERS, archive, registered
from ragpg.ingest.loaders.json_records import FieldMap, JsonLoader

from . import samples

if TYPE_CHECKING:
    from ragpg.types import Chunk, Document


def chunks(document: Document, size: int = 1000) -> list[Chunk]:
    found = list(AutoChunker(size, 0)(document))
    assert all(one.content == document.text[one.start_char : one.end_char] for one in found)
    return found


def test_a_pdf_keeps_pages_bookmarks_and_title() -> None:
    head, foot = "The Pilot Book", "page "
    pages = [[head, f"Chapter {n}", f"Text of chapter {n}.", f"{foot}{n}"] for n in range(1, 6)]
    data = samples.pdf(*pages, title="The Pilot", bookmarks={"Chapter 2": 1, "Chapter 4": 3})
    document = load(data, source="any.name")
    assert (document.format, document.title, document.metadata["pages"]) == ("pdf", "The Pilot", 5)
    assert [section.path for section in document.sections] == [(), ("Chapter 2",), ("Chapter 4",)]
    assert head not in document.text
    assert foot not in document.text
    assert document.notes == ("2 running heads and feet left out",)
    assert [(one.page, one.end_page) for one in chunks(document)] == [(1, None), (2, 3), (4, 5)]
    for number, start in enumerate(document.pages, 1):
        assert document.text[start:].startswith(f"Chapter {number}\n")


def test_a_pdf_that_cannot_be_read_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    blank = load(samples.pdf([], []), source="scan.pdf")
    assert not chunks(blank)
    assert "no text found in 2 pages" in blank.notes[0]
    with pytest.raises(LoadError, match=r"cut\.pdf: the PDF cannot be read"):
        load(samples.pdf(["text"])[:60], source="cut.pdf")
    # Something else may come before the magic bytes.
    assert detect_format(b"\x00\xff" * 20 + samples.pdf(["a"]), "a.bin", known=LOADERS) == "pdf"
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(LoadError, match=r"a\.pdf: reading PDF needs .*pip install 'ragpg\[pdf\]'"):
        load(samples.pdf(["text"]), source="a.pdf")


def test_a_word_document_keeps_headings_lists_and_tables() -> None:
    document = load(samples.docx(), source="rules")
    assert (document.format, document.title) == ("docx", "Harbour rules")
    assert document.metadata["author"] == "Port office"
    assert [section.path for section in document.sections] == [("Mooring",), ("Mooring", "Fees")]
    blocks = [document.text[slice(*block)] for block in document.blocks]
    assert blocks == [
        "- Ropes of 20 m\n- Fenders",
        "| Boat | Fee | Fee |\n|---|---|---|\n| Dinghy | 5\\|day | 30 |",
    ]
    assert [one.breadcrumb for one in chunks(document)] == [
        "Harbour rules > Mooring",
        "Harbour rules > Mooring > Fees",
    ]


def test_a_slide_is_a_page() -> None:
    document = load(samples.pptx(), source="show.pptx")
    assert (document.format, document.title) == ("pptx", "Tide tables")
    first, second = chunks(document)
    assert first.content == "Tide tables\n\nHigh water\nLow water\n\nNotes: Say it twice."
    assert second.content == "Depths\n\n| Basin | Metres |\n|---|---|\n| North | 7.5 |"
    assert [(one.page, one.end_page) for one in (first, second)] == [(1, None), (2, None)]


def test_a_book_is_read_along_its_spine() -> None:
    names = {"b.xhtml": "<h1>One</h1><p>Aboard.</p>", "a.xhtml": "<h1>Two</h1><p>Ashore.</p>"}
    document = load(samples.epub(names), source="pilot")
    assert (document.format, document.title) == ("epub", "The pilot")
    assert document.metadata == {"authors": ["A. Writer"], "lang": "en"}
    found = [(one.breadcrumb, one.page, one.content) for one in chunks(document)]
    assert found == [
        ("The pilot > One", 1, "One\n\nAboard."),
        ("The pilot > Two", 2, "Two\n\nAshore."),
    ]


def test_a_book_reads_nothing_outside_of_itself() -> None:
    book = samples.epub(
        {"a.xhtml": "<p>Inside.</p>", "b.xhtml": ""}, hrefs={"b.xhtml": "../../../etc/passwd"}
    )
    document = load(book, source="book.epub")
    assert document.text == "Inside.\n"
    assert "1 chapters are missing" in document.notes[-1]
    bomb = samples.archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<!DOCTYPE a [<!ENTITY b "c">]><container>&b;</container>',
        }
    )
    with pytest.raises(LoadError, match="declares entities"):
        load(bomb, source="book.epub")


def test_a_letter_gives_its_head_as_metadata() -> None:
    document = load(samples.MAIL, source="letter.txt")
    assert (document.format, document.title) == ("eml", "Berth für two")
    assert document.metadata == {
        "from": "Ada <ada@example.com>",
        "to": "port@example.com",
        "date": "2024-02-05T10:00:00+01:00",
        "attachments": ["plan.pdf"],
    }
    assert document.text.endswith("We need a berth für two boats.\n")
    html = samples.MAIL.replace(b"text/plain", b"text/html").replace(
        b"We need", b"<p>We <b>need</b>"
    )
    assert load(html, source="a.eml").text.endswith("We need a berth für two boats.\n")


def test_letters_in_one_file_keep_their_own_metadata() -> None:
    document = load(samples.MBOX, source="archive")
    assert (document.format, document.metadata) == ("mbox", {"messages": 2})
    first, second = chunks(document)
    assert (first.breadcrumb, first.metadata["from"]) == ("archive > First", "ada@example.com")
    assert (second.breadcrumb, second.metadata["from"]) == ("archive > Second", "bob@example.com")
    assert "\nFrom here on it is quoted." in first.content
    assert "letter" not in second.content.replace("The second letter.", "")


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"From: the beginning\nTo: the end\n\nA poem.", "poem.txt"),
        (b"title: x\nlayout: y\n\ntext", "page.txt"),
        (b"From then on 2024 it rained.\nSubject: rain\n", "diary.txt"),
        (samples.MAIL, "letter.py"),
    ],
)
def test_text_that_begins_like_mail_is_text(data: bytes, name: str) -> None:
    assert detect_format(data, name) in ("text", "code")


def test_csv_is_cut_between_records_with_its_header() -> None:
    rows = "".join(f'{n},"Berth {n}\nsecond line, {n}",{n * 2}\n' for n in range(60))
    document = load(f"id,name,price\n{rows}".encode(), source="berths.csv")
    assert (document.format, document.metadata) == ("csv", {"columns": ["id", "name", "price"]})
    found = chunks(document, 300)
    assert len(found) > 5
    assert [one.prefix for one in found] == ["", *["id,name,price\n"] * (len(found) - 1)]
    for one in found:
        assert one.content.count('"') % 2 == 0
        assert len(one.prefix + one.content) <= 300
    assert "\n".join(one.content for one in found) + "\n" == document.text
    # A stray mark joins nothing.
    document = load(b'a,b\n1,5" pipe\n' + b"2,x\n" * 200, source="a.csv")
    assert len(chunks(document, 100)) > 5


def test_records_are_read_by_a_map_of_fields() -> None:
    records = [
        {"id": 7, "head": "Quay", "body": "Wet\u0000 planks.", "by": {"name": "Ada"}},
        {"id": 8, "head": "", "body": "Dry planks."},
        {"id": 9},
    ]
    fields = FieldMap.parse(
        {"text": "body", "title": "head", "metadata": {"number": "id", "author": "by.name"}}
    )
    as_lines = "\n".join(map(json.dumps, records)).encode()
    inside = json.dumps({"data": {"rows": records}}).encode()
    nested = FieldMap.parse(
        {"text": ["body"], "title": "head", "metadata": ["id"], "records": "data.rows"}
    )
    for data, map_, name in ((as_lines, fields, "a.jsonl"), (inside, nested, "a.json")):
        document = load(data, source=name, loaders={"json": JsonLoader(map_)})
        first, second = chunks(document)
        assert (first.content, first.breadcrumb) == ("Quay\n\nWet planks.", f"{name} > Quay")
        assert (second.content, second.breadcrumb) == ("Dry planks.", f"{name} > record 2")
        assert "1 records without text left out" in document.notes
    assert first.metadata == {"id": 7, "record": 1}
    document = load(as_lines, source="a.jsonl", loaders={"json": JsonLoader(fields)})
    assert chunks(document)[0].metadata == {"number": 7, "author": "Ada", "record": 1}
    # Without a map the file's text stays, so that lines are lines of the file.
    assert load(as_lines, source="a.jsonl").text == as_lines.decode()
    with pytest.raises(LoadError, match=r"b\.json: none of 1 records has text in body"):
        load(b'{"a": 1}', source="b.json", loaders={"json": JsonLoader(fields)})
    with pytest.raises(LoadError, match="line 2 is no JSON"):
        load(b'{"a": 1}\n{"b"', source="b.jsonl", loaders={"json": JsonLoader(fields)})
    for wrong in ({"texts": "a"}, {"title": "a"}):
        with pytest.raises(ConfigError):
            FieldMap.parse(wrong)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_packed_file_is_read_as_what_is_inside(pack: type[bytes]) -> None:
    data = pack(b"# Head\n\n" + b"Some text. " * 2000)
    suffix = {gzip: ".gz", bz2: ".bz2", lzma: ".xz"}[sys.modules[pack.__module__]]
    document = load(data, source=f"a.md{suffix}")
    assert (document.source, document.format, document.title) == (
        f"a.md{suffix}",
        "markdown",
        "Head",
    )
    assert len(document.text) == 22_008
    with pytest.raises(LoadError, match=r"is cut off|is broken"):
        load(data[: len(data) // 2], source="a.md.gz")
    with pytest.raises(LoadError, match=rf"^a\.txt\{suffix}: binary \(PNG image\)"):
        load(pack(b"\x89PNG\r\n\x1a\n" + bytes(20)), source=f"a.txt{suffix}")
    twice = load(data + data, source="a.md.gz")
    assert len(twice.text) == 2 * 22_008


def test_what_unpacks_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LoadError, match=r"a\.gz: .*a bomb"):
        load(gzip.compress(bytes(30_000_000)), source="a.gz")
    bomb: dict[str, str | bytes] = {"word/document.xml": bytes(60_000_000)}
    with pytest.raises(LoadError, match=r"a\.docx: .*a decompression bomb"):
        load(samples.archive(bomb), source="a.docx")
    # A size that is declared too small ends there.
    lying = bytearray(
        samples.archive({"mimetype": "application/epub+zip", "META-INF/container.xml": b" " * 900})
    )
    place = lying.rindex((900).to_bytes(4, "little"))
    lying[place : place + 4] = (5).to_bytes(4, "little")
    with pytest.raises(LoadError, match="broken"):
        load(bytes(lying), source="a.epub")
    monkeypatch.setattr(archive, "MAX_MARKUP", 1000)
    with pytest.raises(LoadError, match="bytes of XML in it are over the limit"):
        load(samples.docx(), source="a.docx")


def test_broken_containers_name_the_file() -> None:
    whole = samples.docx()
    for data in (whole[:-200], whole[:100] + bytes(50) + whole[150:]):
        with pytest.raises(LoadError, match=r"^a\.docx: "):
            load(data, source="a.docx")
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500)
    with pytest.raises(LoadError, match="old Office documents are not supported"):
        load(ole, source="a.doc")
    with pytest.raises(LoadError, match="Office document with a password"):
        load(ole + "EncryptedPackage".encode("utf-16-le"), source="a.docx")


def test_registered_loaders_are_known_by_their_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    assert registered() == []
    monkeypatch.setitem(LOADERS, "json", JsonLoader(FieldMap(("body",))))
    [(format, identity)] = registered()
    assert format == "json"
    assert "body" in identity


def test_zlib_streams_are_no_gzip() -> None:
    with pytest.raises(LoadError, match="binary"):
        load(zlib.compress(bytes(range(256)) * 40), source="a.txt")
