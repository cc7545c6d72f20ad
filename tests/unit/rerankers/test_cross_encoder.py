"""A cross-encoder from an ONNX file, with a model so small that its scores can be worked out."""

from __future__ import annotations

import math
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from ragpg.errors import ConfigError, ProviderError
from ragpg.rerankers.cross_encoder import ONNXReranker, SentenceTransformersReranker

from .hits import hits_of, texts_of

if TYPE_CHECKING:
    from pathlib import Path

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
tokenizers = pytest.importorskip("tokenizers")

WORDS = ["[PAD]", "[CLS]", "[SEP]", "key", "keys", "rotate", "lake", "trout", "the"]


def write_tokenizer(folder: Path) -> None:
    """Words by white space, as BERT puts two texts together."""
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="the")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    tokenizer.save(str(folder / "tokenizer.json"))


def write_model(path: Path, outputs: int = 1, *, types: bool = True) -> None:
    """logit = sum of weight[id] over the passage's tokens (those of type 1); two outputs: -x, x."""
    helper = onnx.helper
    weights = np.zeros(len(WORDS), dtype=np.float32)
    weights[[WORDS.index("keys"), WORDS.index("rotate")]] = 1.0
    weights[WORDS.index("trout")] = -2.0
    signs = np.array([[1.0]] if outputs == 1 else [[-1.0, 1.0]], dtype=np.float32)
    inputs = [
        helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["n", "t"])
        for name in ("input_ids", "attention_mask", *(["token_type_ids"] if types else []))
    ]
    nodes = [
        helper.make_node("Gather", ["weights", "input_ids"], ["worth"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Mul", ["worth", "mask"], ["seen"]),
        helper.make_node(
            "Cast",
            ["token_type_ids" if types else "attention_mask"],
            ["second"],
            to=onnx.TensorProto.FLOAT,
        ),
        helper.make_node("Mul", ["seen", "second"], ["passage"]),
        helper.make_node("ReduceSum", ["passage", "axis"], ["sum"], keepdims=1),
        helper.make_node("MatMul", ["sum", "signs"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        inputs,
        [helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, ["n", outputs])],
        [
            onnx.numpy_helper.from_array(weights, "weights"),
            onnx.numpy_helper.from_array(signs, "signs"),
            onnx.numpy_helper.from_array(np.array([1], dtype=np.int64), "axis"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(path))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    folder.mkdir()
    write_tokenizer(folder)
    write_model(folder / "model.onnx")
    return folder


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


TEXTS = ("the lake", "rotate the keys", "trout", "keys")


def test_hits_are_ordered_by_the_probability_of_one_logit(folder: Path) -> None:
    reranker = ONNXReranker(folder)
    after = reranker.rerank("rotate keys", hits_of(*TEXTS))
    assert texts_of(after) == ["rotate the keys", "keys", "the lake", "trout"]
    expected = [sigmoid(2), sigmoid(1), 0.5, sigmoid(-2)]
    assert [hit.score for hit in after] == pytest.approx(expected)
    assert {hit.score_kind for hit in after} == {"tiny"}
    raw = ONNXReranker(folder / "model.onnx", activation="none")
    assert raw.name == "model"
    assert raw.scores("q", TEXTS) == pytest.approx([0, 2, -2, 1])


def test_of_two_logits_the_last_one_is_the_relevant_class(folder: Path, tmp_path: Path) -> None:
    write_model(tmp_path / "two.onnx", outputs=2)
    reranker = ONNXReranker(tmp_path / "two.onnx", tokenizer=folder / "tokenizer.json")
    assert reranker.scores("q", TEXTS) == pytest.approx([0.5, sigmoid(4), sigmoid(-4), sigmoid(2)])


def test_a_model_without_token_types_is_fed_what_it_takes(folder: Path, tmp_path: Path) -> None:
    write_model(tmp_path / "model.onnx", types=False)
    reranker = ONNXReranker(tmp_path, tokenizer=folder / "tokenizer.json", activation="none")
    assert reranker.scores("trout", ["keys"]) == pytest.approx([-1])


def test_scores_do_not_depend_on_the_batch(folder: Path) -> None:
    texts = [f"{'the ' * n}keys" for n in range(9)]
    together = ONNXReranker(folder, batch_size=4).scores("q", texts)
    alone = [ONNXReranker(folder).scores("q", [text])[0] for text in texts]
    assert together == alone == pytest.approx([sigmoid(1)] * 9)
    assert ONNXReranker(folder).scores("q", []) == []


def test_a_long_query_leaves_room_and_a_long_passage_is_cut(folder: Path) -> None:
    reranker = ONNXReranker(folder, max_tokens=32, activation="none")
    # 3 markers, 16 tokens of the query: 13 of the passage are read.
    assert reranker.scores("the " * 500, ["keys " * 500]) == [13]
    assert reranker.scores("", ["keys"]) == [1]


def test_only_the_first_hits_are_scored(folder: Path) -> None:
    after = ONNXReranker(folder, candidates=2).rerank("q", hits_of("the", "keys", "rotate keys"))
    assert texts_of(after) == ["keys", "the", "rotate keys"]
    assert after[2].score_kind == "fused"


def test_what_is_missing_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no ONNX model"):
        ONNXReranker(tmp_path).scores("q", ["a"])
    write_model(tmp_path / "model.onnx")
    with pytest.raises(ConfigError, match="no tokenizer"):
        ONNXReranker(tmp_path).scores("q", ["a"])
    with pytest.raises(ConfigError, match="max_tokens"):
        ONNXReranker(folder, max_tokens=4)


def test_an_encoder_of_tokens_is_refused(folder: Path, tmp_path: Path) -> None:
    helper = onnx.helper
    graph = helper.make_graph(
        [
            helper.make_node("Identity", ["input_ids"], ["out"]),
            helper.make_node("Unsqueeze", ["out", "axis"], ["states"]),
        ],
        "encoder",
        [helper.make_tensor_value_info("input_ids", onnx.TensorProto.INT64, ["n", "t"])],
        [helper.make_tensor_value_info("states", onnx.TensorProto.INT64, ["n", "t", 1])],
        [onnx.numpy_helper.from_array(np.array([2], dtype=np.int64), "axis")],
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9),
        str(tmp_path / "model.onnx"),
    )
    reranker = ONNXReranker(tmp_path, tokenizer=folder / "tokenizer.json")
    with pytest.raises(ProviderError, match="no cross-encoder"):
        reranker.scores("q", ["a"])


class Encoder:
    """The part of sentence_transformers.CrossEncoder that is used."""

    def __init__(self, name: str = "", **options: Any) -> None:
        self.name, self.options = name, options

    def predict(self, pairs: Any, **options: Any) -> Any:
        assert options == {"batch_size": 16, "show_progress_bar": False}
        return np.array([float(len(text)) for _, text in pairs])


def test_a_cross_encoder_of_sentence_transformers_is_used_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    library = ModuleType("sentence_transformers")
    library.CrossEncoder = Encoder  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    reranker = SentenceTransformersReranker("some/model", device="cpu")
    after = reranker.rerank("q", hits_of("a", "ccc", "bb"))
    assert texts_of(after) == ["ccc", "bb", "a"]
    assert {hit.score_kind for hit in after} == {"some/model"}
    assert reranker._encoder.options == {"device": "cpu"}


def test_a_ready_encoder_is_taken_and_a_missing_library_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert texts_of(SentenceTransformersReranker(Encoder()).rerank("q", hits_of("a", "bb"))) == [
        "bb",
        "a",
    ]
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigError, match="needs sentence-transformers"):
        SentenceTransformersReranker("x").rerank("q", hits_of("a"))
