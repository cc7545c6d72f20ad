"""Counting tokens: the estimate is never below real tokenizers, control strings are text."""

from __future__ import annotations

import hashlib
import random
import string
from base64 import b64encode
from pathlib import Path

import pytest

import ragpg.tokens
from ragpg.demo.corpus import sections
from ragpg.errors import ConfigError
from ragpg.tokens import counter_for_model, estimate_tokens, token_counter

WORDPIECE = Path(ragpg.tokens.__file__).parent / "providers" / "assets" / "minilm-tokenizer.json"
COUNTERS = ["cl100k_base", "o200k_base", str(WORDPIECE)]

PROSE = {
    "en": "The supplier pays for return shipping within the first year, at most 40 EUR a parcel.",
    "de": "Die Rücksendekosten übernimmt im ersten Jahr der Lieferant, höchstens 40 EUR je Paket.",
    "es": "El proveedor paga los gastos de devolución durante el primer año, como máximo 40 EUR.",
    "tr": "Tedarikçi ilk yıl boyunca iade kargo ücretini öder; paket başına en fazla 40 avro.",
    "vi": "Nhà cung cấp trả phí gửi trả hàng trong năm đầu tiên, tối đa 40 euro mỗi kiện.",
    "ru": "В первый год поставщик оплачивает обратную доставку, не более 40 евро за посылку.",
    "el": "Ο προμηθευτής πληρώνει τα έξοδα επιστροφής τον πρώτο χρόνο, έως 40 ευρώ ανά δέμα.",
    "ar": "يدفع المورد تكاليف شحن الإرجاع خلال السنة الأولى، بحد أقصى 40 يورو للطرد.",
    "he": "הספק משלם על משלוח ההחזרה בשנה הראשונה, לכל היותר 40 אירו לחבילה.",
    "hi": "आपूर्तिकर्ता पहले वर्ष में वापसी शिपिंग का भुगतान करता है, अधिकतम 40 यूरो प्रति पार्सल।",
    "th": "ผู้จัดจำหน่ายจ่ายค่าส่งคืนภายในปีแรก สูงสุด 40 ยูโรต่อพัสดุ",
    "zh": "供应商在第一年内支付退货运费，每个包裹最多40欧元。",
    "ja": "供給業者は最初の1年間、返品の送料を1個あたり最大40ユーロまで負担します。",
    "ko": "공급업체는 첫해 동안 소포당 최대 40유로까지 반품 배송비를 부담합니다.",
    "am": "አቅራቢው በመጀመሪያው ዓመት የመመለሻ ወጪን ይከፍላል።",
    "cy": "Rhiryd ap Bleddyn oedd brenin Powys; mab i Fleddyn ap Cynfyn a Haer ferch Cillin.",
    "names": "Pseudomonas syringae AvrRpm1, 2-(3,4-dihydroxyphenyl)-5,7-dihydroxychromen-4-one",
}
CODE = '''\
def complete_config(self, *, overrides: Mapping[str, Any] | None = None) -> "Config":
    """Fill what is missing."""
    if not overrides or overrides.get("__init__") != 0x7f3a:
        raise ValueError(f"bad overrides: {overrides!r}")
\treturn {**self._values, **{k.lower(): v for k, v in overrides.items()}}  # 1336-941
'''


def _random_texts() -> dict[str, str]:
    dice = random.Random(5)
    return {
        "base64": b64encode(dice.randbytes(600)).decode(),
        "hex": "".join(hashlib.sha256(bytes([n])).hexdigest() for n in range(8)),
        "uuid": " ".join(hashlib.md5(bytes([n])).hexdigest() for n in range(20)),
        "digits": "".join(dice.choices(string.digits, k=500)),
        "numbers": " ".join(str(dice.randrange(1000)) for _ in range(200)),
        "letters": "".join(dice.choices(string.ascii_lowercase, k=500)),
        "punctuation": "".join(dice.choices(string.punctuation, k=500)),
        "spaces": "a" + " " * 300 + "b\n" * 50 + "\t\tx\n" * 40,
        "emoji": "👩‍💻 works 🇫🇷 é " * 30 + "😀😃🫠🥰" * 10 + "🏳️‍🌈🏴󠁧󠁢󠁥󠁮󠁧󠁿👨‍👩‍👧‍👦" * 10,
        "rare characters": "".join(chr(dice.randrange(0x4E00, 0x9FFF)) for _ in range(300)),
        "mathematics": "∀ε>0 ∃δ: |f(x)−f(a)|≤ε ⇒ ∑ᵢ xᵢ² ∈ ℝⁿ ⟨ψ|φ⟩ " * 5,
        "boxes": "┌──┬──┐\n│ a│ b│\n└──┴──┘\n" * 8,
    }


@pytest.mark.parametrize("counter", COUNTERS, ids=["cl100k", "o200k", "wordpiece"])
def test_the_estimate_is_never_below_a_real_count(counter: str) -> None:
    count = token_counter(counter)
    texts = {**PROSE, "code": CODE, **_random_texts()}
    texts |= dict(sections())
    low = {
        name: (estimate_tokens(text), count(text))
        for name, text in texts.items()
        if estimate_tokens(text) < count(text)
    }
    assert len(texts) > 100
    assert not low


@pytest.mark.case("CH-12")
@pytest.mark.parametrize(
    "text", ["测试文本" * 3000, "a1b2-c3d4;" * 3000, "1 2 3 4 5 6 7 8 9 " * 1500]
)
def test_the_estimate_is_conservative_for_dense_text_ch_12(text: str) -> None:
    for counter in COUNTERS:
        assert estimate_tokens(text) >= token_counter(counter)(text)


def test_prose_is_estimated_within_reason() -> None:
    count = token_counter("o200k_base")
    text = " ".join(text for _, text in sections())[:100_000]
    assert count(text) <= estimate_tokens(text) <= 2.5 * count(text)


@pytest.mark.parametrize("counter", ["estimate", *COUNTERS])
def test_control_strings_and_lone_surrogates_are_text(counter: str) -> None:
    count = token_counter(counter)
    assert count("<|endoftext|>") > 2
    assert count("<|im_start|> </s> [SEP] \ud800") > 5
    assert count("") == 0


def test_models_have_their_encodings() -> None:
    text = "猫が好きです。" * 9
    assert token_counter("gpt-4o-mini")(text) == token_counter("o200k_base")(text)
    assert token_counter("gpt-4-turbo")(text) == token_counter("cl100k_base")(text)
    assert token_counter()(text) == token_counter("o200k_base")(text)
    assert counter_for_model("gpt-4.1")(text) == token_counter("o200k_base")(text)
    assert counter_for_model("llama3.1:8b") is estimate_tokens
    assert counter_for_model("gpt-4")(text) > counter_for_model("gpt-4o")(text)


def test_an_unknown_tokenizer_is_refused_with_the_choices(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no tokenizer 'nonsense'") as caught:
        token_counter("nonsense")
    assert "o200k_base" in str(caught.value)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ConfigError, match="is no tokenizer"):
        token_counter(tmp_path)


def test_without_the_package_the_estimate_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ragpg.tokens, "find_spec", lambda name: None)
    ragpg.tokens._installed.cache_clear()
    ragpg.tokens._openai.cache_clear()
    try:
        assert token_counter() is estimate_tokens
        assert counter_for_model("gpt-4o") is estimate_tokens
        with pytest.raises(ConfigError, match="bpe-openai"):
            token_counter("gpt-4o")
    finally:
        ragpg.tokens._installed.cache_clear()
        ragpg.tokens._openai.cache_clear()
