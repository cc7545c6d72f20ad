"""Counting tokens: a real tokenizer where one is at hand, else a safe estimate.

Nothing here downloads. `bpe-openai` (extra `tokens`) carries the vocabularies of OpenAI's models;
a Hugging Face tokenizer.json is read from disk. Any other counter is a callable of the caller's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cache, lru_cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from ragpg.errors import ConfigError
from ragpg.words import STOPWORDS

TokenCounter = Callable[[str], int]

#: Encodings of OpenAI's models, the longest prefix that fits first.
_ENCODINGS = {
    "gpt-4-": "cl100k_base",
    "gpt-4": "cl100k_base",
    "gpt-4o": "o200k_base",
    "gpt-4.": "o200k_base",
    "gpt-3.5": "cl100k_base",
    "gpt-": "o200k_base",
    "chatgpt": "o200k_base",
    "o1": "o200k_base",
    "o3": "o200k_base",
    "o4": "o200k_base",
    "text-embedding-3": "cl100k_base",
    "text-embedding-ada": "cl100k_base",
}

# One blank belongs to what stands behind it on its line, as tokenizers have it.
_PIECE = re.compile(
    r" ?[A-Za-z]+| ?[0-9]+| ?[\x21-\x7e]| ?[^\x00-\x7f]|[ \t]+|.",
    re.S,
)
_CASED = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[A-Z]")
_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]{3,}", re.IGNORECASE)
#: The levels of national character sets that hold everyday characters, by their first bytes.
_EVERYDAY = (("gb2312", 0xD7), ("big5", 0xC6), ("shift_jis", 0x97), ("euc_kr", 0xFE))


def token_counter(name: str | os.PathLike[str] | None = None) -> TokenCounter:
    """A function from text to its number of tokens.

    None             o200k_base where `bpe-openai` is installed, else the estimate
    "estimate"       `estimate_tokens`
    "o200k_base"     or "cl100k_base", or an OpenAI model such as "gpt-4o"; needs `bpe-openai`
    a path           a Hugging Face tokenizer.json or its folder; needs `tokenizers`

    Control strings such as <|endoftext|> count as the text they are. Raises ConfigError for a
    name that nobody here knows, and for a package that is missing.
    """
    if name is None:
        return _installed() or estimate_tokens
    text = os.fspath(name)
    if text == "estimate":
        return estimate_tokens
    encoding = text if text in ("o200k_base", "cl100k_base") else _encoding_of(text)
    if encoding:
        return _openai(encoding)
    path = Path(text)
    path = path / "tokenizer.json" if path.is_dir() else path
    if path.is_file():
        return _from_file(str(path))
    raise ConfigError(
        f"there is no tokenizer {text!r}",
        hint="Give o200k_base, cl100k_base, an OpenAI model, a tokenizer.json or 'estimate'.",
    )


def counter_for_model(model: str | None) -> TokenCounter:
    """The counter of a chat model, or the safe estimate where its tokenizer is not known or not
    installed. None is any model: see `token_counter`. Never raises."""
    if model is None:
        return token_counter()
    encoding = _encoding_of(model)
    if encoding is None:
        return estimate_tokens
    try:
        return _openai(encoding)
    except ConfigError:
        return estimate_tokens


def _encoding_of(model: str) -> str | None:
    known = [prefix for prefix in _ENCODINGS if model.lower().startswith(prefix)]
    return _ENCODINGS[max(known, key=len)] if known else None


@cache
def _installed() -> TokenCounter | None:
    try:
        return _openai("o200k_base")
    except ConfigError:
        return None


@cache
def _openai(encoding: str) -> TokenCounter:
    try:
        counter: TokenCounter = _bindings().tokenizer_for_encoding(encoding).count
    except ImportError as error:
        raise ConfigError(
            f"counting tokens of {encoding} needs the package bpe-openai",
            hint="pip install 'ragpg[tokens]', or use 'estimate'.",
        ) from error
    return lambda text: counter(_storable(text))


def _bindings() -> Any:
    """The compiled half of bpe-openai. The package around it reads three vocabularies in Python
    for an interface like tiktoken's, which takes a second and 75 MB; counting needs none of it."""
    found = find_spec("bpe_openai")
    for folder in (found and found.submodule_search_locations) or ():
        for suffix in EXTENSION_SUFFIXES:
            path = Path(folder) / f"_bindings{suffix}"
            spec = spec_from_file_location("bpe_openai._bindings", path)
            if path.is_file() and spec is not None and spec.loader is not None:
                module = module_from_spec(spec)
                spec.loader.exec_module(module)
                return module
    raise ImportError("bpe-openai is not installed, or has another layout", name="bpe_openai")


def _storable(text: str) -> str:
    """Half a surrogate pair has no bytes; the stand-in counts as it would be sent."""
    return text if text.isascii() else text.encode(errors="replace").decode()


@cache
def _from_file(path: str) -> TokenCounter:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ConfigError(
            f"{path} needs the package tokenizers", hint="pip install tokenizers"
        ) from error
    try:
        tokenizer = Tokenizer.from_file(path)
    except Exception as error:  # the library raises bare Exception
        raise ConfigError(f"{path} is no tokenizer: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(text: str) -> int:
        return len(tokenizer.encode(_storable(text), add_special_tokens=False).ids)

    return count


def estimate_tokens(text: str) -> int:
    """At least as many tokens as common tokenizers count, from the text alone.

    Compared with cl100k, o200k, a vocabulary of single digits and WordPiece on 15,000 passages of
    prose in 12 languages, code, tables and logs, and on random letters, base64, hex, emoji and
    rare characters. English prose comes out at twice the real count: a real counter fills a
    budget better. No piece crosses a line end, so the estimate of joined lines is the sum.

    A common English word is one token, another run of letters of one case one for every 2.5
    letters begun and more where consonants pile up, capitals 3 for every 4; a digit one, and so
    is a blank before it; other single blanks none, longer runs one for every 8; other ASCII one
    each. Elsewhere a character is as many as a tokenizer without it needs, its bytes in UTF-8,
    but 2 for the everyday characters of Chinese, Japanese and Korean.
    """
    return sum(map(_weight, _PIECE.findall(text)))


@lru_cache(maxsize=65_536)
def _weight(piece: str) -> int:
    text = piece[1:] if len(piece) > 1 and piece[0] == " " else piece
    first = text[0]
    if first.isascii():
        if first.isalpha():
            if len(text) <= 7 and text.lower() in STOPWORDS and not text.isupper():
                return 1
            return sum(map(_letters, _CASED.findall(text)))
        if first.isdigit():
            return len(piece)
        return -(-len(piece) // 8) if first in " \t" else 1
    if first < "\u0800":
        return 2
    blank = len(piece) - len(text)
    if first > "\uffff":
        return 4 + blank
    return (2 if _is_everyday(first) else 3) + blank


def _letters(segment: str) -> int:
    """Tokens of letters of one case, a first capital allowed."""
    if segment.isupper() and len(segment) > 1:
        return -(-len(segment) * 3 // 4)
    piled = sum((len(run) - 1) // 2 for run in _CONSONANTS.findall(segment))
    return -(-len(segment) * 2 // 5) + piled


def _is_everyday(character: str) -> bool:
    for codec, last in _EVERYDAY:
        try:
            encoded = character.encode(codec)
        except UnicodeEncodeError:
            continue
        if len(encoded) == 2 and encoded[0] <= last:
            return True
    return False
