"""Models of the fastembed library, which downloads their weights at the first use."""

from __future__ import annotations

import os
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence


class FastEmbedder:
    """Embeds with a model that fastembed knows by name.

    The library fetches the model into `cache_dir` when it is first needed: without a network and
    without that folder filled, use LocalEmbedder. It applies the model's own prefixes to queries
    and documents. Safe to share between threads.
    """

    def __init__(
        self,
        model: str = "BAAI/bge-small-en-v1.5",
        *,
        cache_dir: str | os.PathLike[str] | None = None,
        threads: int | None = None,
        batch_size: int = 32,
    ) -> None:
        self._model = model
        self._cache_dir = None if cache_dir is None else os.fspath(cache_dir)
        self._threads = threads
        self._batch_size = batch_size
        self._lock = Lock()
        self._library: Any = None

    def __repr__(self) -> str:
        return f"FastEmbedder({self._model!r})"

    @property
    def model(self) -> str:
        """The model's name, as fastembed knows it."""
        return self._model

    @cached_property
    def dimensions(self) -> int:
        """Length of every vector, found by embedding one word."""
        return len(self.embed_query("dimensions"))

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text, in order. Raises ConfigError when the model cannot be loaded."""
        vectors = self._load().passage_embed(list(texts), batch_size=self._batch_size)
        return [[float(value) for value in vector] for vector in vectors]

    def embed_query(self, text: str) -> list[float]:
        """The vector of one query."""
        return [float(value) for value in next(iter(self._load().query_embed(text)))]

    def _load(self) -> Any:
        with self._lock:
            if self._library is None:
                self._library = self._open()
            return self._library

    def _open(self) -> Any:
        try:
            from fastembed import TextEmbedding
        except ImportError as error:
            raise ConfigError(
                f"the model {self._model} needs the library {error.name}",
                hint="pip install 'ragpg[fastembed]'",
            ) from error
        try:
            return TextEmbedding(
                model_name=self._model, cache_dir=self._cache_dir, threads=self._threads
            )
        except Exception as error:
            raise ConfigError(
                f"fastembed cannot load {self._model}: {error}",
                hint="Check the name and the network, or fill cache_dir beforehand.",
            ) from error
