"""Verdicts on claims: overlap, and the disagreements that overlap cannot see."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ragpg.query.claims import extract_claims
from ragpg.query.ground import ground
from ragpg.query.grounding_report import render_grounding
from ragpg.query.quantities import quantities
from ragpg.query.verdict_marks import mark_answer
from ragpg.types import Hit

if TYPE_CHECKING:
    from ragpg.types import Grounding


def hit(text: str, source: str = "a.md", **more: Any) -> Hit:
    return Hit(1, 1.0, "default", source, text, **more)


def verdicts(answer: str, *sources: str) -> list[str]:
    return [claim.verdict for claim in ground(answer, [hit(text) for text in sources]).claims]


WRONG = ("contradicted", "unsupported")
SHIPPING = "The supplier pays for return shipping within the first year."


@pytest.mark.case("CI-03")
def test_a_negated_or_turned_claim_is_not_supported_ci_03() -> None:
    assert verdicts(SHIPPING, SHIPPING) == ["supported"]
    for claim in (
        "The supplier does not pay for return shipping within the first year.",
        "The supplier pays for return shipping only after the first year.",
        "The customer pays for return shipping within the first year.",
    ):
        assert verdicts(claim, SHIPPING)[0] in ("contradicted", "unsupported"), claim
        assert ground(claim, [hit(SHIPPING)]).claims[0].reasons


REFUNDS = "Refunds are paid within 14 days; the fee is 2.5 % from 3 March 2025, at most 40 EUR."


@pytest.mark.case("CI-04")
def test_changed_numbers_dates_and_units_are_not_supported_ci_04() -> None:
    assert verdicts("Refunds are paid within 14 days.", REFUNDS) == ["supported"]
    for claim, reason in (
        ("Refunds are paid within 41 days.", "number '41 days' is not in the evidence"),
        ("Refunds are paid within 14 weeks.", "'14 weeks', the evidence '14 days'"),
        ("The fee is 25 % from 3 March 2025.", "number '25 %' is not in the evidence"),
        ("The fee is 2.5 % from 3 May 2025.", "date '3 May 2025' is not in the evidence"),
        ("The fee is at most 40 USD.", "'40 usd', the evidence '40 eur'"),
        ("The fee is at least 40 EUR.", "'40' is a lower bound in the claim"),
    ):
        (found,) = ground(claim, [hit(REFUNDS)]).claims
        assert found.verdict == "contradicted", claim
        assert reason in " ".join(found.reasons)


@pytest.mark.case("EV-03")
@pytest.mark.parametrize(
    "answer", ["I could not find this in the documents.", "", "OK.", "42", "I don't know."]
)
@pytest.mark.parametrize("texts", [[], ["some text"]])
def test_an_answer_without_claims_has_no_confidence_ev_03(answer: str, texts: list[str]) -> None:
    grounding = ground(answer, [hit(text) for text in texts])
    assert grounding.confidence is None
    assert grounding.state == "no claims"
    assert "no claims" in render_grounding(grounding)


@pytest.mark.case("KW-10")
def test_ligatures_and_soft_hyphens_do_not_hide_support_kw_10() -> None:
    assert verdicts(
        "The first classification is sufficient.", "The ﬁrst classiﬁcation is suﬃcient."
    ) == ["supported"]
    assert verdicts(
        "Donaudampfer nutzen Wasserkraft.", "Donau\u00ad\ndampfer nutzen Wasser\u00adkraft."
    ) == ["supported"]


def load_pairs() -> Any:
    """The pairs lie beside this file, which is no package."""
    path = Path(__file__).with_name("grounding_pairs.py")
    spec = importlib.util.spec_from_file_location("grounding_pairs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "catches", "false_alarms"), [("BLOCKS", 0.97, 0.03), ("HELD_OUT", 0.9, 0.08)]
)
def test_changed_claims_are_caught_and_true_ones_pass(
    name: str, catches: float, false_alarms: float
) -> None:
    module = load_pairs()
    pairs = module.pairs_of(getattr(module, name))
    changed = [(source, claim) for source, claim, true in pairs if not true]
    true = [(source, claim) for source, claim, true in pairs if true]
    assert len(changed) >= 40
    assert len(true) >= 26
    missed = [claim for source, claim in changed if verdicts(claim, source) == ["supported"]]
    alarms = [claim for source, claim in true if verdicts(claim, source) != ["supported"]]
    assert len(missed) <= (1 - catches) * len(changed) + 1e-9, missed
    assert len(alarms) <= false_alarms * len(true), alarms


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        (
            "退款在14天内支付。",
            ["退款在41天内支付。", "退款在14周内支付。", "退款不在14天内支付。"],
        ),
        (
            "返金は14日以内に支払われます。",
            ["返金は14週間以内に支払われます。", "返金は14日以内に支払われません。"],
        ),
        ("환불은 14일 이내에 지급됩니다.", ["환불은 41일 이내에 지급됩니다."]),
    ],
)
def test_numbers_units_and_negation_in_scripts_without_blanks(
    source: str, changed: list[str]
) -> None:
    assert verdicts(source, source) == ["supported"]
    for claim in changed:
        assert verdicts(claim, source) == ["contradicted"], claim


def test_confidence_counts_partial_claims_half() -> None:
    source = "Keys rotate every 90 days. The office has a red door."
    answer = (
        "Keys rotate every 90 days. Red doors suit big offices, says everybody visiting Paris."
        " Bananas grow quickly."
    )
    grounding = ground(answer, [hit(source)])
    states = [claim.verdict for claim in grounding.claims]
    assert states == ["supported", "unsupported", "unsupported"]
    assert grounding.confidence == pytest.approx(1 / 3)
    partial = ground("The red colour suits old doors well.", [hit(source)])
    assert [claim.verdict for claim in partial.claims] == ["partial"]
    assert partial.confidence == 0.5


def test_evidence_is_an_exact_span_of_the_hit() -> None:
    text = "Intro here. Keys rotate every 90 days. Then they expire."
    (claim,) = ground("Keys rotate every 90 days [2].", [hit("Nothing."), hit(text)]).claims
    (evidence,) = claim.evidence
    assert evidence.number == 2
    assert evidence.quote == text[evidence.start : evidence.end] == "Keys rotate every 90 days."
    assert claim.cited == [2]
    assert claim.reasons == []


def test_evidence_may_run_over_two_sentences_and_the_title_names_the_subject() -> None:
    assert verdicts(
        "The pump starts at noon and empties the basin.",
        "The pump starts at noon. It then empties the basin.",
    ) == ["supported"]
    hits = [hit("It was written in 1993.", title="Demon Dice")]
    assert ground("Demon Dice was written in 1993.", hits).claims[0].verdict == "supported"


def test_a_wrong_citation_is_reported() -> None:
    hits = [hit("Cats sleep a lot."), hit("Keys rotate every 90 days.")]
    (claim,) = ground("Keys rotate every 90 days [1].", hits).claims
    assert claim.verdict == "supported"
    assert claim.reasons == ["the evidence is in [2], not in the cited [1]"]
    (claim,) = ground("Keys rotate every 90 days [5].", hits).claims
    assert claim.reasons == ["[5] names no source: there are 2"]


def test_contradiction_outweighs_weak_agreement_elsewhere() -> None:
    assert verdicts(
        "The supplier does not pay for return shipping within the first year.",
        SHIPPING,
        "The first supplier is paid every year for shipping.",
    ) == ["contradicted"]


def test_sources_that_differ_support_either() -> None:
    sources = ("Refunds are paid within 14 days.", "Refunds are paid within 30 days.")
    assert verdicts("Refunds are paid within 30 days.", *sources) == ["supported"]


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("Hello! Keys rotate [1]. Is that so? See the manual.", ["Keys rotate [1]."]),
        ("# A heading\n\n- Fees are 5 EUR.\n1. Keys rotate.", ["Fees are 5 EUR.", "Keys rotate."]),
        ("Here are the facts:\n\nKeys rotate.", ["Keys rotate."]),
        ("```\nkeys = rotate.\n```\nDone here now.", ["Done here now."]),
        ("Keys rotate.\n\nSources:\n[1] a.md (lines 1-5)", ["Keys rotate."]),
        ("Set theory is old. Set the value.", ["Set theory is old."]),
        ("Please restart. Thanks! Let me know. I hope this helps.", []),
        ("The sources do not mention the price.", []),
        ("Yes, keys rotate every 90 days.", ["Yes, keys rotate every 90 days."]),
        ("日本語のテストです。", ["日本語のテストです。"]),
    ],
)
def test_claims_are_the_assertive_sentences(answer: str, claims: list[str]) -> None:
    found = extract_claims(answer)
    assert [claim.text for claim in found] == claims
    assert all(answer[claim.start : claim.end] == claim.text for claim in found)


def answered() -> Grounding:
    answer = "Keys rotate every 90 days [1]. They are made of cheese. Keys rotate every 10 days."
    return ground(answer, [hit("Keys rotate every 90 days.", "keys.md")])


@pytest.mark.parametrize(
    ("claim", "evidence", "verdict"),
    [
        ("The fee is 5 %.", "The fee is five percent.", "supported"),
        ("The fee is 6%.", "The fee is 5 percent.", "contradicted"),
        ("The limit is 1.000 Benutzer.", "The limit is 1000 Benutzer.", "supported"),
        ("The route is 10 km long.", "The route is 10,000 m long.", "supported"),
        ("The route is 10 km long.", "The route is 1,000 m long.", "contradicted"),
        ("The file holds 2 GB of data.", "The file holds 2000 MB of data.", "supported"),
        ("It starts on March 3rd, 2025.", "It starts on 2025-03-03.", "supported"),
        ("It starts on 4 March 2025.", "It starts on 2025-03-03.", "contradicted"),
        ("It opens at 5 pm.", "It opens at 5 am.", "contradicted"),
        ("The temperature is -5 °C.", "The temperature is 5 °C.", "contradicted"),
        ("It is not impossible to export data.", "It is possible to export data.", "supported"),
        ("Exports are not allowed.", "Exports are not disallowed.", "contradicted"),
        ("Срок не продлевается.", "Срок продлевается.", "contradicted"),
        ("De termijn geldt niet.", "De termijn geldt.", "contradicted"),
        ("تستغرق المبالغ ١٥ يومًا.", "تستغرق المبالغ ١٤ يومًا.", "contradicted"),
    ],
)
def test_units_dates_signs_and_double_negation(claim: str, evidence: str, verdict: str) -> None:
    [found] = ground(claim, [hit(evidence)]).claims
    assert found.verdict == verdict, found.reasons


def test_rows_of_a_table_are_claims_of_their_own() -> None:
    table = "| Plan | Price |\n|---|---|\n| Basic plan | 5 EUR |\n| Pro plan | 9 EUR |"
    found = ground(table, [hit("The basic plan costs 5 EUR. The pro plan costs 10 EUR.")])
    assert [(one.text, one.verdict) for one in found.claims] == [
        ("| Basic plan | 5 EUR |", "supported"),
        ("| Pro plan | 9 EUR |", "contradicted"),
    ]


def test_an_answer_of_any_length_is_grounded_in_linear_time() -> None:
    # Each of these took minutes where markers, code or names were searched from the beginning.
    long = ["`" * 200_000, "«" * 200_000, "\n" * 200_000]
    for text in ("[1]" * 20_000, *long, "Keys [1] " * 4_000, "Aa Bb Cc " * 6_000):
        ground(text, [hit("Keys rotate every 90 days.")])
    many = " ".join(f"Keys rotate every 90 days [{at}]." for at in range(1, 1001))
    found = ground(many, [hit("Keys rotate every 90 days.")])
    assert len(found.claims) == 1000
    assert len(found.bad_citations) == 999


def test_unsupported_claims_can_be_marked_or_dropped() -> None:
    assert mark_answer(answered()) == (
        "Keys rotate every 90 days [1]. They are made of cheese. [unsupported] "
        "Keys rotate every 10 days. [contradicted]"
    )
    assert mark_answer(answered(), "drop") == "Keys rotate every 90 days [1]."
    listed = ground("- Keys rotate.\n- Cheese is blue.\n- Keys rotate.", [hit("Keys rotate.")])
    assert mark_answer(listed, "drop") == "- Keys rotate.\n- Keys rotate."


def test_the_report_names_verdict_reason_and_evidence() -> None:
    report = render_grounding(answered())
    assert "+ supported (1.00)  Keys rotate every 90 days [1]." in report
    assert "    [1] keys.md: Keys rotate every 90 days." in report
    assert "    number '10 days' is not in the evidence, which has 90 days" in report
    assert "confidence 0.33: contradicted" in report


@pytest.mark.parametrize(
    "text",
    ["", "\ud83d lone.", "((((", "1" * 400 + " days.", "a" * 20_000, "[1]" * 500, "½ ① ٣ x²."],
)
def test_any_text_can_be_checked(text: str) -> None:
    ground(text, [hit(text)])
    ground("Keys rotate every 90 days.", [hit(text)])
    ground(text, [])


@pytest.mark.parametrize(
    ("text", "values", "dimension", "bound"),
    [
        ("at most 40 EUR", {40.0}, "EUR", "max"),
        ("no less than 2 weeks", {1_209_600.0}, "time", "min"),
        ("$5m", {5_000_000.0}, "USD", ""),
        ("1,000 users", {1000.0}, "", ""),
        ("1.000 Nutzer", {1.0, 1000.0}, "", ""),
        ("2,5 %", {2.5}, "percent", ""),
        ("twenty-five users", {25.0}, "", ""),
        ("three million", {3_000_000.0}, "", ""),
        ("14 business days", {1_209_600.0}, "time", ""),
        ("-5 °C", {-5.0}, "celsius", ""),
        ("does not exceed 10 ms", {0.01}, "time", "max"),
    ],
)
def test_quantities_are_read_with_unit_and_bound(
    text: str, values: set[float], dimension: str, bound: str
) -> None:
    (one,), dates = quantities(text)
    assert (set(one.values), one.dimension, one.bound) == (values, dimension, bound)
    assert dates == []


def test_dates_are_read_in_any_form() -> None:
    for text in ("3 March 2025", "March 3, 2025", "2025-03-03", "3rd of March 2025", "03.03.2025"):
        numbers, (date,) = quantities(text)
        assert (date.year, date.month, date.day) == (2025, 3, 3), text
        assert numbers == []
    assert quantities("users may 3 times")[1] == []
    assert quantities("utf-8 on us-east-1") == ([], [])


@pytest.mark.parametrize(
    "frame",
    [
        "Here is the answer: {}",
        "I'm happy to help: {}",
        "Hello, {}",
        "I'm sorry, but {}",
        "I do not know why, but {}",
        "I could not find the reason; however, {}",
        "Note that {}",
        "Please note: {}",
        "In summary, {}",
        "Sure, {}",
    ],
)
def test_a_claim_behind_polite_words_is_a_claim(frame: str) -> None:
    source = "Keys rotate every 90 days."
    assert verdicts(frame.format("keys rotate every 90 days."), source) == ["supported"]
    assert verdicts(frame.format("keys rotate every 41 days."), source)[0] in WRONG


@pytest.mark.parametrize(
    "answer",
    [
        "I could not find this, but I can help with other keys.",
        "I could not find this, but you may want to ask the key office.",
        "I could not find this in the sources, but the documents do not mention it.",
        "Let me know: is it the keys?",
        "Thanks, bye.",
        "Note the fee.",
        "I hope this helps, and good luck with the keys.",
    ],
)
def test_polite_words_alone_claim_nothing(answer: str) -> None:
    assert extract_claims(answer) == []


def test_tags_of_emphasis_are_no_part_of_a_claim() -> None:
    assert verdicts("Keys rotate every <b>90</b> days.", "Keys rotate every 90 days.") == [
        "supported"
    ]


def test_the_number_of_a_day_ends_no_claim() -> None:
    answer = "Der Vertrag beginnt am 3. März 2025. Er hat die Nummer 3. Kosten fallen keine an."
    texts = [claim.text for claim in extract_claims(answer)]
    assert (texts[0], len(texts)) == ("Der Vertrag beginnt am 3. März 2025.", 3)
