"""An ONNX text model on this machine: its session and tokenizer, and batches as it takes them.

The only importer of onnxruntime, which is loaded with the first model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray


@dataclass(frozen=True)
class OnnxModel:
    """An open session with its tokenizer, which is told nothing after it was loaded."""

    session: Any
    tokenizer: Any
    inputs: frozenset[str]
    padding_id: int

    def feeds(
        self, ids: Sequence[Sequence[int]], types: Sequence[Sequence[int]] | None = None
    ) -> dict[str, NDArray[Any]]:
        """Token ids (and types, 0 by default) padded to one width, by name of the inputs that the
        model has: int64, texts x width."""
        import numpy as np

        padded = np.full((len(ids), max(map(len, ids))), self.padding_id, dtype=np.int64)
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
        return np.asarray(self.session.run(None, feeds)[0], dtype=np.float64)


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

    tokenizer = tokenizers.Tokenizer.from_file(str(vocabulary))
    padding_id = (tokenizer.padding or {}).get("pad_id", 0)
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens, strategy=strategy)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Idle threads would otherwise burn a core while other work (a database) waits for it.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(
        str(weights), options, providers=["CPUExecutionProvider"]
    )
    inputs = frozenset(entry.name for entry in session.get_inputs())
    return OnnxModel(session, tokenizer, inputs, padding_id)


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
