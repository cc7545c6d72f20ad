"""Bytes -> clean text: UTF-8 first and over all bytes, then what the file says, then a guess."""

from __future__ import annotations

import codecs

from ragpg.ingest.clean import clean_text
from ragpg.ingest.loaders.sniff import utf16_without_mark

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: Below this many bytes a statistical guess is no better than the commonest single-byte encoding.
_GUESSABLE = 100
#: With so many characters read as UTF-8 for each broken byte it is UTF-8. Texts of twelve languages
#: in the encodings below come to 3 at most, by chance.
MOSTLY = 5
#: Enough for a guess; the whole file is decoded with the result.
_SAMPLE = 100_000
#: Latin code pages, each with the letters and signs that its languages use often.
_LATIN = {
    "cp1252": frozenset("äöüßÄÖÜéèêàçñáíóúâîôûëïœæøåÅØÉÀÇ¿¡“”„’‘–—€°§«»·"),
    "cp1250": frozenset("ěščřžýáíéůúďťňĚŠČŘŽÚąćęłńóśźżĄĆĘŁŃÓŚŹŻőűăţşäöü“”„’–—"),
    "cp1257": frozenset("ąčęėįšųūžĄČĘĖĮŠŲŪŽāēģīķļņĀõäöü“”„–—"),
    "cp1254": frozenset("ğışİŞĞçöüâÇÖÜ“”’–—"),
}
#: What else is tried: encodings that files still come in, none of the rarer that resemble them.
_OTHERS = (
    *("cp1251", "koi8_r", "cp866", "cp1253", "cp1255", "cp1256"),
    *("shift_jis", "euc_jp", "gb18030", "big5", "euc_kr"),
)


def read_text(data: bytes, *, declared: str | None = None) -> tuple[str, tuple[str, ...]]:
    """The clean text of a file, and notes on what its decoding and cleaning took.

    `declared` is the encoding that the file names itself (an HTML meta element); it is tried
    where the bytes are not UTF-8. Never fails: at worst bytes become U+FFFD, and a note says so.
    """
    text, note = _decode(data, declared)
    text, notes = clean_text(text)
    return text, ((note, *notes) if note else notes)


def _decode(data: bytes, declared: str | None) -> tuple[str, str]:
    known = marked(data)
    if known:
        return _replacing(data, known)
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError:
        pass
    if declared:
        try:
            return data.decode(declared), f"decoded as {declared}, as the file says"
        except (UnicodeDecodeError, LookupError):
            pass
    text, note = _replacing(data, "utf-8")
    broken = text.count("\ufffd")
    if sum(char > "\x7f" for char in text) - broken >= MOSTLY * broken:
        return text, note  # UTF-8 with some broken bytes: a guess would garble all the others
    encoding = guess(data)
    text, note = _replacing(data, encoding)
    return text, f"not UTF-8; decoded as {encoding}, a guess" + (f"; {note}" if note else "")


def marked(data: bytes) -> str | None:
    """The encoding that a byte-order mark or the NULs of UTF-16 tell, else None."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding
    return utf16_without_mark(data)


def _replacing(data: bytes, encoding: str) -> tuple[str, str]:
    text = data.decode(encoding, "replace")
    broken = text.count("\ufffd")
    # A file may hold U+FFFD on purpose; then nothing was replaced.
    if not broken or text.encode(encoding, "replace") in (data, data.lstrip(codecs.BOM_UTF8)):
        return text, ""
    return text, f"{broken:,} undecodable bytes replaced by U+FFFD"


def guess(data: bytes) -> str:
    """The likely encoding of bytes that are not UTF-8."""
    if len(data) < _GUESSABLE:
        return "cp1252"
    # 100 ms to import, and rarely needed.
    from charset_normalizer import from_bytes

    sample = _around_high_bytes(data)
    best = from_bytes(sample, cp_isolation=[*_LATIN, *_OTHERS]).best()
    if best is None or best.encoding in _LATIN:
        # The library's guess among Latin alphabets is a matter of chance: count their letters.
        scores = {name: _letters(sample, name, letters) for name, letters in _LATIN.items()}
        return max(scores, key=lambda name: (scores[name], name == "cp1252"))
    high = [byte for byte in sample if byte > 0x7F]
    if best.encoding == "cp1251" and len(high) >= 50 and min(high) >= 0xE0 and max(high) <= 0xFA:
        return "cp1255"  # Russian has capitals, and letters above; Hebrew has neither
    return str(best.encoding)


def _letters(sample: bytes, encoding: str, letters: frozenset[str]) -> int:
    text = sample.decode(encoding, "replace")
    return sum(char in letters for char in text) - 3 * text.count("\ufffd")


def _around_high_bytes(data: bytes) -> bytes:
    """A sample that starts near the first byte that is not ASCII, where the evidence is."""
    if len(data) <= _SAMPLE:
        return data
    first = next((index for index, byte in enumerate(data) if byte > 0x7F), 0)
    return data[max(0, first - 1000) : max(0, first - 1000) + _SAMPLE]
