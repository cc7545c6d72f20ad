"""Semantic vectors without a network: the static token embeddings inside the wordllama wheel.

A text's vector is the mean of its tokens' vectors, 256 dimensions. That is a weak model, but its
vectors cluster by topic as those of any model do, which is what an approximate index has to cope
with; random vectors would be a different problem.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

WHEEL = "wordllama==0.4.0.post1"
WEIGHTS = "wordllama/weights/l2_supercat_256.safetensors"
TOKENIZER = "wordllama/tokenizers/l2_supercat_tokenizer_config.json"
MODEL = "wordllama-l2-supercat-256"
DIMENSIONS = 256


class StaticEmbedder:
    """Text to vector by table look-up; some thousand texts a second, the same every time."""

    def __init__(self, folder: Path) -> None:
        """Reads the model from the wheel in `folder`, fetching it with pip if it is not there."""
        wheel = next(folder.glob("wordllama-*.whl"), None)
        if wheel is None:
            command = ["pip", "download", "-q", "--no-deps", "-d", str(folder), WHEEL]
            subprocess.run([sys.executable, "-m", *command], check=True)
            wheel = next(folder.glob("wordllama-*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            self._table = read_table(archive.read(WEIGHTS))
            self._tokenizer: Any = Tokenizer.from_str(archive.read(TOKENIZER).decode())
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, rounded to half precision, never all zeros."""
        encoded = self._tokenizer.encode_batch([text[:4000] for text in texts])
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for row, entry in enumerate(encoded):
            ids = entry.ids or [0]
            vectors[row] = self._table[ids].mean(axis=0)
        return vectors.astype(np.float16).astype(np.float32)


def read_table(data: bytes) -> NDArray[np.float32]:
    """The one matrix of a safetensors file: 8 bytes of header length, JSON header, numbers."""
    (length,) = struct.unpack("<Q", data[:8])
    entry = json.loads(data[8 : 8 + length])["embedding.weight"]
    begin, end = entry["data_offsets"]
    numbers = np.frombuffer(data[8 + length + begin : 8 + length + end], dtype=np.float16)
    return numbers.reshape(entry["shape"]).astype(np.float32)
