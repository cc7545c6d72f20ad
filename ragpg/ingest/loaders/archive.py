"""ZIP containers (Office, EPUB) and compressed files, read in memory and within limits.

Nothing is ever written to disk, so a name in an archive that leads upwards leads nowhere.
"""

from __future__ import annotations

import bz2
import io
import lzma
import zipfile
import zlib
from typing import TYPE_CHECKING, Protocol

from ragpg.errors import LoadError

if TYPE_CHECKING:
    from typing import Final

#: Most bytes that may come out of one container, of its XML alone, and of one packed file.
MAX_UNPACKED: Final = 500_000_000
MAX_MARKUP: Final = 100_000_000
MAX_PACKED: Final = 100_000_000
#: Most bytes out of one byte in, once it is about more than a megabyte. Office XML packs 30:1.
MAX_RATIO: Final = 250
_MAX_MEMBERS: Final = 50_000
_STEP: Final = 1 << 20


class _Decompressor(Protocol):
    def decompress(self, data: bytes, max_length: int) -> bytes: ...

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...


def open_container(data: bytes) -> zipfile.ZipFile:
    """A ZIP container whose declared sizes are harmless; reading never gives more than declared.

    Raises LoadError: broken, encrypted, or a decompression bomb.
    """
    try:
        container = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise LoadError(f"its ZIP container is broken: {error}") from error
    members = container.infolist()
    if any(member.flag_bits & 0x1 for member in members):
        raise LoadError("its ZIP container is encrypted")
    total = sum(member.file_size for member in members)
    if len(members) > _MAX_MEMBERS or total > MAX_UNPACKED or _is_bomb(total, len(data)):
        raise LoadError(
            f"{len(members):,} members of {total:,} bytes in {len(data):,}: a decompression bomb"
        )
    return container


def markup_size(container: zipfile.ZipFile) -> int:
    """Bytes of XML in a container: its tree takes about ten times as much memory."""
    members = container.infolist()
    return sum(one.file_size for one in members if one.filename.lower().endswith((".xml", ".rels")))


def check_markup(data: bytes) -> None:
    """Raises LoadError when a container is no container, or its XML too large to build a tree."""
    with open_container(data) as container:
        size = markup_size(container)
    if size > MAX_MARKUP:
        raise LoadError(f"{size:,} bytes of XML in it are over the limit of {MAX_MARKUP:,}")


def read_member(container: zipfile.ZipFile, name: str) -> bytes:
    """The bytes of a member by its exact name. Raises LoadError when it is missing or broken."""
    try:
        return container.read(name)
    except KeyError as error:
        raise LoadError(f"it holds no {name}") from error
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError) as error:
        raise LoadError(f"{name} in it is broken: {error}") from error


def unpack(data: bytes, kind: str) -> bytes:
    """The content of a gzip, bzip2 or xz file ("gzip", "bzip2", "xz"), all its streams.

    Raises LoadError: cut off, broken, or a decompression bomb.
    """
    parts: list[bytes] = []
    total = 0
    rest = data
    try:
        while rest:
            stream = _decompressor(kind)
            piece = stream.decompress(rest, _STEP)
            while True:
                total += len(piece)
                if total > MAX_PACKED or _is_bomb(total, len(data)):
                    raise LoadError(f"{len(data):,} bytes unpack to more than {total:,}: a bomb")
                parts.append(piece)
                if stream.eof:
                    break
                piece = stream.decompress(_pending(stream), _STEP)
                if not piece and not stream.eof:
                    raise LoadError(f"the {kind} file is cut off")
            # Padding and garbage behind the last stream are what gzip ignores too.
            rest = stream.unused_data.lstrip(b"\0")
            if not rest.startswith(_STARTS[kind]):
                break
    except (zlib.error, OSError, lzma.LZMAError, EOFError) as error:
        raise LoadError(f"the {kind} file is broken: {error}") from error
    return b"".join(parts)


_STARTS = {"gzip": b"\x1f\x8b", "bzip2": b"BZh", "xz": b"\xfd7zXZ\x00"}


def _decompressor(kind: str) -> _Decompressor:
    if kind == "gzip":
        return zlib.decompressobj(wbits=31)
    if kind == "bzip2":
        return bz2.BZ2Decompressor()
    return lzma.LZMADecompressor(memlimit=MAX_PACKED)


def _pending(stream: _Decompressor) -> bytes:
    """Input that the last step left: zlib hands it back, the others keep it."""
    tail: bytes = getattr(stream, "unconsumed_tail", b"")
    return tail


def _is_bomb(unpacked: int, packed: int) -> bool:
    return unpacked > _STEP and unpacked > MAX_RATIO * packed
