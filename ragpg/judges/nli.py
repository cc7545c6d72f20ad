"""A local entailment model as judge: any ONNX export of a natural language inference classifier.

The evidence is the premise, the claim the hypothesis. None is shipped: name an export of your
choice, for example of a DeBERTa model trained on MNLI, FEVER and ANLI.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError, ProviderError
from ragpg.judges.options import NLIOptions
from ragpg.onnx_model import OnnxModel, needs_packages, open_model, probabilities
from ragpg.types import Judgement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.types import Pair, Verdict

_INSTALL = "pip install 'ragpg[rerank]'"
_DEFAULT = NLIOptions()


@dataclass(frozen=True)
class _Loaded:
    model: OnnxModel
    entailment: int
    contradiction: int | None


class NLIJudge:
    """Verdicts from the probabilities of entailment and contradiction.

    model          a folder with model.onnx (or onnx/model.onnx), tokenizer.json and config.json, or
                   the path of the .onnx file with the others beside it
    labels         the classes of the output in order, as ("entailment", "neutral",
                   "contradiction"); default: `id2label` of config.json. A model with two classes
                   or one has no contradiction.
    supported      probability of entailment from which a claim is supported; partial from `partial`
    contradicted   probability of contradiction from which it is contradicted
    heading        put the heading before the evidence: it says what "it" is
    threads        default: the processors of the machine, at most four

    Files are read at the first use. Safe to share between threads.
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        labels: Sequence[str] | None = None,
        supported: float = _DEFAULT.supported,
        partial: float = _DEFAULT.partial,
        contradicted: float = _DEFAULT.contradicted,
        candidates: int = _DEFAULT.candidates,
        max_tokens: int = _DEFAULT.max_tokens,
        batch_size: int = _DEFAULT.batch_size,
        heading: bool = _DEFAULT.heading,
        threads: int | None = None,
    ) -> None:
        NLIOptions(
            supported=supported, partial=partial, contradicted=contradicted, candidates=candidates,
            max_tokens=max_tokens, batch_size=batch_size, heading=heading, threads=threads,
        )  # fmt: skip
        self.supported = supported
        self.partial = partial
        self.contradicted = contradicted
        self.candidates = candidates
        self._source = Path(model)
        self._labels = labels
        self._max_tokens = max_tokens
        self._batch_size = batch_size
        self._heading = heading
        self._threads = threads or min(4, os.cpu_count() or 1)
        self._lock = Lock()

    @property
    def name(self) -> str:
        """nli, with the name of the folder, or of the file without its ending."""
        path = self._source.resolve()
        return f"nli ({path.stem if path.suffix == '.onnx' else path.name})"

    def judge(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """A judgement for each pair. Raises ConfigError when the files or the libraries are not
        there or the classes are not known, ProviderError when the output is no classification."""
        if not pairs:
            return []
        with self._lock:
            loaded = self._loaded
        texts = [
            (f"{pair.heading}\n{pair.evidence}" if self._heading else pair.evidence, pair.claim)
            for pair in pairs
        ]
        encodings = loaded.model.encode(texts)
        order = sorted(range(len(pairs)), key=lambda at: len(encodings[at].ids))
        found: dict[int, Judgement] = {}
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            rows = self._probabilities(loaded, [encodings[at] for at in batch])
            for at, row in zip(batch, rows, strict=True):
                against = 0.0 if loaded.contradiction is None else row[loaded.contradiction]
                found[at] = self._judgement(row[loaded.entailment], against)
        return [found[at] for at in range(len(pairs))]

    def _judgement(self, entails: float, contradicts: float) -> Judgement:
        verdict: Verdict = "unsupported"
        reasons = []
        if contradicts >= self.contradicted and contradicts > entails:
            verdict = "contradicted"
            reasons = [f"{self.name} finds a contradiction ({contradicts:.2f})"]
        elif entails >= self.supported:
            verdict = "supported"
        elif entails >= self.partial:
            verdict = "partial"
        return Judgement(verdict, entails, reasons)

    def _probabilities(self, loaded: _Loaded, encodings: Sequence[Any]) -> list[list[float]]:
        logits = loaded.model.logits(encodings)
        classes = max(loaded.entailment, loaded.contradiction or 0) + 1
        if logits.ndim != 2 or len(logits) != len(encodings) or logits.shape[1] < classes:
            raise ProviderError(
                f"{self.name} gives an output of shape {list(logits.shape)} for {len(encodings)}"
                f" pairs and {classes} classes or more: it is no such classifier",
                scope="service",
            )
        return [[float(one) for one in row] for row in probabilities(logits)]

    @cached_property
    def _loaded(self) -> _Loaded:
        needs_packages("an entailment model", _INSTALL)
        weights = _existing(
            self._source, ("model.onnx", "onnx/model.onnx"), "ONNX model", itself=".onnx"
        )
        folder = weights.parent
        names = ("tokenizer.json", "../tokenizer.json")
        vocabulary = _existing(folder, names, "tokenizer")
        model = open_model(weights, vocabulary, max_tokens=self._max_tokens, threads=self._threads)
        entailment, contradiction = self._classes(folder)
        return _Loaded(model, entailment, contradiction)

    def _classes(self, folder: Path) -> tuple[int, int | None]:
        """Where in the output entailment and contradiction stand."""
        labels = [label.lower() for label in self._labels or ()]
        if not labels:
            config = _existing(folder, ("config.json", "../config.json"), "config.json")
            named = json.loads(config.read_text()).get("id2label") or {}
            labels = [str(named[key]).lower() for key in sorted(named, key=int)]
        entailment = next(
            (
                at
                for at, label in enumerate(labels)
                if label.startswith(("entail", "support", "consistent"))
            ),
            None,
        )
        if entailment is None:
            raise ConfigError(
                f"{self.name} does not say which class is entailment: {labels}",
                hint='Give labels=("entailment", "neutral", "contradiction") in the order of the'
                " model's output.",
            )
        contradiction = next(
            (at for at, label in enumerate(labels) if label.startswith(("contradict", "refute"))),
            None,
        )
        return entailment, contradiction


def _existing(place: Path, names: Sequence[str], what: str, itself: str = "-") -> Path:
    if place.suffix == itself and place.is_file():
        return place
    found = next((place / name for name in names if (place / name).is_file()), None)
    if found is None:
        raise ConfigError(
            f"no {what} at {str(place)!r}",
            hint="Name a folder with model.onnx, tokenizer.json and config.json.",
        )
    return found
