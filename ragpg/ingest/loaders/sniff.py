"""Tells by content what bytes are, so that a binary file with a text name is not read as text."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """What bytes are. `format` names the loader that could read them; "" when none could.
    `spoilt` is a document that could be read if it were whole, or open."""

    label: str
    format: str = ""
    spoilt: bool = False


#: Magic bytes at the start, from the formats' specifications.
_MAGIC: tuple[tuple[bytes, Kind], ...] = (
    (b"%PDF-", Kind("PDF document", "pdf")),
    (b"\x89PNG\r\n\x1a\n", Kind("PNG image")),
    (b"\xff\xd8\xff", Kind("JPEG image")),
    (b"GIF87a", Kind("GIF image")),
    (b"GIF89a", Kind("GIF image")),
    (b"II*\x00", Kind("TIFF image")),
    (b"MM\x00*", Kind("TIFF image")),
    (b"\x1f\x8b", Kind("gzip archive", "gzip")),
    (b"\xfd7zXZ\x00", Kind("xz archive", "xz")),
    (b"BZh", Kind("bzip2 archive", "bzip2")),
    (b"7z\xbc\xaf\x27\x1c", Kind("7z archive")),
    (b"Rar!\x1a\x07", Kind("RAR archive")),
    (b"\x28\xb5\x2f\xfd", Kind("zstd archive")),
    (b"\x7fELF", Kind("ELF program")),
    (b"\xca\xfe\xba\xbe", Kind("Java class or Mach-O program")),
    (b"\xcf\xfa\xed\xfe", Kind("Mach-O program")),
    (b"\x00asm", Kind("WebAssembly module")),
    (b"SQLite format 3\x00", Kind("SQLite database")),
    (b"OggS", Kind("Ogg audio")),
    (b"fLaC", Kind("FLAC audio")),
    (b"wOFF", Kind("font")),
    (b"wOF2", Kind("font")),
    (b"PAR1", Kind("Parquet file")),
    (b"{\\rtf", Kind("RTF document", "rtf")),
)

#: Names of members of a ZIP archive that tell what it holds, then types that it may declare first.
_IN_ZIP = (
    ("word/document.xml", Kind("Word document", "docx")),
    ("xl/workbook.xml", Kind("Excel workbook", "xlsx")),
    ("xl/workbook.bin", Kind("binary Excel workbook", "xlsb")),
    ("ppt/presentation.xml", Kind("PowerPoint presentation", "pptx")),
    ("META-INF/container.xml", Kind("EPUB book", "epub")),
)
_DECLARED = (
    (b"application/epub+zip", Kind("EPUB book", "epub")),
    (b"opendocument.text", Kind("OpenDocument text", "odt")),
    (b"opendocument.spreadsheet", Kind("OpenDocument spreadsheet", "ods")),
    (b"opendocument.presentation", Kind("OpenDocument presentation", "odp")),
)
#: The container of old Office documents, and of new ones that are encrypted.
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")

_TEXT_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
#: C0 controls that text does not hold; escape, form feed and backspace occur in logs and manuals.
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\r\x0c\x1b\x08")


def sniff(data: bytes) -> Kind | None:
    """What the bytes are when they are not text, else None.

    Known formats go by their magic bytes. Everything else counts as binary when more than 30 % of
    it are control bytes, or, where it is not UTF-8, when 5 % are, or 1 % are NUL. UTF-16 and
    UTF-32 are text, with a byte-order mark or without.
    """
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            return kind
    if data.startswith(_ZIP_STARTS):
        return _in_zip(data)
    if data.startswith(_OLE):
        if _ENCRYPTED in data:
            return Kind("Office document with a password", spoilt=True)
        return Kind("old Office document", "doc")
    if data[:4] == b"RIFF" and data[8:12] in (b"WEBP", b"WAVE", b"AVI "):
        return Kind("WebP image" if data[8:12] == b"WEBP" else "audio or video")
    if data[4:8] == b"ftyp":
        return Kind("MP4 video")
    if data[257:262] == b"ustar":
        return Kind("tar archive")
    if data.startswith(_TEXT_MARKS) or utf16_without_mark(data):
        return None
    if not _is_noise(data):
        return None
    # A PDF may have up to a kilobyte of something else before it.
    return Kind("PDF document", "pdf") if b"%PDF-" in data[:1024] else Kind("unknown format")


def _in_zip(data: bytes) -> Kind:
    for name, kind in _DECLARED:
        if name in data[:200]:
            return kind
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return Kind("broken ZIP archive", spoilt=True)
    return next((kind for member, kind in _IN_ZIP if member in members), Kind("ZIP archive"))


def _is_noise(data: bytes) -> bool:
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if not controls:
        return False
    if controls > 0.3 * len(data):
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return controls > 0.05 * len(data) or data.count(0) > 0.01 * len(data)
    return False


def utf16_without_mark(data: bytes) -> str | None:
    """ "utf-16-le" or "utf-16-be" for text whose every second byte is mostly NUL, else None."""
    sample = data[: 1 << 16]
    half = len(sample) // 2
    if half < 2 or len(data) % 2:
        return None
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if odd > 0.7 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.7 * half and odd < 0.05 * half:
        return "utf-16-be"
    return None
