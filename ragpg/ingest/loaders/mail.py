"""E-mail by the standard library: one message (.eml), or a folder of messages in a file (mbox)."""

from __future__ import annotations

import re
from email import policy
from email.parser import BytesParser
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from ragpg.errors import LoadError
from ragpg.ingest.clean import clean_metadata, clean_name
from ragpg.ingest.loaders import html
from ragpg.ingest.loaders.compose import Composer
from ragpg.ingest.loaders.decode import read_text
from ragpg.ingest.loaders.mail_head import BEGINS
from ragpg.types import Document, Section

if TYPE_CHECKING:
    from email.message import EmailMessage

_HEADERS = {"From": "from", "To": "to", "Cc": "cc", "Message-ID": "message_id"}


def load(data: bytes, *, source: str) -> Document:
    """One message: its subject is the title; sender, receivers, date and the names of attachments
    are metadata. The plain text is read, or else the HTML; attachments are not."""
    message = _parse(data)
    out = Composer()
    subject, metadata = _facts(message)
    _write(message, out, subject)
    return Document(
        source=source,
        text=out.text(),
        title=subject,
        format="eml",
        metadata=metadata,
        sections=out.sections(),
        blocks=tuple(out.blocks),
        notes=tuple(out.notes),
    )


def load_mbox(data: bytes, *, source: str) -> Document:
    """All messages of an mbox: each is a section with its own metadata."""
    starts = list(BEGINS.finditer(data))
    if not starts:
        raise LoadError("it is no mbox: no line begins with 'From '")
    ends = [match.start() for match in starts[1:]] + [len(data)]
    out, sections = Composer(), []
    for number, (match, end) in enumerate(zip(starts, ends, strict=True), 1):
        message = _parse(re.sub(rb"(?m)^>(>*From )", rb"\1", data[match.end() : end]))
        subject, metadata = _facts(message)
        start = out.length + 2 if out.length else 0
        _write(message, out, subject or f"message {number}")
        if out.length > start:
            sections.append(Section(start, out.length, (subject or f"message {number}",), metadata))
    length = len(out.text())
    bounds = [section.start for section in sections[1:]] + [length]
    return Document(
        source=source,
        text=out.text(),
        format="mbox",
        metadata={"messages": len(starts)},
        sections=tuple(
            Section(one.start, end, one.path, one.metadata)
            for one, end in zip(sections, bounds, strict=True)
        ),
        blocks=tuple(out.blocks),
        notes=tuple(out.notes),
    )


def _parse(data: bytes) -> EmailMessage:
    return BytesParser(policy=policy.default).parsebytes(data)


def _facts(message: EmailMessage) -> tuple[str, dict[str, Any]]:
    found: dict[str, Any] = {key: _header(message, name) for name, key in _HEADERS.items()}
    date = _header(message, "Date")
    try:
        found["date"] = parsedate_to_datetime(date).isoformat() if date else ""
    except (ValueError, TypeError):
        found["date"] = date
    found["attachments"] = [name for part in _attachments(message) if (name := _file_name(part))]
    metadata, _ = clean_metadata({key: value for key, value in found.items() if value})
    return _header(message, "Subject"), metadata


def _header(message: EmailMessage, name: str) -> str:
    # A header may break every rule, and then the library raises whatever it stumbles on.
    try:
        return clean_name(str(message.get(name, "")))
    except Exception:
        return ""


def _attachments(message: EmailMessage) -> list[Any]:
    try:
        return list(message.iter_attachments()) if message.is_multipart() else []
    except Exception:
        return []


def _file_name(part: Any) -> str:
    try:
        return clean_name(part.get_filename() or "")
    except Exception:
        return ""


def _write(message: EmailMessage, out: Composer, subject: str) -> None:
    """Subject, sender and body."""
    out.heading(subject, 1)
    lines = [f"{name}: {_header(message, name)}" for name in ("From", "To", "Date")]
    out.paragraph("\n".join(line for line in lines if not line.endswith(": ")))
    try:
        body: Any = message.get_body(preferencelist=("plain", "html"))
    except Exception:
        body = None
    if body is None:
        body = message if not message.is_multipart() else None
    if body is None or body.get_content_maintype() != "text":
        out.notes["a message without a text part"] = None
        return
    raw = body.get_payload(decode=True) or b""
    declared = str(body.get_content_charset() or "")
    if body.get_content_subtype() == "html":
        out.append(html.load(raw, source=""), level=1)
        return
    text, notes = read_text(raw, declared=declared or None)
    out.notes.update(dict.fromkeys(note for note in notes if "decoded as" not in note))
    out.paragraph(text)
