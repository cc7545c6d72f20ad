"""Small files of many formats, made by the libraries that other programs use, or by hand."""

from __future__ import annotations

import io
import zipfile
from typing import Any


def pdf(*pages: list[str], title: str = "", bookmarks: dict[str, int] | None = None) -> bytes:
    """A PDF of lines of ASCII text in a built-in font; `bookmarks` are title -> page index."""
    objects: list[bytes] = []

    def add(body: str | bytes) -> int:
        objects.append(body.encode("latin-1") if isinstance(body, str) else body)
        return len(objects)

    catalog, tree, info, font = add(""), add(""), add(f"<< /Title ({title}) >>"), add(
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    )  # fmt: skip
    kids = []
    for lines in pages:
        shown = "".join(f"({line}) Tj T* " for line in lines)
        stream = f"BT /F1 12 Tf 14 TL 72 720 Td {shown}ET" if lines else ""
        content = add(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        kids.append(
            add(
                f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R "
                f"/Resources << /Font << /F1 {font} 0 R >> >> >>"
            )
        )
    objects[tree - 1] = (
        f"<< /Type /Pages /Kids [{' '.join(f'{kid} 0 R' for kid in kids)}] /Count {len(kids)} >>"
    ).encode()
    outlines = ""
    if bookmarks:
        root = add("")
        first = len(objects) + 1
        last = first + len(bookmarks) - 1
        for place, (name, page) in enumerate(bookmarks.items(), first):
            near = f"/Next {place + 1} 0 R" if place < last else ""
            add(f"<< /Title ({name}) /Parent {root} 0 R /Dest [{kids[page]} 0 R /Fit] {near} >>")
        objects[root - 1] = (
            f"<< /First {first} 0 R /Last {last} 0 R /Count {len(bookmarks)} >>".encode()
        )
        outlines = f"/Outlines {root} 0 R"
    objects[catalog - 1] = f"<< /Type /Catalog /Pages {tree} 0 R {outlines} >>".encode()
    out, places = io.BytesIO(), []
    out.write(b"%PDF-1.4\n")
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(
        b"trailer << /Size %d /Root %d 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (len(objects) + 1, catalog, info, start)
    )
    return out.getvalue()


def docx() -> bytes:
    """A Word document with title, headings, a list, a table with a wide cell, and a link."""
    from docx import Document  # type: ignore[import-untyped,unused-ignore]

    word: Any = Document()
    word.core_properties.title = "Harbour rules"
    word.core_properties.author = "Port office"
    word.add_heading("Mooring", 1)
    word.add_paragraph("Boats moor at quay two.")
    word.add_paragraph("Ropes of 20 m", style="List Bullet")
    word.add_paragraph("Fenders", style="List Bullet")
    word.add_heading("Fees", 2)
    table = word.add_table(rows=2, cols=3)
    for cell, text in zip(table.rows[0].cells, ["Boat", "Fee", "Fee"], strict=True):
        cell.text = text
    for cell, text in zip(table.rows[1].cells, ["Dinghy", "5|day", "30"], strict=True):
        cell.text = text
    out = io.BytesIO()
    word.save(out)
    return out.getvalue()


def pptx() -> bytes:
    """A presentation of two slides: bullets and speaker notes; a table."""
    from pptx import Presentation  # type: ignore[import-untyped,unused-ignore]
    from pptx.util import Inches  # type: ignore[import-untyped,unused-ignore]

    show: Any = Presentation()
    first = show.slides.add_slide(show.slide_layouts[1])
    first.shapes.title.text = "Tide tables"
    first.placeholders[1].text = "High water\nLow water"
    first.notes_slide.notes_text_frame.text = "Say it twice."
    second = show.slides.add_slide(show.slide_layouts[5])
    second.shapes.title.text = "Depths"
    table = second.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for row, texts in enumerate([["Basin", "Metres"], ["North", "7.5"]]):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    out = io.BytesIO()
    show.save(out)
    return out.getvalue()


def xlsx() -> bytes:
    """A workbook of two sheets with numbers and dates."""
    from openpyxl import Workbook  # type: ignore[import-untyped,unused-ignore]

    book: Any = Workbook()
    for sheet in (book.active, book.create_sheet("Fees")):
        sheet.append(["boat", "fee"])
        for number in range(20):
            sheet.append([f"boat {number}", number * 1.5])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def epub(chapters: dict[str, str], *, hrefs: dict[str, str] | None = None) -> bytes:
    """A book of HTML chapters; `hrefs` are what the package says instead of their names."""
    items = "".join(
        f'<item id="c{at}" href="{(hrefs or {}).get(name, name)}" media-type="application/xhtml+xml"/>'
        for at, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{at}"/>' for at in range(len(chapters)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<metadata><dc:title>The pilot</dc:title><dc:creator>A. Writer</dc:creator>"
        f"<dc:language>en</dc:language></metadata><manifest>{items}</manifest><spine>{spine}</spine>"
        "</package>"
    )
    return archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            '<rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
            "OEBPS/book.opf": package,
            **{f"OEBPS/{name}": text for name, text in chapters.items()},
        }
    )


def archive(members: dict[str, str | bytes]) -> bytes:
    """A ZIP archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as container:
        for name, content in members.items():
            container.writestr(name, content)
    return out.getvalue()


MAIL = (
    b"Received: from relay.example.com\r\nFrom: Ada <ada@example.com>\r\nTo: port@example.com\r\n"
    b"Date: Mon, 05 Feb 2024 10:00:00 +0100\r\nSubject: =?utf-8?q?Berth_f=C3=BCr_two?=\r\n"
    b'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n'
    b"--b\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\nWe need a berth f\xfcr two boats.\r\n"
    b'--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename="plan.pdf"\r\n'
    b"Content-Transfer-Encoding: base64\r\n\r\nJVBERg==\r\n--b--\r\n"
)

MBOX = (
    b"From ada@example.com Mon Feb  5 10:00:00 2024\nFrom: ada@example.com\nSubject: First\n\n"
    b"The first letter.\n>From here on it is quoted.\n\n"
    b"From bob@example.com Tue Feb  6 10:00:00 2024\nFrom: bob@example.com\nSubject: Second\n"
    b"Date: Tue, 06 Feb 2024 10:00:00 +0000\n\nThe second letter.\n"
)
