"""`ragpg eval` and `ragpg bench`: what they print, write, and how they end."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

from ragpg.query.profile import read_profile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result


def _json(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_eval_climbs_the_rungs(ragpg_cli: Callable[..., Result], tmp_path: Path) -> None:
    corpus = [
        {"id": "a", "title": "Refunds", "text": "Refunds take 14 days."},
        {"id": "b", "title": "Shipping", "text": "Parcels leave on the day of the order."},
        {"id": "c", "title": "", "text": "Gift cards never expire."},
    ]
    queries = [{"id": "1", "text": "refunds"}, {"id": "2", "text": "gift cards"}]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta\t1\n2\tc\t1\n")
    found = _json(ragpg_cli("eval", str(tmp_path), "--embedder", "hash", "--json"))
    [one] = found["sets"]
    rungs = {rung["rung"]: rung for rung in one["rungs"]}
    assert list(rungs) == ["keyword", "vector", "fused", "default"]
    assert rungs["keyword"]["nDCG@10"] == 1.0
    assert rungs["default"]["recall@10"] == 1.0
    assert rungs["default"]["tokens"] > 0
    assert one["documents"] == 3
    assert not [one for one in _json(ragpg_cli("namespaces", "list", "--json"))
                if one["name"].startswith("eval")]  # fmt: skip
    one = _json(ragpg_cli("eval", str(tmp_path), "--arms", "keyword", "--limit", "1", "--json"))
    [one] = one["sets"]
    assert [rung["rung"] for rung in one["rungs"]] == ["keyword", "default"]
    assert one["queries"] == 1
    assert ragpg_cli("eval", str(tmp_path), "--arms", "vector").exit_code == 2
    twice = _json(ragpg_cli("eval", str(tmp_path), str(tmp_path), "--rungs", "keyword,vector,+rerank",
                            "--depth", "20", "--json"))  # fmt: skip
    for one in twice["sets"]:
        keyword, vector, rerank = one["rungs"]
        assert keyword["recall@20"] == 1.0
        assert vector == {"rung": "vector", "unavailable": "it needs an embedder"}
        assert rerank["against"] == "keyword"


def test_a_threshold_that_is_missed_fails_the_command(
    ragpg_cli: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"id": "a", "text": "Refunds take 14 days."}')
    (tmp_path / "queries.jsonl").write_text('{"id": "1", "text": "parcels"}')
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta\t1\n")
    missed = ragpg_cli("eval", str(tmp_path), "--fail-below", "recall@10=0.5", "--json")
    assert missed.exit_code == 1
    assert "recall@10 is 0.0000, below 0.5" in missed.stderr
    assert json.loads(missed.stdout)["missed"]
    assert ragpg_cli("eval", str(tmp_path), "--fail-below", "recall@10=0").exit_code == 0
    assert ragpg_cli("eval", str(tmp_path), "--fail-below", "recall@10").exit_code == 2


def test_fusion_is_learned_from_judged_queries(
    ragpg_cli: Callable[..., Result], tmp_path: Path
) -> None:
    corpus = [{"id": f"d{n}", "text": f"Parcel number{n} of the depot."} for n in range(12)]
    queries = [{"id": f"q{n}", "text": f"number{n}"} for n in range(12)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    lines = [f"q{n}\td{n}\t1" for n in range(12)]
    (tmp_path / "qrels.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *lines]))
    options = ("eval", str(tmp_path), "--embedder", "hash", "--tune")
    [found] = _json(ragpg_cli(*options, "--json"))["sets"]
    assert found["queries"] == 12
    assert sum(found["chosen"].values()) == 5
    assert set(found["means"]) >= {"adaptive", "minmax", "rrf rrf_k=60", "convex alpha=0.5"}
    text = ragpg_cli(*options)
    assert text.exit_code == 0
    assert "Chosen by cross-validation" in text.output
    assert ragpg_cli("eval", str(tmp_path), "--tune").exit_code == 2
    assert ragpg_cli(*options, "--limit", "5").exit_code == 2


TOPICS = ["refund", "parcel", "invoice", "voucher", "customs", "courier", "pickup", "warranty", "exchange", "label", "depot", "tariff"]  # fmt: skip


def _shop(folder: Path) -> Path:
    """A page for each topic, whose sentences share their other words."""
    for place, topic in enumerate(TOPICS):
        text = "\n\n".join(
            f"The {topic} of a customer is registered at counter {place} before the {topic} is "
            f"examined, and the clerk writes down every step of the {topic} in the journal."
            for _ in range(2)
        )
        (folder / f"{topic}.md").write_text(f"# About the {topic}\n\n{text}\n")
    return folder


def test_bench_measures_and_chooses_on_the_users_own_corpus(
    ragpg_cli: Callable[..., Result], tmp_path: Path
) -> None:
    assert ragpg_cli("ingest", str(_shop(tmp_path)), "-n", "shop").exit_code == 0
    options = ("bench", "-n", "shop", "--items", "8", "--json")
    found = _json(ragpg_cli(*options, "--rungs", "keyword,vector,+rerank"))
    [report] = found["sets"]
    keyword, vector, rerank = report["rungs"]
    assert report["set"] == "shop"
    assert report["documents"] == len(TOPICS)
    assert keyword["kinds"]["keywords"]["recall@10"] == 1.0
    assert set(keyword["kinds"]) >= {"vague", "question", "follow-up"}
    assert vector["unavailable"] == "it needs an embedder"
    assert rerank["change"]["p"] <= 1
    again = _json(ragpg_cli(*options, "--rungs", "keyword"))
    assert again["sets"][0]["rungs"][0]["nDCG@10"] == keyword["nDCG@10"]

    target = tmp_path / "shop.toml"
    chosen = ragpg_cli("bench", "-n", "shop", "--items", "8", "--kinds", "keywords,vague",
                       "--write-profile", str(target), "--plot", str(tmp_path / "ladder.html"))  # fmt: skip
    assert chosen.exit_code == 0, chosen.output
    assert "the base is keyword" in chosen.output
    assert "<svg" in (tmp_path / "ladder.html").read_text()
    profile = tomllib.loads(target.read_text())
    assert profile["arms"]["keyword"] is True
    assert profile["arms"]["vector"] is False
    assert read_profile(target).name == "shop"

    assert ragpg_cli(*options, "--kinds", "riddle").exit_code == 2
    missing = ragpg_cli("bench", "-n", "nowhere")
    assert missing.exit_code == 1
    assert "nowhere" in missing.stderr
