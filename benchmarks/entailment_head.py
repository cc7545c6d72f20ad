"""A tiny entailment model, learned here, so that the judge for such models can be measured.

    python benchmarks/entailment_head.py FOLDER MODEL
    ragpg eval-grounding FOLDER --nli MODEL --pairs 0

FOLDER is as for `ragpg eval-grounding`: corpus.jsonl and claims.jsonl with labels. The claims of the
split "train" and nothing else are learned from. MODEL becomes a folder as NLIJudge reads it:
model.onnx, tokenizer.json, config.json.

The model is the frozen encoder all-MiniLM-L6-v2 over premise and hypothesis, each alone; u and v are
the unit vectors of the two, and a logistic regression over u, v, |u - v| and u * v gives entailment,
neutral or contradiction. The strength of its penalty is chosen by cross-validation over the claims.

    --spans 1       spans of evidence a claim that are learned from, the best ones by words
    --folds 4
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, compose, helper, numpy_helper

from ragpg.evaluate.grounding import read_claims
from ragpg.evaluate.separation import area_under_curve
from ragpg.onnx_model import OnnxModel, open_model, probabilities
from ragpg.providers.onnx import built_in_files
from ragpg.query.evidence import Spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ragpg.evaluate.grounding import LabelledClaim

CLASSES = ("SUPPORT", "NOINFO", "CONTRADICT")
LABELS = {0: "entailment", 1: "neutral", 2: "contradiction"}
PENALTIES = (0.003, 0.01, 0.03, 0.1)
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def main() -> None:
    """Learn, say what cross-validation gave, and write the folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--spans", type=int, default=1)
    parser.add_argument("--folds", type=int, default=4)
    options = parser.parse_args()
    claims = [one for one in read_claims(options.folder) if one.split == "train"]
    options.model.mkdir(parents=True, exist_ok=True)
    weights, vocabulary = built_in_files()
    shutil.copy(vocabulary, options.model / "tokenizer.json")
    labels = {str(place): name for place, name in LABELS.items()}
    (options.model / "config.json").write_text(json.dumps({"id2label": labels}))

    features = save(weights, options.model / "features.onnx", None)
    encoder = open_model(features, vocabulary, max_tokens=512, threads=2)
    rows, owners = _features(encoder, claims, options.spans)
    features.unlink()
    targets = np.array([CLASSES.index(claims[owner].label) for owner in owners])
    areas = {
        one: _validated(rows, targets, owners, claims, one, options.folds) for one in PENALTIES
    }
    for penalty, area in areas.items():
        print(f"penalty {penalty:<6} AUC of supported against all others {area:.3f}")
    best = max(areas, key=lambda one: areas[one])
    save(weights, options.model / "model.onnx", fit(rows, targets, best))
    print(f"learned from {len(claims)} claims, {len(rows)} spans, penalty {best}: {options.model}")


def fit(
    rows: NDArray[Any], targets: NDArray[Any], penalty: float, steps: int = 100
) -> NDArray[Any]:
    """Weights of a logistic regression, features and a last row of biases x classes; each class
    counts alike. Gradient descent with Nesterov's momentum from zero: the same every time."""
    inputs = np.hstack([rows, np.ones((len(rows), 1))]).astype(np.float32)
    wanted = np.eye(len(CLASSES), dtype=np.float32)[targets]
    counts = wanted.sum(axis=0)
    shares = (1 / (len(CLASSES) * np.maximum(counts, 1)))[targets][:, None]
    shares = shares.astype(np.float32)
    weights = np.zeros((inputs.shape[1], len(CLASSES)), dtype=np.float32)
    decay = np.full_like(weights, penalty)
    decay[-1] = 0
    # No step may be longer than the curvature allows; the shares add up to one.
    curvature = 0.5 * (inputs**2).sum(axis=1).max() + penalty
    speed = np.zeros_like(weights)
    for step in range(steps):
        ahead = weights + speed * np.float32(step / (step + 3))
        error = (probabilities(inputs @ ahead) - wanted) * shares
        found = ahead - (inputs.T @ error + decay * ahead) / np.float32(curvature)
        weights, speed = found, found - weights
    return weights


def save(encoder: Path, path: Path, head: NDArray[Any] | None) -> Path:
    """Write the encoder with what comes before and after it as one model for pairs of texts, as
    tokenizers join them. Without a head its output is the features."""
    inner = onnx.load(str(encoder))
    opsets = {one.domain: one.version for one in inner.opset_import}
    whole = compose.merge_models(
        _split(opsets, inner.ir_version),
        compose.add_prefix(inner, "encoder/"),
        io_map=[(f"{name}2", f"encoder/{name}") for name in _INPUTS],
        outputs=["attention_mask2", "encoder/last_hidden_state"],
    )
    whole = compose.merge_models(
        whole,
        _compared(opsets, inner.ir_version, head),
        io_map=[("encoder/last_hidden_state", "states"), ("attention_mask2", "mask")],
    )
    onnx.save(whole, str(path))
    return path


def _split(opsets: dict[str, int], version: int) -> onnx.ModelProto:
    """Makes two rows of each pair: of one only the tokens of the first text are seen, of the other
    those of the second one and the mark of the beginning, which the encoder is used to. The second
    text keeps its places behind the first, so its vector is near the one that it has alone."""
    numbers = {"none": 0, "one": 1, "far": 2**31 - 1}
    nodes = [
        helper.make_node("Mul", ["attention_mask", "token_type_ids"], ["behind"]),
        helper.make_node("Sub", ["attention_mask", "behind"], ["first"]),
        helper.make_node("Slice", ["attention_mask", "none", "one", "one"], ["mark"]),
        helper.make_node("Slice", ["behind", "one", "far", "one"], ["text"]),
        helper.make_node("Concat", ["mark", "text"], ["second"], axis=1),
        helper.make_node("Concat", ["first", "second"], ["attention_mask2"], axis=0),
        helper.make_node("Concat", ["input_ids", "input_ids"], ["input_ids2"], axis=0),
        helper.make_node("Sub", ["input_ids2", "input_ids2"], ["token_type_ids2"]),
    ]
    ends = [(name, TensorProto.INT64, ["batch", "sequence"]) for name in _INPUTS]
    graph = helper.make_graph(
        nodes,
        "split",
        [helper.make_tensor_value_info(*one) for one in ends],
        [helper.make_tensor_value_info(f"{name}2", kind, ["rows", "sequence"])
         for name, kind, _ in ends],
        [numpy_helper.from_array(np.array([value], np.int64), name)
         for name, value in numbers.items()],
    )  # fmt: skip
    return _model(graph, opsets, version)


def _compared(opsets: dict[str, int], version: int, head: NDArray[Any] | None) -> onnx.ModelProto:
    """Unit vectors u and v of the two texts, u, v, |u - v|, u * v, and the classes."""
    constants = {"last": np.array([2], np.int64), "middle": np.array([1], np.int64)}
    nodes = [
        helper.make_node("Cast", ["mask"], ["seen"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["seen", "last"], ["wide"]),
        helper.make_node("Mul", ["states", "wide"], ["kept"]),
        # The length of a vector is lost below: a sum is as good as a mean.
        helper.make_node("ReduceSum", ["kept", "middle"], ["sums"], keepdims=0),
        helper.make_node("LpNormalization", ["sums"], ["units"], axis=1, p=2),
        helper.make_node("Split", ["units"], ["u", "v"], axis=0),
        helper.make_node("Sub", ["u", "v"], ["difference"]),
        helper.make_node("Abs", ["difference"], ["distance"]),
        helper.make_node("Mul", ["u", "v"], ["product"]),
        helper.make_node("Concat", ["u", "v", "distance", "product"], ["features"], axis=1),
    ]
    output = "features"
    if head is not None:
        constants |= {
            "weights": head[:-1].astype(np.float32),
            "biases": head[-1].astype(np.float32),
        }
        nodes.append(helper.make_node("Gemm", ["features", "weights", "biases"], ["logits"]))
        output = "logits"
    graph = helper.make_graph(
        nodes,
        "compared",
        [
            helper.make_tensor_value_info("states", TensorProto.FLOAT, ["rows", "sequence", 384]),
            helper.make_tensor_value_info("mask", TensorProto.INT64, ["rows", "sequence"]),
        ],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", "width"])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return _model(graph, opsets, version)


def _model(graph: onnx.GraphProto, opsets: dict[str, int], version: int) -> onnx.ModelProto:
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=version)


def _features(
    encoder: OnnxModel, claims: Sequence[LabelledClaim], spans: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows of features, and the claim that each belongs to."""
    texts, owners = [], []
    for owner, one in enumerate(claims):
        for found in Spans(one.hits).candidates(one.claim, [], spans):
            # As NLIJudge puts it.
            texts.append((f"{found.pair.heading}\n{found.pair.evidence}", found.pair.claim))
            owners.append(owner)
    encodings = encoder.encode(texts)
    order = sorted(range(len(texts)), key=lambda at: len(encodings[at].ids))
    rows: dict[int, Any] = {}
    for start in range(0, len(order), 16):
        batch = order[start : start + 16]
        rows |= zip(batch, encoder.logits([encodings[at] for at in batch]), strict=True)
    return np.array([rows[at] for at in range(len(texts))]), np.array(owners)


def _validated(
    rows: NDArray[Any],
    targets: NDArray[Any],
    owners: NDArray[Any],
    claims: Sequence[LabelledClaim],
    penalty: float,
    folds: int,
) -> float:
    """Area under the curve over claims that were not learned from; a claim has its best span."""
    support = np.zeros(len(claims))
    for fold in range(folds):
        out = owners % folds == fold
        weights = fit(rows[~out], targets[~out], penalty)
        values = probabilities(rows[out] @ weights[:-1] + weights[-1])[:, 0]
        np.maximum.at(support, owners[out], values)
    true = np.array([one.label == "SUPPORT" for one in claims])
    return area_under_curve(support[true].tolist(), support[~true].tolist())


if __name__ == "__main__":
    main()
