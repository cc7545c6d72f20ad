"""An ONNX text model on this machine: its session and tokenizer, and batches as it takes them.

The only importer of onnxruntime, which is loaded with the first model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError
from ragpg.native_calls import native_call

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray


@dataclass(frozen=True)
class OnnxModel:
    """An open session with its tokenizer, which is told nothing after it was loaded. `width` is the
    only number of tokens that an export with a fixed one takes."""

    session: Any
    tokenizer: Any
    inputs: frozenset[str]
    padding_id: int
    width: int | None = None

    def encode(self, texts: Sequence[Any], **options: Any) -> list[Any]:
        """Encodings of texts or pairs of texts, in order."""
        with native_call():
            return list(self.tokenizer.encode_batch(list(texts), **options))

    def run(self, outputs: list[str] | None, feeds: dict[str, NDArray[Any]]) -> list[Any]:
        """What the session gives."""
        with native_call():
            return list(self.session.run(outputs, feeds))

    def feeds(
        self, ids: Sequence[Sequence[int]], types: Sequence[Sequence[int]] | None = None
    ) -> dict[str, NDArray[Any]]:
        """Token ids (and types, 0 by default) padded to one width, by name of the inputs that the
        model has: int64, texts x width."""
        import numpy as np

        padded = np.full(
            (len(ids), self.width or max(map(len, ids))), self.padding_id, dtype=np.int64
        )
        mask = np.zeros_like(padded)
        kinds = np.zeros_like(padded)
        for row, one in enumerate(ids):
            padded[row, : len(one)] = one
            mask[row, : len(one)] = 1
            if types is not None:
                kinds[row, : len(one)] = types[row]
        feeds = {"input_ids": padded, "attention_mask": mask, "token_type_ids": kinds}
        return {name: value for name, value in feeds.items() if name in self.inputs}

    def logits(self, encodings: Sequence[Any]) -> NDArray[Any]:
        """The first output for encoded pairs of texts, in double precision."""
        import numpy as np

        feeds = self.feeds([one.ids for one in encodings], [one.type_ids for one in encodings])
        return np.asarray(self.run(None, feeds)[0], dtype=np.float64)


def open_model(
    weights: Path,
    vocabulary: Path,
    *,
    max_tokens: int,
    strategy: str = "longest_first",
    threads: int,
) -> OnnxModel:
    """Read a model and its tokenizer, which cuts inputs at `max_tokens` by `strategy`; see
    `needs_packages` for what must be installed."""
    import onnxruntime
    import tokenizers

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Idle threads would otherwise burn a core while other work (a database) waits for it.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    with native_call():
        tokenizer = tokenizers.Tokenizer.from_file(str(vocabulary))
        session = onnxruntime.InferenceSession(
            str(weights), options, providers=["CPUExecutionProvider"]
        )
    entries = {entry.name: entry.shape for entry in session.get_inputs()}
    shape = entries.get("input_ids") or []
    width = shape[1] if len(shape) == 2 and isinstance(shape[1], int) else None
    padding_id = (tokenizer.padding or {}).get("pad_id", 0)
    tokenizer.no_padding()
    tokenizer.enable_truncation(min(max_tokens, width or max_tokens), strategy=strategy)
    return OnnxModel(session, tokenizer, frozenset(entries), padding_id, width)


def needs_packages(what: str, hint: str) -> None:
    """Raise ConfigError naming the package that `what` lacks, before any file is looked for."""
    try:
        import onnxruntime  # noqa: F401
        import tokenizers  # noqa: F401
    except ImportError as error:
        raise ConfigError(f"{what} needs {error.name}", hint=hint) from error


def probabilities(logits: NDArray[Any]) -> NDArray[Any]:
    """Of one logit a row its sigmoid, of several their softmax."""
    import numpy as np

    if logits.shape[1] == 1:
        return np.asarray(1 / (1 + np.exp(-np.clip(logits, -60, 60))))
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
