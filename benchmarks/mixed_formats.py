"""Writes documents of formats that packages seldom hold, out of the paragraphs of those they do."""

from __future__ import annotations

import csv
import json
import zipfile
from email.message import EmailMessage
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from random import Random

    Writer = Callable[[Path, str, Sequence[str], Random], None]


def write_docx(path: Path, title: str, texts: Sequence[str], _: Random) -> None:
    """Headings, paragraphs and a table."""
    import docx

    document = docx.Document()
    document.add_heading(title, 1)
    for number, text in enumerate(texts):
        if number % 5 == 0:
            document.add_heading(text[:40], 2)
        document.add_paragraph(text)
    rows = document.add_table(rows=0, cols=2)
    for text in texts[:4]:
        cells = rows.add_row().cells
        cells[0].text, cells[1].text = text[:20], text[20:80]
    document.save(str(path))


def write_pptx(path: Path, title: str, texts: Sequence[str], _: Random) -> None:
    """A slide for every other paragraph, with notes."""
    import pptx

    show = pptx.Presentation()
    for number, text in enumerate(texts[::2]):
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = f"{title}, {number + 1}"
        slide.placeholders[1].text = text[:400]
        slide.notes_slide.notes_text_frame.text = text[400:600]
    show.save(str(path))


def write_xlsx(path: Path, _: str, texts: Sequence[str], random: Random) -> None:
    """Two sheets of names, amounts and remarks."""
    import openpyxl

    book = openpyxl.Workbook()
    for name in ("First", "Second"):
        sheet = book.create_sheet(name)
        sheet.append(["Name", "Amount", "Remark"])
        for number in range(100):
            sheet.append(
                [f"item {number}", round(random.random() * 100, 2), random.choice(texts)[:60]]
            )
    book.remove(book.worksheets[0])
    book.save(path)


def write_eml(path: Path, title: str, texts: Sequence[str], random: Random) -> None:
    """A letter in two forms, as mail programs write it."""
    letter = EmailMessage()
    letter["From"], letter["To"] = "sender@example.com", "reader@example.com"
    letter["Subject"] = title
    letter["Date"] = "Mon, 05 Feb 2024 10:00:00 +0000"
    letter["Message-ID"] = f"<{random.random()}@example.com>"
    letter.set_content("\n\n".join(texts[:6]))
    letter.add_alternative("".join(f"<p>{escape(text)}</p>" for text in texts[:6]), subtype="html")
    path.write_bytes(letter.as_bytes())


def write_csv(path: Path, title: str, texts: Sequence[str], random: Random) -> None:
    """A hundred rows under a header."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "topic", "text"])
        rows.writerows([number, title, random.choice(texts)[:200]] for number in range(100))


def write_json(path: Path, title: str, texts: Sequence[str], _: Random) -> None:
    """One document with a list of records."""
    records = [{"id": number, "body": text} for number, text in enumerate(texts)]
    path.write_text(json.dumps({"title": title, "items": records}, indent=1), "utf-8")


def write_jsonl(path: Path, title: str, texts: Sequence[str], _: Random) -> None:
    """A record a line."""
    rows = (json.dumps({"id": n, "topic": title, "body": text}) for n, text in enumerate(texts))
    path.write_text("\n".join(rows) + "\n", "utf-8")


def write_md(path: Path, title: str, texts: Sequence[str], _: Random) -> None:
    """Front matter, headings, paragraphs."""
    parts = [f"---\ntitle: {json.dumps(title)}\n---\n", f"# {title}"]
    for number, text in enumerate(texts):
        parts += [f"## Part {number // 4 + 1}"] if number % 4 == 0 else []
        parts.append(text)
    path.write_text("\n\n".join(parts) + "\n", "utf-8")


def write_rst(path: Path, title: str, texts: Sequence[str], _: Random) -> None:
    """A title and paragraphs."""
    bar = "=" * len(title)
    path.write_text("\n\n".join([f"{bar}\n{title}\n{bar}", *texts]) + "\n", "utf-8")


def write_html(path: Path, title: str, texts: Sequence[str], _: Random) -> None:
    """A page with navigation around its text."""
    body = "".join(f"<p>{escape(text)}</p>\n" for text in texts)
    path.write_text(
        f"<!doctype html><html><head><title>{escape(title)}</title></head><body>"
        f"<nav><a href='index.html'>Home</a></nav><main><h1>{escape(title)}</h1>\n{body}</main>"
        "</body></html>\n",
        "utf-8",
    )


def write_txt(path: Path, title: str, texts: Sequence[str], _: Random) -> None:
    """Title and paragraphs."""
    path.write_text("\n\n".join([title, *texts]) + "\n", "utf-8")


def write_source(path: Path, title: str, texts: Sequence[str], _: Random) -> None:
    """Functions with the paragraphs as what they say of themselves."""
    parts = [f'"""{title}."""\n']
    for number, text in enumerate(texts):
        words = text.replace("\\", "/").replace('"', "'")
        parts.append(
            f'def step_{number}(value: int) -> int:\n    """{words}"""\n    return value\n'
        )
    path.write_text("\n\n".join(parts), "utf-8")


def write_epub(path: Path, title: str, texts: Sequence[str], _: Random) -> None:
    """A book of three chapters."""
    chapters = [texts[number::3] for number in range(3)]
    items = "".join(
        f'<item id="c{n}" href="c{n}.xhtml" media-type="application/xhtml+xml"/>' for n in range(3)
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(3))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        book.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">'
            '<rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/>'
            "</rootfiles></container>",
        )
        book.writestr(
            "book.opf",
            '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata '
            f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{escape(title)}</dc:title>'
            f"</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>",
        )
        for number, chapter in enumerate(chapters):
            body = "".join(f"<p>{escape(text)}</p>" for text in chapter)
            book.writestr(
                f"c{number}.xhtml",
                '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head>'
                f"<body><h1>Chapter {number + 1}</h1>{body}</body></html>",
            )


def write_pdf(path: Path, title: str, texts: Sequence[str], _: Random) -> None:
    """Pages of one font with a text layer; no more of PDF than that takes."""
    lines = [title, ""]
    for text in texts:
        plain = " ".join(text.encode("ascii", "replace").decode().split())
        lines += [plain[at : at + 90] for at in range(0, len(plain), 90)] + [""]
    pages = [lines[at : at + 50] for at in range(0, len(lines), 50)]
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, page in enumerate(pages):
        shown = "".join(
            "({}) Tj T*\n".format(line.translate({40: r"\(", 41: r"\)", 92: r"\\"}))
            for line in page
        )
        stream = f"BT /F1 10 Tf 50 780 Td 14 TL\n{shown}ET".encode()
        parts += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode(),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        ]
    data, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(parts) + 1)
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    data += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(parts) + 1,
        start,
    )
    path.write_bytes(data)


WRITERS: dict[str, Writer] = {
    "docx": write_docx, "pptx": write_pptx, "xlsx": write_xlsx, "eml": write_eml, "csv": write_csv,
    "json": write_json, "jsonl": write_jsonl, "md": write_md, "rst": write_rst, "html": write_html,
    "txt": write_txt, "py": write_source, "epub": write_epub, "pdf": write_pdf,
}  # fmt: skip
