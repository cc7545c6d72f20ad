"""Cross-encoders in this process: an ONNX file that you name, or sentence-transformers.

A cross-encoder reads query and passage together. None is shipped: name an export of your choice.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from ragpg.errors import ConfigError, ProviderError
from ragpg.native_calls import native_call
from ragpg.onnx_model import OnnxModel, needs_packages, open_model, probabilities
from ragpg.rerankers.passages import passage, reordered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ragpg.types import Hit

_INSTALL = "pip install 'ragpg[rerank]'"


@dataclass(frozen=True)
class _Loaded:
    """`whole` is the tokenizer without a limit: the other one would refuse a query that leaves the
    passage no room."""

    model: OnnxModel
    whole: Any


class ONNXReranker:
    """Scores hits with an ONNX cross-encoder, on the processor.

    model       a folder with model.onnx (or onnx/model.onnx) and tokenizer.json, or the path of
                the .onnx file with its tokenizer beside it
    tokenizer   path of tokenizer.json, where it lies elsewhere
    max_tokens  of query and passage together: at most half are the query's, a longer passage is
                cut
    batch_size  pairs that are computed at once; pairs of like length share a batch
    activation  what makes a score of the model's output. "auto": of one logit its sigmoid, of two
                or more the probability of the last one (softmax). "none": the output as it is
    candidates  so many hits are scored; `timeout` in seconds is kept by who runs the reranker
    threads     default: the processors of the machine, at most four

    Scores are on the scale "<name of the folder or file>". Files are read at the first use. Safe to
    share between threads.
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        tokenizer: str | os.PathLike[str] | None = None,
        max_tokens: int = 512,
        batch_size: int = 16,
        activation: Literal["auto", "none"] = "auto",
        candidates: int = 30,
        timeout: float | None = None,
        threads: int | None = None,
    ) -> None:
        if max_tokens < 16 or min(batch_size, candidates) < 1:
            raise ConfigError("max_tokens must be 16 or more, batch_size and candidates 1 or more")
        if activation not in ("auto", "none"):
            raise ConfigError(f"activation is 'auto' or 'none', not {activation!r}")
        self.candidates = candidates
        self.timeout = timeout
        self._source = Path(model)
        self._tokenizer = None if tokenizer is None else Path(tokenizer)
        self._max_tokens = max_tokens
        self._batch_size = batch_size
        self._activation = activation
        self._threads = threads or min(4, os.cpu_count() or 1)
        self._lock = Lock()

    @property
    def name(self) -> str:
        """The name of the folder, or of the file without its ending."""
        path = self._source.resolve()
        return path.stem if path.suffix == ".onnx" else path.name

    def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """The hits by score. Raises ConfigError when the files or the libraries are not there,
        ProviderError when the model gives no score a pair."""
        texts = [passage(hit) for hit in hits[: self.candidates]]
        return reordered(hits, self.scores(query, texts), self.name)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """A score for each text, in order; they do not depend on the other texts."""
        if not texts:
            return []
        loaded = self._loaded
        # Half of the window at most: a long query must leave room for what is to be judged.
        query = _first_tokens(loaded.whole, query, self._max_tokens // 2)
        encodings = loaded.model.encode([(query, text) for text in texts])
        order = sorted(range(len(texts)), key=lambda at: len(encodings[at].ids))
        found = [0.0] * len(texts)
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            for at, score in zip(
                batch, self._run(loaded, [encodings[at] for at in batch]), strict=True
            ):
                found[at] = score
        return found

    def _run(self, loaded: _Loaded, encodings: Sequence[Any]) -> list[float]:
        logits = loaded.model.logits(encodings)
        if logits.ndim == 1:
            logits = logits[:, None]
        if logits.ndim != 2 or len(logits) != len(encodings) or logits.shape[1] == 0:
            raise ProviderError(
                f"{self.name} gives an output of shape {list(logits.shape)} for {len(encodings)}"
                " pairs: it is no cross-encoder",
                scope="service",
            )
        return [float(score) for score in self._activated(logits)]

    def _activated(self, logits: NDArray[Any]) -> NDArray[Any]:
        return (logits if self._activation == "none" else probabilities(logits))[:, -1]

    @property
    def _files(self) -> tuple[Path, Path]:
        source = self._source
        if source.suffix == ".onnx":
            weights: Path | None = source if source.is_file() else None
            folder = source.parent
        else:
            places = (source / "model.onnx", source / "onnx" / "model.onnx")
            weights = next((path for path in places if path.is_file()), None)
            folder = source
        if weights is None:
            raise ConfigError(
                f"no ONNX model at {str(source)!r}",
                hint="Name a folder with model.onnx and tokenizer.json, or the .onnx file.",
            )
        places = (folder / "tokenizer.json", folder.parent / "tokenizer.json")
        tokenizer = self._tokenizer or next((path for path in places if path.is_file()), places[0])
        if not tokenizer.is_file():
            raise ConfigError(
                f"no tokenizer at {str(tokenizer)!r}",
                hint="Export the model with its fast tokenizer (tokenizer.save_pretrained).",
            )
        return weights, tokenizer

    @property
    def _loaded(self) -> _Loaded:
        with self._lock:
            return self._load

    @cached_property
    def _load(self) -> _Loaded:
        needs_packages("a cross-encoder", _INSTALL)
        import tokenizers

        weights, vocabulary = self._files
        whole = tokenizers.Tokenizer.from_file(str(vocabulary))
        whole.no_padding()
        whole.no_truncation()
        model = open_model(
            weights,
            vocabulary,
            max_tokens=self._max_tokens,
            strategy="only_second",
            threads=self._threads,
        )
        return _Loaded(model, whole)


def _first_tokens(whole: Any, text: str, most: int) -> str:
    """A text cut after so many tokens."""
    with native_call():
        offsets = whole.encode(text[: most * 40], add_special_tokens=False).offsets
    return text if len(offsets) <= most else text[: offsets[most - 1][1]]


class SentenceTransformersReranker:
    """Scores hits with a CrossEncoder of sentence-transformers, which downloads models by name.

    `model` is a name, a path, or a CrossEncoder made elsewhere; `options` go to its constructor
    (device, max_length, trust_remote_code). Scores are what its `predict` gives, on the scale
    "<model>": between 0 and 1 for most models, raw logits for some.
    """

    def __init__(
        self,
        model: Any = "cross-encoder/ms-marco-MiniLM-L6-v2",
        *,
        candidates: int = 30,
        batch_size: int = 16,
        timeout: float | None = None,
        **options: Any,
    ) -> None:
        self.candidates = candidates
        self.timeout = timeout
        self._model = model
        self._batch_size = batch_size
        self._options = options
        self._lock = Lock()

    @property
    def name(self) -> str:
        """The model's name."""
        if isinstance(self._model, (str, os.PathLike)):
            return os.fspath(self._model)
        return type(self._model).__name__

    def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """The hits by score. Raises ConfigError when the library is not installed."""
        pairs = [(query, passage(hit)) for hit in hits[: self.candidates]]
        if not pairs:
            return list(hits)
        with self._lock:
            encoder = self._encoder
        found = encoder.predict(pairs, batch_size=self._batch_size, show_progress_bar=False)
        scores = [_last(one) for one in found]
        return reordered(hits, scores, self.name)

    @cached_property
    def _encoder(self) -> Any:
        if not isinstance(self._model, (str, os.PathLike)):
            return self._model
        try:
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise ConfigError(
                "this reranker needs sentence-transformers",
                hint="pip install sentence-transformers",
            ) from error
        return CrossEncoder(os.fspath(self._model), **self._options)


def _last(score: Any) -> float:
    """A score, or the last of several classes: the relevant one, by custom."""
    return (
        float(score[-1]) if getattr(score, "ndim", 0) or isinstance(score, list) else float(score)
    )
