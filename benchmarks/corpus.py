"""Builds the benchmark corpus: chunks of Debian documentation packages, as JSON lines.

Real manuals rather than random words: the length of posting lists, the shape of the vector space
and the links between pages decide what a search costs. Run on Debian 12:

    python benchmarks/corpus.py FOLDER [--chunks 200000] [--small 3400]

downloads about 350 MB of packages into FOLDER/deb (once) and writes FOLDER/corpus.jsonl.gz, one
line a chunk: source, ordinal, title, breadcrumb, content, metadata, and on the first chunk of a
page the links to other pages. What the largest package has left beyond its share fills
FOLDER/small.jsonl.gz, a second namespace of one topic. Selectivities are built in: metadata `half`, `g20`, `g200` and
`g2000` are the running number modulo 2, 20, 200 and 2000.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import html
import io
import json
import posixpath
import re
import subprocess
import tarfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PACKAGES = re.split(
    r"\s+",
    """
apache2-doc bash-doc bind9-doc cmake-doc debian-policy debian-reference-en erlang-doc
exim4-doc-html ghc-doc git-doc glibc-doc gnuplot-doc libboost1.81-doc libglib2.0-doc
libgtk-3-doc libssl-doc lilypond-doc-html linux-doc-6.1 llvm-14-doc manpages manpages-dev
maxima-doc mercurial-common nodejs-doc octave-doc openjdk-17-doc perl-doc postgresql-doc-15
python-astropy-doc python-django-doc python-pandas-doc python-scipy-doc python-sqlalchemy-doc
python-sympy-doc python3.11-doc qtbase5-doc-html qtdeclarative5-doc-html r-doc-html
rust-doc scons-doc sphinx-doc sqlite3-doc tcl8.6-doc tk8.6-doc twisted-doc vim-doc
""".strip(),
)

CHUNK_LENGTH = 850
SHORTEST_CHUNK = 60
LINKS_A_PAGE = 40
# Between the paragraphs of a page a heading travels as MARK + level + text.
MARK = "\x01"

DROPPED = re.compile(
    r"<(script|style|head|nav|footer|svg|button|select)\b.*?</\1\s*>|<!--.*?-->", re.S | re.I
)
TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.S | re.I)
HEADING = re.compile(r"<h([1-4])\b[^>]*>(.*?)</h\1\s*>", re.S | re.I)
BLOCK_END = re.compile(
    r"</?(p|div|li|ul|ol|dl|dt|dd|tr|table|pre|section|article|br|h[56])\b[^>]*>", re.I
)
TAG = re.compile(r"<[^>]*>")
LINK = re.compile(r"<a\b[^>]*?\bhref=[\"']([^\"'#?:]+)(?:#[^\"']*)?[\"']", re.I)
REDIRECT = re.compile(r"<meta[^>]*http-equiv=[\"']?refresh", re.I)
MANUAL_PAGE = re.compile(r"\.[1-8][a-z]*(\.gz)?$")
SKIPPED_PATH = re.compile(
    r"_sources/|/_modules/|genindex|/search|allclasses|index-all|/src/|/copyright|changelog|NEWS"
    r"|-members\.html$|class-use|package-tree|package-use|README|/examples/",
)


@dataclass(frozen=True, slots=True)
class Page:
    """A page with its chunks as (breadcrumb, content) and the sources it links to."""

    source: str
    title: str
    chunks: list[tuple[str, str]]
    links: list[str]


def download(folder: Path) -> list[Path]:
    """The packages as files in `folder`; those already there are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [name for name in PACKAGES if not any(folder.glob(f"{name}_*.deb"))]
    if missing:
        subprocess.run(["apt-get", "download", "-q", *missing], cwd=folder, check=True)
    return sorted(next(folder.glob(f"{name}_*.deb")) for name in PACKAGES)


def plain(markup: str) -> str:
    """Markup without tags, entities resolved, each line's white space collapsed."""
    text = html.unescape(TAG.sub(" ", markup)).replace("\x00", "")
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


def html_lines(markup: str) -> tuple[str, list[str]]:
    """Title and lines of an HTML page; headings are marked."""
    found = TITLE.search(markup)
    title = " ".join(plain(found.group(1)).split()) if found else ""
    body = DROPPED.sub(" ", markup)
    body = HEADING.sub(
        lambda match: f"\n{MARK}{match.group(1)}{' '.join(plain(match.group(2)).split())}\n", body
    )
    body = BLOCK_END.sub("\n", body)
    return title, [line for line in plain(body).split("\n") if line]


def manual_lines(page: str) -> tuple[str, list[str]]:
    """Title and lines of a troff manual page, by simple rules."""
    title, lines = "", []
    for line in page.split("\n"):
        if line.startswith((".TH", ".Dt")):
            title = " ".join(line.split()[1:3]).replace('"', "")
        elif line.startswith((".SH", ".SS", ".Sh", ".Ss")):
            level = "2" if line[2] in "Hh" else "3"
            lines.append(f"{MARK}{level}{line[3:].strip().strip(chr(34))}")
        elif line.startswith((".\\", "'", ".de", ".if", ".ie", ".ds", ".tr", ".nr")):
            continue
        else:
            text = re.sub(r"^\.[A-Za-z]{1,2}\s*", "", line) if line.startswith(".") else line
            text = re.sub(r"\\f[BIPRC]|\\f\([A-Z]{2}|\\[&c/,|^]|\\s[+-]?\d", "", text)
            text = text.replace("\\-", "-").replace("\\e", "\\").replace("\\(aq", "'")
            if text := " ".join(text.split()):
                lines.append(text)
    return title, lines


def text_lines(page: str) -> tuple[str, list[str]]:
    """Title and lines of plain text, vim help or POD."""
    lines = [
        f"{MARK}{match.group(1)}{match.group(2)}"
        if (match := re.match(r"=head([1-4])\s+(.*)", line))
        else " ".join(line.split())
        for line in page.replace("\x00", "").split("\n")
    ]
    lines = [line for line in lines if line]
    return (lines[0].lstrip(MARK + "1234")[:120] if lines else ""), lines


def split(title: str, lines: list[str]) -> Iterator[tuple[str, str]]:
    """Chunks of about CHUNK_LENGTH characters with their breadcrumb; never across a heading
    of level 1 or 2 once the chunk is long enough to stand alone."""
    path: dict[int, str] = {}
    held: list[str] = []
    size = 0

    def breadcrumb() -> str:
        parts = [title[:160], *(path[level][:160] for level in sorted(path))]
        return " > ".join(part for i, part in enumerate(parts) if part and part not in parts[:i])

    def full() -> tuple[str, str]:
        return breadcrumb(), "\n".join(held)

    for line in lines:
        if line.startswith(MARK):
            level = int(line[1])
            if size >= CHUNK_LENGTH // 4:
                yield full()
                held, size = [], 0
            path = {key: value for key, value in path.items() if key < level}
            path[level] = line[2:]
            continue
        for start in range(0, len(line), CHUNK_LENGTH):
            piece = line[start : start + CHUNK_LENGTH]
            if size and size + len(piece) > CHUNK_LENGTH:
                yield full()
                held, size = [], 0
            held.append(piece)
            size += len(piece) + 1
    if size >= SHORTEST_CHUNK:
        yield full()


def read_member(name: str, data: bytes) -> tuple[str, list[str], list[str]] | None:
    """Title, lines and link targets of a file, or None if it is not documentation."""
    if name.endswith(".gz"):
        data, name = gzip.decompress(data), name.removesuffix(".gz")
    if name.endswith((".html", ".htm", ".xhtml")):
        markup = data.decode("utf-8", "replace")
        if REDIRECT.search(markup):
            return None
        return *html_lines(markup), LINK.findall(markup)
    if MANUAL_PAGE.search(name):
        return *manual_lines(data.decode("utf-8", "replace")), []
    if name.endswith((".txt", ".pod", ".info")):
        return *text_lines(data.decode("utf-8", "replace")), []
    return None


def read_package(path: Path) -> list[Page]:
    """The pages of a package, in a fixed order that mixes its parts."""
    name = path.name.split("_")[0]
    archive = subprocess.run(
        ["dpkg-deb", "--fsys-tarfile", str(path)], check=True, capture_output=True
    ).stdout
    seen: set[bytes] = set()
    pages: list[Page] = []
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            inside = member.name.lstrip("./")
            if not member.isfile() or SKIPPED_PATH.search(inside) or member.size > 8_000_000:
                continue
            handle = tar.extractfile(member)
            page = read_member(inside, handle.read()) if handle else None
            if page is None:
                continue
            title, lines, targets = page
            chunks = []
            for breadcrumb, content in split(title, lines):
                digest = hashlib.sha256(content.encode()).digest()
                # Generated manuals repeat whole paragraphs on many pages.
                if digest not in seen:
                    seen.add(digest)
                    chunks.append((breadcrumb, content))
            base = posixpath.dirname(inside)
            links = {posixpath.normpath(posixpath.join(base, target)) for target in targets}
            kept = sorted(f"{name}/{target}" for target in links - {inside})[:LINKS_A_PAGE]
            if chunks:
                pages.append(Page(f"{name}/{inside}", title or inside, chunks, kept))
    return sorted(pages, key=lambda page: hashlib.sha256(page.source.encode()).digest())


def quotas(sizes: list[int], total: int) -> list[int]:
    """As equal shares of `total` as the sizes allow: small packages give all they have."""
    shares = [0] * len(sizes)
    left = total
    for position, index in enumerate(sorted(range(len(sizes)), key=lambda i: (sizes[i], i))):
        shares[index] = min(sizes[index], left // (len(sizes) - position))
        left -= shares[index]
    return shares


def rows(pages: Iterable[Page], first: int) -> Iterator[dict[str, Any]]:
    """The chunks of pages line by line, numbered from `first`."""
    number = first
    for page in pages:
        for ordinal, (breadcrumb, content) in enumerate(page.chunks):
            metadata = {
                "package": page.source.split("/")[0],
                "n": number,
                "half": number % 2,
                "g20": number % 20,
                "g200": number % 200,
                "g2000": number % 2000,
                "year": 2000 + number % 25,
            }
            row: dict[str, Any] = {
                "source": page.source,
                "ordinal": ordinal,
                "title": page.title,
                "breadcrumb": breadcrumb,
                "content": content,
                "metadata": metadata,
            }
            yield row if ordinal else {**row, "links": page.links}
            number += 1


def take(pages: list[Page], share: int) -> tuple[list[Page], list[Page]]:
    """The first pages with `share` chunks together, the last one cut; and the pages after it."""
    taken: list[Page] = []
    for place, page in enumerate(pages):
        if share <= 0:
            return taken, pages[place:]
        taken.append(replace(page, chunks=page.chunks[:share]))
        share -= len(page.chunks)
    return taken, []


def write(target: Path, lines: Iterable[dict[str, Any]]) -> int:
    """Writes JSON lines; returns how many."""
    written = 0
    with gzip.open(target, "wt", compresslevel=3, encoding="utf-8") as out:
        for written, row in enumerate(lines, 1):  # noqa: B007
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(f"{written} chunks in {target}")
    return written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="where packages and corpus.jsonl.gz go")
    parser.add_argument("--chunks", type=int, default=200_000)
    parser.add_argument("--small", type=int, default=3_400)
    options = parser.parse_args()
    files = download(options.folder / "deb")
    with ProcessPoolExecutor(2) as pool:
        packages = list(pool.map(read_package, files))
    for file, pages in zip(files, packages, strict=True):
        print(f"{file.name:60} {len(pages):7} pages {sum(len(p.chunks) for p in pages):8} chunks")
    shares = quotas([sum(len(page.chunks) for page in pages) for pages in packages], options.chunks)
    parts = [take(pages, share) for pages, share in zip(packages, shares, strict=True)]
    main_part = [page for taken, _ in parts for page in taken]
    written = write(options.folder / "corpus.jsonl.gz", rows(main_part, 0))
    left = max((rest for _, rest in parts), key=lambda rest: sum(len(page.chunks) for page in rest))
    write(options.folder / "small.jsonl.gz", rows(take(left, options.small)[0], written))


if __name__ == "__main__":
    main()
