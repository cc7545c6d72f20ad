"""The ladder, the choice of stages, the gate and the picture, over a search without a database."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from ragpg.errors import ConfigError
from ragpg.evaluate import gate, plot, tables
from ragpg.evaluate.choose import choose, to_toml
from ragpg.evaluate.climb import Climb
from ragpg.evaluate.gold import GoldDocuments, Question
from ragpg.evaluate.ladder import ARMS, BETTER_ARM, STAGES, arm_rungs, ladder
from ragpg.evaluate.report import Report, over_sets
from ragpg.evaluate.run import from_json, to_json
from ragpg.query.profile import Profile, profile_of, read_profile
from ragpg.testing import HashEmbedder
from ragpg.types import ArmReport, Citation, Hit, SearchResult

if TYPE_CHECKING:
    from pathlib import Path

    from ragpg.protocols import Embedder

QUESTIONS = [
    Question(f"q{n}", f"question {n}", GoldDocuments({f"d{n}": 1.0}), "odd" if n % 2 else "even")
    for n in range(40)
]


@dataclass
class Fake:
    """A search whose place for the gold depends on the profile: reranking moves it up, MMR down,
    compression halves the context, sentences are not stored."""

    embedder: Embedder | None = field(default_factory=lambda: HashEmbedder(8))
    asked: list[str] = field(default_factory=list)

    def search(self, text: str, *, profile: Profile, k: int, **_: Any) -> SearchResult:
        self.asked.append(profile.name)
        if profile.name == "broken":
            raise ConfigError("this profile is broken")
        number = int(text.split()[1])
        on = {name for name in ARMS if profile.arms.get(name, True)} - {"metadata"}
        place = {"keyword": 4, "vector": 6}.get(next(iter(on)), 5) if len(on) == 1 else 5
        place -= 3 if profile.rerankers else 0
        # Some luck, so that intervals have a width; prf helps odd questions and harms the others.
        place += number % 3 + (2 if profile.mmr < 1 else 0)
        if "prf" in on and len(on) > 1:
            place += -3 if number % 2 else 4
        place = max(place, 0)
        ids = [f"other {n}" for n in range(k)]
        if place < k:
            ids[place] = f"d{number}"
        words = "word " * (50 if profile.compress else 100)
        hits = [Hit(n, 1 / n, "n", source, words) for n, source in enumerate(ids, 1)]
        report = {name: ArmReport(rows=3, ms=1.0) for name in on}
        if "sentence" in on:
            report["sentence"] = ArmReport(skipped="no sentence vectors are stored")
        shown = [Citation(hit.rank, hit) for hit in hits]
        return SearchResult(text, hits, report, words * 10, shown)


def _climb(fake: Fake, **options: Any) -> Climb:
    return Climb(fake, ["n"], QUESTIONS, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def report() -> Report:
    return _climb(Fake()).report("fake", 40, ladder())


def test_each_rung_adds_one_stage() -> None:
    rungs = {rung.name: rung for rung in ladder()}
    assert list(rungs) == [*(stage.name for stage in STAGES), "default", "default +sentences"]
    assert {name for name, on in rungs["keyword"].profile.arms.items() if on} == {
        "keyword",
        "metadata",
    }
    assert {name for name, on in rungs["vector"].profile.arms.items() if on} == {
        "vector",
        "metadata",
    }
    fused = rungs["fused"].profile
    assert {name for name, on in fused.arms.items() if on} == {"keyword", "vector", "metadata"}
    off = (fused.rerankers, fused.facets, fused.carryover, fused.compress)
    assert not any(off)
    assert rungs["+rerank"].profile.arms["sentence"]
    assert rungs["+parents"].profile.compress
    assert rungs["+graph"].profile.arms["graph"]
    measured = read_profile("measured")
    assert rungs["default"].profile == replace(measured, arms={"sentence": False})
    assert rungs["default +sentences"].profile == replace(measured, arms={"sentence": True})
    assert rungs["default +sentences"].against == "default"
    assert [rungs[name].against for name in ("keyword", "vector", "fused (rrf)", "fused", "+prf")] == [
        None, None, BETTER_ARM, "fused (rrf)", "fused",
    ]  # fmt: skip
    assert rungs["default"].against == "fused"


def test_rungs_can_be_chosen() -> None:
    rungs = ladder(["keyword", "fused", "+rerank"], profiles=["seed"])
    assert [rung.name for rung in rungs] == ["keyword", "fused", "+rerank", "seed"]
    assert [rung.against for rung in rungs] == [None, BETTER_ARM, "fused", "fused"]
    assert not rungs[2].profile.arms["prf"], "a rung that was left out is not below"
    with pytest.raises(ConfigError, match="stilts"):
        ladder(["stilts"])
    alone = arm_rungs(["keyword", "vector"])
    assert [rung.name for rung in alone] == ["keyword", "vector", "fused", "default"]
    assert alone[2].against == BETTER_ARM


def test_without_an_embedder_the_ladder_stands_on_keyword_search() -> None:
    climb = _climb(Fake(embedder=None))
    report = climb.report("fake", 40, ladder(vectors=False))
    assert report.runs["vector"].unavailable == "it needs an embedder"
    assert {rung.name: report.against(rung) for rung in report.available} == {
        "keyword": None, "+prf": "keyword", "+probes": "+prf", "+corrective": "+probes",
        "+rerank": "+corrective", "+collapse": "+rerank", "+mmr": "+collapse",
        "+compress": "+mmr", "+parents": "+compress", "+graph": "+parents",
        "default": "keyword",
    }  # fmt: skip
    assert "vector: not available: it needs an embedder" in tables.text(report)


def test_a_stage_that_never_runs_is_told_and_not_skipped(report: Report) -> None:
    reason = report.runs["+sentences"].unavailable
    assert reason == "sentence skipped: no sentence vectors are stored"
    assert f"+sentences: not available: {reason}" in tables.text(report)
    assert f"- +sentences: not available: {reason}" in tables.markdown(report)
    [row] = [one for one in report.to_json()["rungs"] if one["rung"] == "+sentences"]
    assert row == {"rung": "+sentences", "unavailable": reason}
    climb = _climb(Fake())
    [rung] = ladder(["default"])
    broken = climb.report("fake", 40, [type(rung)("broken", Profile(name="broken"))])
    assert broken.runs["broken"].unavailable == "this profile is broken"


def test_changes_and_the_better_arm(report: Report) -> None:
    rungs = {rung.name: rung for rung in report.rungs}
    assert report.better_arm == "keyword"
    assert report.against(rungs["fused (rrf)"]) == "keyword"
    gain = report.change(rungs["+rerank"])
    assert gain is not None
    assert gain.mean > 0
    assert gain.significant
    nothing = report.change(rungs["+compress"])
    assert nothing is not None
    assert (nothing.mean, nothing.p) == (0.0, 1.0)
    loss = report.change(rungs["+mmr"])
    assert loss is not None
    assert loss.mean < 0
    odd = report.mean("+prf", kind="odd")
    even = report.mean("+prf", kind="even")
    assert odd is not None
    assert even is not None
    assert odd > even
    over = report.over_better_arm("fused")
    assert over is not None
    assert over.mean < -0.005
    both = over_sets([report, report], "+rerank", "fused")
    assert both is not None
    assert "fused" in tables.summary([report, report])
    page = tables.page([report])
    assert "| +rerank |" in page
    assert "**" in page


def test_the_default_is_checked_against_the_better_arm() -> None:
    def search(text: str, rung: str) -> list[str]:
        number = int(text.split()[1])
        return ["x"] * (rung == "default") + [f"d{number}"]

    from ragpg.evaluate.datasets import JudgedSet
    from ragpg.evaluate.judged import evaluate

    judged = JudgedSet(
        "one", {}, {q.id: q.text for q in QUESTIONS}, {q.id: q.gold.gains for q in QUESTIONS}
    )
    found = evaluate(search, judged, ["keyword", "default"])
    [line] = tables.check(found)
    assert line.startswith("default is 0.3691 below keyword alone  FAULT")


def test_only_stages_that_help_stay(report: Report) -> None:
    choice = choose(_climb(Fake()), "mine", "fake", 40)
    stays = [line.partition(" stays")[0] for line in choice.reasons if " stays" in line]
    assert stays == ["+rerank", "+compress"]
    assert any(
        line.startswith("+sentences is left out: sentence skipped") for line in choice.reasons
    )
    assert any("+mmr is left out" in line for line in choice.reasons)
    # It helps on the whole or not, it harms one kind of question: it must not be chosen.
    assert any(line.startswith("+prf is left out") for line in choice.reasons)
    profile = choice.profile
    assert profile.rerankers == ("heuristic",)
    assert (profile.compress, profile.mmr, profile.facets) == (True, 1.0, False)
    assert not profile.arms["prf"]
    text = to_toml(choice)
    assert text.startswith("# Chosen by `ragpg bench` from 40 questions on fake.")
    assert profile_of(tomllib.loads(text), "mine") == profile
    assert choice.report.rungs[-1].name == "default"


def test_results_are_kept_and_found_again(tmp_path: Path) -> None:
    first, second = Fake(), Fake()
    rungs = ladder(["keyword", "fused"])
    one = _climb(first, results=tmp_path).report("fake", 40, rungs)
    steps: list[None] = []
    two = _climb(second, results=tmp_path, on_question=lambda: steps.append(None)).report(
        "fake", 40, rungs
    )
    assert first.asked
    assert not second.asked
    assert len(steps) == 2 * len(QUESTIONS), "a bar reaches its end all the same"
    assert one.to_json() == two.to_json()
    _climb(second, results=tmp_path, k=5).report("fake", 40, rungs)
    assert second.asked, "another k is another result"
    run = one.runs["fused"]
    assert from_json(json.loads(json.dumps(to_json(run)))).values == run.values


def test_the_gate(report: Report) -> None:
    assert gate.failures(report, [gate.parse("nDCG@10=0.1")]) == []
    assert gate.failures(report, [gate.parse("ndcg=0.1"), gate.parse("vector:MRR@10=0.01")]) == []
    [line] = gate.failures(report, [gate.parse("recall@10=0.99"), gate.parse("+mmr:ndcg=0.9")][1:])
    assert line.startswith("fake: +mmr: nDCG@10 is 0.")
    assert line.endswith("below 0.9")
    [line] = gate.failures(report, [gate.parse("+sentences:ndcg=0")])
    assert "not available" in line
    for wrong in ("nDCG@10", "=1", "ndcg=high", "ndcg=2", "ndcg=-1"):
        with pytest.raises(ConfigError, match="threshold"):
            gate.parse(wrong)
    with pytest.raises(ConfigError, match="there is no metric 'f1'"):
        gate.failures(report, [gate.parse("f1=0.5")])
    with pytest.raises(ConfigError, match="there is no rung 'roof'"):
        gate.failures(report, [gate.parse("roof:ndcg=0.5")])


@pytest.mark.case("EV-02")
def test_the_gate_fails_when_questions_fail_ev_02() -> None:
    from ragpg.errors import SearchTimeout
    from ragpg.evaluate.datasets import JudgedSet
    from ragpg.evaluate.judged import evaluate

    def search(text: str, rung: str) -> list[str]:
        if text.endswith("7"):
            raise SearchTimeout("the search took too long")
        return [f"d{text.split()[1]}"]

    judged = JudgedSet(
        "one", {}, {q.id: q.text for q in QUESTIONS}, {q.id: q.gold.gains for q in QUESTIONS}
    )
    report = evaluate(search, judged, ["keyword"])
    assert report.runs["keyword"].metrics["nDCG@10"].mean == 1.0
    assert report.mean("keyword") == pytest.approx(0.9)
    [line] = gate.failures(report, [gate.parse("ndcg=0.85")])
    assert line.endswith("4 questions failed")
    assert gate.failures(report, [gate.parse("ndcg=0.85")], max_failed_share=0.2) == []


def test_a_picture_as_a_page(report: Report, tmp_path: Path) -> None:
    target = tmp_path / "ladder.html"
    plot.draw([report, report], target)
    page = target.read_text()
    assert page.count("<svg") == 2
    assert page.count("<circle") == 2 * len(report.available)
    assert "not available: sentence skipped" in page
    with pytest.raises(ConfigError, match=r"\.html"):
        plot.draw([report], tmp_path / "ladder.doc")


def test_a_picture_by_matplotlib(report: Report, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plot.draw([report], tmp_path / "ladder.png")
    assert (tmp_path / "ladder.png").read_bytes().startswith(b"\x89PNG")
