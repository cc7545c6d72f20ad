"""An entailment model from an ONNX file, so small that its probabilities can be worked out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ragpg.errors import ConfigError
from ragpg.judges.nli import NLIJudge
from ragpg.query.ground import ground
from ragpg.types import Hit, Pair

if TYPE_CHECKING:
    from pathlib import Path

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
tokenizers = pytest.importorskip("tokenizers")

WORDS = ["[PAD]", "[CLS]", "[SEP]", "yes", "no", "perhaps"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Classes contradiction, entailment, neutral; each "yes", "no" or "perhaps" of the claim (its
    tokens are of type 1) adds 3 to the logit of one of them."""
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[PAD]")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    weights = np.zeros((len(WORDS), 3), dtype=np.float32)
    weights[WORDS.index("no"), 0] = weights[WORDS.index("yes"), 1] = 3.0
    weights[WORDS.index("perhaps"), 2] = 3.0
    helper, kinds = onnx.helper, onnx.TensorProto
    nodes = [
        helper.make_node("Gather", ["weights", "input_ids"], ["worth"]),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=kinds.FLOAT),
        helper.make_node("Unsqueeze", ["second", "last"], ["wide"]),
        helper.make_node("Mul", ["worth", "wide"], ["claim"]),
        helper.make_node("ReduceSum", ["claim", "axis"], ["logits"], keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [
            helper.make_tensor_value_info(name, kinds.INT64, ["n", "t"])
            for name in ("input_ids", "token_type_ids")
        ],
        [helper.make_tensor_value_info("logits", kinds.FLOAT, ["n", 3])],
        [
            onnx.numpy_helper.from_array(weights, "weights"),
            onnx.numpy_helper.from_array(np.array([1], dtype=np.int64), "axis"),
            onnx.numpy_helper.from_array(np.array([2], dtype=np.int64), "last"),
        ],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(made, str(tmp_path / "model.onnx"))
    labels = {"0": "CONTRADICTION", "1": "entailment", "2": "neutral"}
    (tmp_path / "config.json").write_text(json.dumps({"id2label": labels}))
    return tmp_path


def test_classes_become_verdicts(model: Path) -> None:
    claims = ["yes", "no", "perhaps perhaps", "yes perhaps", "yes yes no"]
    found = NLIJudge(model, batch_size=2).judge([Pair(claim, "no no no") for claim in claims])
    assert [one.verdict for one in found] == [
        "supported",
        "contradicted",
        "unsupported",
        "partial",
        "supported",
    ]
    assert found[0].support == pytest.approx(np.exp(3) / (np.exp(3) + 2), abs=1e-4)
    assert "contradiction (0.91)" in found[1].reasons[0]


def test_it_grounds_an_answer(model: Path) -> None:
    hits = [Hit(1, 1.0, "default", "a.md", "Lamps say something here.")]
    found = ground("Lamps say yes.", hits, NLIJudge(model))
    assert found.claims[0].verdict == "supported"
    assert found.judge == f"nli ({model.name})"
    assert ground("Lamps say no.", hits, NLIJudge(model)).claims[0].verdict == "contradicted"


def test_a_model_that_cannot_be_used_says_why_and_the_lexical_judge_stands_in(model: Path) -> None:
    (model / "config.json").write_text(json.dumps({"id2label": {"0": "LABEL_0", "1": "LABEL_1"}}))
    with pytest.raises(ConfigError, match="which class is entailment"):
        NLIJudge(model).judge([Pair("yes", "yes")])
    given = NLIJudge(model, labels=("contradiction", "entailment", "neutral"))
    assert given.judge([Pair("yes", "yes")])[0].verdict == "supported"
    hits = [Hit(1, 1.0, "default", "a.md", "Lamps say yes.")]
    found = ground("Lamps say yes.", hits, NLIJudge(model / "nowhere"))
    assert found.claims[0].verdict == "supported"
    assert "no ONNX model" in found.notes[0]
