"""Every chunker: exact offsets, sizes kept, nothing lost; and what each is for."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ragpg.errors import ConfigError
from ragpg.ingest.chunk import HeadingChunker, WholeChunker
from ragpg.ingest.chunkers import (
    AutoChunker,
    CodeChunker,
    FixedChunker,
    RecursiveChunker,
    RowChunker,
    SemanticChunker,
    SeparatorChunker,
    TokenChunker,
    syntax,
)
from ragpg.ingest.chunkers.named import chunker_named
from ragpg.ingest.embed import embedding_text
from ragpg.ingest.load import load, load_text
from ragpg.ingest.tokens import TokenLimit, estimate_tokens
from ragpg.testing import HashEmbedder

from . import samples

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragpg.protocols import Chunker
    from ragpg.types import Document

CHUNKERS: list[Chunker] = [
    AutoChunker(90, 20, 80),
    HeadingChunker(90, 20),
    RecursiveChunker(90, 20),
    FixedChunker(90, 20),
    SeparatorChunker("\n\n", size=200),
    RowChunker(90),
    CodeChunker(90),
    TokenChunker(20, 5),
    SemanticChunker(HashEmbedder(16), 300, least=50),
    WholeChunker(),
]
MARKDOWN = (
    "---\ntitle: Pilot\n---\n# Harbour\n\nThe *quay* is wet. Boats moor at 3.5 knots.\n\n## Fees\n\n"
    "| boat | fee |\n|---|---|\n" + "".join(f"| b{n} | {n} |\n" for n in range(40))
    + "\n## Tides\n\n```\n# no heading\nhigh = low\n```\n\n" + "Water rises. " * 40 + "\n"
)  # fmt: skip
PYTHON = (
    "import os\n\n# What it adds.\n@cache\ndef add(a, b):\n    '''Sum.'''\n    return a + b\n\n\n"
    "class Boat:\n    '''Floats.'''\n\n"
    + "".join(f"    def m{n}(self):\n        return {n} * 'größe'\n\n" for n in range(20))
)  # fmt: skip
FILES: dict[str, bytes] = {
    "a.md": MARKDOWN.encode(),
    "crlf.md": b"\xef\xbb\xbf" + MARKDOWN.replace("\n", "\r\n").encode(),
    "a.txt": (
        "One line.\n" * 30 + "\n\n" + "猫が好きです。" * 60 + "\n👩‍💻 e\u0301 🇫🇷" * 30
    ).encode(),
    "latin.txt": ("Die Größe der Häfen. " * 40).encode("latin-1"),
    "wide.txt": ("Zeile für Zeile\n" * 40).encode("utf-16"),
    "a.rst": b"Title\n=====\n\nText of it. " * 30,
    "a.py": PYTHON.encode(),
    "a.c": b"/* adds */\nint add(int a, int b)\n{\n  return a + b;\n}\n\n" * 12,
    "a.nim": b"proc a() =\n  echo 1\n\n" * 20,
    "a.csv": b"id,name\n" + b"".join(b'%d,"boat\n%d"\n' % (n, n) for n in range(40)),
    "a.jsonl": b'{"a": "some text", "b": [1, 2]}\n' * 20,
    "a.json": b'{"a": [\n' + b'  {"b": "text"},\n' * 30 + b"{}]}",
    "a.html": b"<h1>Head</h1>" + b"<p>Some text of a page.</p>" * 20,
    "a.pdf": samples.pdf(*[[f"Line {n} of page {page}" for n in range(20)] for page in range(6)]),
    "a.docx": samples.docx(),
    "a.pptx": samples.pptx(),
    "a.xlsx": samples.xlsx(),
    "a.tsv": b"id\tname\n" + b"".join(b"%d\tboat %d\n" % (n, n) for n in range(40)),
    "a.txt.gz": gzip.compress(b"One line.\n" * 60),
    "a.epub": samples.epub({"a.xhtml": "<h1>One</h1>" + "<p>Aboard the boat.</p>" * 20}),
    "a.eml": samples.MAIL,
    "a.mbox": samples.MBOX * 4,
}
#: Formats whose text is the file's: a line of a chunk is a line of the file.
VERBATIM = ("md", "txt", "rst", "py", "c", "nim", "csv", "jsonl", "json")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("chunker", CHUNKERS, ids=lambda one: type(one).__name__)
def test_chunks_map_back_to_the_source(chunker: Chunker, name: str) -> None:
    document = load(FILES[name], source=name)
    text = document.text
    found = list(chunker(document))
    assert [one.ordinal for one in found] == list(range(len(found)))
    assert found
    encoding = {"latin.txt": "latin-1", "wide.txt": "utf-16"}.get(name, "utf-8-sig")
    lines = FILES[name].decode(encoding, "replace").replace("\r\n", "\n").split("\n")
    covered = bytearray(len(text))
    before = -1
    for one in found:
        assert one.content == text[one.start_char : one.end_char]
        assert one.start_char > before
        before = one.start_char
        covered[one.start_char : one.end_char] = b"x" * len(one.content)
        start, end = text.count("\n", 0, one.start_char), text.count("\n", 0, one.end_char - 1)
        assert one.start_line == start + 1 + document.line_offset
        assert one.end_line == end + 1 + document.line_offset
        if name.rpartition(".")[2] in VERBATIM:
            raw = "\n".join(lines[one.start_line - 1 : one.end_line])
            assert one.content.rstrip() in load_text(raw, source="raw").text
        if document.pages:
            place = [
                sum(at <= spot for at in document.pages)
                for spot in (one.start_char, one.end_char - 1)
            ]
            assert [one.page, one.end_page or one.page] == place
    missing = [char for char, seen in zip(text, covered, strict=True) if not seen]
    assert not "".join(missing).strip()
    assert found == list(chunker(document))


@pytest.mark.parametrize(
    "make",
    [
        lambda size, overlap: RecursiveChunker(size, overlap),
        lambda size, overlap: FixedChunker(size, overlap),
        lambda size, overlap: TokenChunker(size, overlap),
        lambda size, overlap: AutoChunker(size, overlap),
    ],
)
@pytest.mark.case("CH-04")
def test_no_chunker_takes_sizes_that_cannot_work_ch_04(make: Callable[[int, int], Chunker]) -> None:
    for size, overlap in ((50, 50), (50, 80), (0, 0), (-1, 0), (50, -5)):
        with pytest.raises(ConfigError, match=f"size={size} and overlap={overlap}"):
            make(size, overlap)
        with pytest.raises(ConfigError, match=f"size={size} and overlap={overlap}"):
            chunker_named(f"fixed:{size}/{overlap}")
    assert list(make(1, 0)(load_text("alpha beta gamma delta. " * 40, source="a")))


@pytest.mark.case("CH-05")
@pytest.mark.parametrize("text", ["A" * 200_000, "p/" * 30_000, "[0," * 30_000])
@pytest.mark.parametrize("chunker", CHUNKERS[2:8], ids=lambda one: type(one).__name__)
def test_every_chunker_ends_on_a_run_without_blanks_ch_05(chunker: Chunker, text: str) -> None:
    found = list(chunker(load_text(text, source="a", format="code")))
    assert max(len(one.content) for one in found) <= 200
    assert len(found) <= len(text) / 10
    end = 0
    for one in found:
        assert one.start_char <= end
        end = one.end_char
    assert end == len(text)


@pytest.mark.case("CH-06")
@pytest.mark.parametrize("size", [(3, 1), (20, 5), (10, 3)])
def test_token_chunks_point_at_their_text_ch_06(size: tuple[int, int]) -> None:
    texts = [
        "red " * 8,
        "Terms apply. See section 2.\n" * 40,
        "one  two\t three\r\n\r\nfour\u00a0five 🚀 six",
    ]
    chunker = TokenChunker(*size, limit=100)
    for text in texts:
        document = load_text(text, source="a")
        found = list(chunker(document))
        assert [one.content for one in found] == [
            document.text[one.start_char : one.end_char] for one in found
        ]
        assert [one.start_char for one in found] == sorted({one.start_char for one in found})
        assert max(chunker.count(one.content) for one in found) <= size[0]


@pytest.mark.case("CH-08")
def test_token_chunks_keep_visible_characters_whole_ch_08() -> None:
    texts = ["猫が好きです。" * 50, "👩\u200d💻 works 🇫🇷 e\u0301 " * 40, "שלום مرحبا " * 40]
    for text in texts:
        document = load_text(text, source="a")
        found = list(TokenChunker(7, 0, limit=100)(document))
        joined = "".join(one.content for one in found)
        assert joined.replace(" ", "") == document.text.replace(" ", "")
        assert not any(one.content.startswith(("\u200d", "\u0301", "💻")) for one in found)
        assert not any(one.content.count("🇫") != one.content.count("🇷") for one in found)


@pytest.mark.case("CH-12")
@pytest.mark.parametrize(
    "text", ["测试文本" * 3000, "a1b2-c3d4;" * 3000, "1 2 3 4 5 6 7 8 9 " * 1500, "Gefäß " * 3000]
)
def test_no_text_for_embedding_is_over_the_limit_ch_12(text: str) -> None:
    exact = TokenChunker(480, 50, limit=512)
    for format in ("text", "code", "csv"):
        document = load_text(text, source="dense", format=format)
        counted = [exact.count(embedding_text(one)) + 2 for one in exact(document)]
        assert 256 < max(counted) <= 512
        # Without a tokenizer the estimate is on the safe side.
        for one in AutoChunker(2000, 200, tokens=512)(document):
            assert exact.count(embedding_text(one)) + 2 <= 512


def test_the_estimate_is_not_below_what_is_counted() -> None:
    counter, random_ = TokenChunker(), random.Random(7)
    words = "the of retrieval configuration unbelievably Gefäß 猫 12,5 x86_64 -- naïve #!/bin/sh"
    for _ in range(50):
        text = " ".join(random_.choices(words.split(), k=80))
        assert estimate_tokens(text) >= 0.95 * counter.count(text)
    prose = Path(__file__).parents[3].joinpath("docs", "cli.md").read_text(encoding="utf-8")
    assert estimate_tokens(prose) < 1.5 * counter.count(prose)
    # Prose of the default size is left alone.
    limit = TokenLimit(512)
    assert limit.room("A title", "", "Ordinary words follow one another here. " * 25) is None


def test_code_is_cut_between_definitions() -> None:
    document = load(PYTHON.encode(), source="boat.py")
    found = list(CodeChunker(300)(document))
    assert found[0].content.startswith("import os")
    assert [one.breadcrumb for one in found[1:]] == ["boat.py > Boat"] * (len(found) - 1)
    for one in found[1:]:
        assert one.content.lstrip().startswith(("class Boat", "def m"))
        assert one.content.rstrip().endswith("'größe'")
    small = list(CodeChunker(80)(document))
    # A comment and a decorator stay with their function, which is named.
    [add] = [one for one in small if "def add" in one.content]
    assert add.content.startswith("# What it adds.\n@cache\ndef add")
    assert [one.breadcrumb for one in small if "return 7 " in one.content] == [
        "boat.py > Boat > m7"
    ]


def test_python_is_cut_alike_without_a_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    document = load(PYTHON.encode(), source="boat.py")
    parsed = list(CodeChunker(200)(document))
    monkeypatch.setattr(syntax, "_parser", lambda language: None)
    assert [one.content for one in CodeChunker(200)(document)] == [one.content for one in parsed]
    broken = load(b"def f(:\n  x\n\ndef g():\n  y\n" * 9, source="broken.py")
    assert all(one.content.startswith("def ") for one in CodeChunker(60)(broken))


@pytest.mark.parametrize("language", sorted(syntax.languages()))
def test_every_grammar_parses(language: str) -> None:
    assert syntax._parser(language) is not None


def test_a_separator_parts_chunks_and_belongs_to_none() -> None:
    document = load_text("one\n---\ntwo\n---\n\n---\n" + "three " * 20, source="a")
    found = list(SeparatorChunker("\n---\n", size=50)(document))
    assert [one.content for one in found][:2] == ["one", "two"]
    assert all(one.content.startswith("three") for one in found[2:])
    assert [
        one.content for one in SeparatorChunker(r"\d+", regex=True)(load_text("a1b22c", source="x"))
    ] == ["a", "b", "c"]
    for separator, regex in (("", False), ("x*", True), ("(", True)):
        with pytest.raises(ConfigError):
            SeparatorChunker(separator, regex)


def test_meaning_parts_chunks() -> None:
    class Topics(HashEmbedder):
        def embed_documents(self, texts: object) -> list[list[float]]:
            assert isinstance(texts, list)
            return [[text.count("boat") + 0.01, text.count("tax") + 0.01] for text in texts]

    text = "The boat is here at last. " * 10 + "The tax is due at once. " * 10
    found = list(
        SemanticChunker(Topics(2), 1000, percentile=95, least=50)(load_text(text, source="a"))
    )
    assert len(found) == 2
    assert "boat" not in found[1].content[30:]
    assert "tax" not in found[0].content[:-30]


def test_settings_tell_chunkers_apart() -> None:
    names = [one.settings for one in CHUNKERS]
    assert len(set(names)) == len(names)
    assert AutoChunker().settings != AutoChunker(900).settings
    assert AutoChunker().settings == AutoChunker().settings


def test_the_type_of_a_file_chooses() -> None:
    def chosen(document: Document) -> type:
        return type(AutoChunker().chosen(document))

    kinds = {name: chosen(load(data, source=name)) for name, data in FILES.items()}
    assert kinds["a.py"] is CodeChunker
    assert kinds["a.csv"] is RowChunker
    assert kinds["a.md"] is kinds["a.pdf"] is kinds["a.txt"] is HeadingChunker
