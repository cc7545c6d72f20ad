"""Judges are measured on labelled claims, and changed sentences of a manual are caught."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import ragpg
from ragpg.cli.main import main
from ragpg.evaluate.corruptions import claim_pairs
from ragpg.evaluate.grounding import (
    detect,
    evaluate_judge,
    evaluate_score,
    read_claims,
    rouge_1,
)
from ragpg.evaluate.separation import area_under_curve, best_threshold, separation

MANUAL = Path(ragpg.__file__).parent / "demo" / "manual.jsonl.gz"


def manual() -> list[tuple[str, str]]:
    with gzip.open(MANUAL, "rt") as lines:
        return [(row["source"], row["text"]) for row in map(json.loads, lines)]


def test_changed_sentences_of_a_manual_are_caught_and_true_ones_pass() -> None:
    pairs = claim_pairs(manual(), 140, 100)
    assert len({pair.sentence for pair in pairs}) == len(pairs)
    found = detect(pairs)
    assert sum(whole for _, whole in found.caught.values()) >= 100
    assert set(found.alarms) == {"verbatim", "paraphrase"}
    assert found.caught_share >= 0.9, found.caught
    assert found.alarm_share <= 0.03, found.alarms


def test_the_same_documents_give_the_same_pairs() -> None:
    some = manual()[:40]
    assert claim_pairs(some, 20, 10) == claim_pairs(list(reversed(some)), 20, 10)


def test_curve_and_threshold() -> None:
    assert area_under_curve([0.9, 0.4], [0.4, 0.1]) == pytest.approx(0.875)
    assert area_under_curve([], [0.1]) == 0.5
    one = separation([(0.9, True), (0.4, True), (0.4, False), (0.1, False)], 0.5)
    assert (one.precision, one.recall, one.balanced_accuracy) == (1.0, 0.5, 0.75)
    assert one.auc_interval[0] < one.auc < one.auc_interval[1]
    assert best_threshold([(0.1, False), (0.4, False), (0.6, True), (0.9, True)]) == 0.6


def test_labelled_claims_give_figures_by_question(tmp_path: Path) -> None:
    text = "Keys rotate every 90 days. Lunch is served at noon."
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"id": "1", "title": "", "text": text}))
    rows = [
        ("train", "Keys rotate every 90 days.", "SUPPORT"),
        ("train", "Whales sing in deep water.", "NOINFO"),
        ("test", "Lunch is served at noon.", "SUPPORT"),
        ("test", "Keys rotate every 40 days.", "CONTRADICT"),
    ]
    lines = [
        {"id": at, "split": split, "claim": claim, "label": label, "cited_doc_ids": ["1"]}
        for at, (split, claim, label) in enumerate(rows)
    ]
    (tmp_path / "claims.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    claims = read_claims(tmp_path)
    report = evaluate_judge(claims)
    assert report.by_verdict.balanced_accuracy == 1.0
    assert report.separations["contradicted"].auc == 1.0
    assert report.verdicts["CONTRADICT"] == {"contradicted": 1}
    plain = evaluate_score(claims, "ROUGE-1", rouge_1)
    assert plain.separations["contradicted"].threshold == 1.0
    printed = CliRunner().invoke(main, ["eval-grounding", str(tmp_path), "--pairs", "0", "--json"])
    assert printed.exit_code == 0, printed.output
    told = {one["judge"]: one["verdicts"] for one in json.loads(printed.stdout)["claims"]}
    assert told["lexical"]["CONTRADICT"] == {"contradicted": 1}
