"""Reading judged sets and running a ladder of searches over them."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from ragpg.errors import LoadError, SearchTimeout
from ragpg.evaluate.datasets import read_judged_set
from ragpg.evaluate.judged import evaluate
from ragpg.evaluate.tables import text

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = [{"id": f"d{n}", "title": "", "text": f"text {n}"} for n in range(4)]
    with gzip.open(tmp_path / "corpus.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(doc) + "\n" for doc in docs)
    queries = [{"id": f"q{n}", "text": f"query {n}"} for n in range(3)]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (tmp_path / "qrels.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq0\td0\t1\nq1\td1\t2\nq1\td2\t0\n"
    )
    return tmp_path


def test_reads_the_folder_layout(folder: Path) -> None:
    judged = read_judged_set(folder)
    assert list(judged.corpus) == ["d0", "d1", "d2", "d3"]
    assert judged.judged_queries == ["q0", "q1"]
    assert judged.relevance["q1"] == {"d1": 2.0, "d2": 0.0}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("queries.jsonl", '{"id": "q0", "text": "a"}\nnot json', "line 2: not JSON"),
        ("queries.jsonl", '{"text": "a"}', "'id' is missing"),
        ("queries.jsonl", '{"id": "q0"}', "'text' is missing"),
        ("queries.jsonl", '{"id": "q0", "text": "a"}\n{"id": "q0", "text": "b"}', "twice"),
        ("queries.jsonl", "[1]", "a JSON object is needed"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq0\td0", "three columns"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq0\td0\thigh", "'high' is not a number"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq9\td0\t1", "query 'q9'"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq0\td9\t1", "document 'd9'"),
    ],
)
def test_a_bad_file_is_named_with_its_line(
    folder: Path, name: str, text: str, message: str
) -> None:
    (folder / name).write_text(text)
    with pytest.raises(LoadError, match=message) as caught:
        read_judged_set(folder)
    assert name in str(caught.value)


def test_a_missing_file_and_folder_are_named(folder: Path) -> None:
    (folder / "qrels.tsv").unlink()
    with pytest.raises(LoadError, match=r"qrels\.tsv"):
        read_judged_set(folder)
    with pytest.raises(LoadError, match="not a folder"):
        read_judged_set(folder / "none")


@pytest.mark.case("EV-02")
def test_evaluates_every_rung_and_counts_failures_ev_02(folder: Path) -> None:
    def search(query: str, rung: str) -> list[str]:
        if rung == "vector" and query == "query 1":
            raise SearchTimeout("the search took longer than 5000 ms")
        return ["d0", "d1"]

    report = evaluate(search, read_judged_set(folder), ["keyword", "vector"])
    keyword, vector = report.runs.values()
    assert keyword.metrics["recall@10"].mean == 1.0
    assert keyword.metrics["MRR@10"].mean == 0.75
    assert vector.metrics["MRR@10"].mean == 1.0
    assert vector.metrics["MRR@10"].failed == 1
    assert report.mean("vector", "MRR@10") == 0.5, "in a report a failure counts 0"
    change = report.change(report.rungs[1], "MRR@10")
    assert change is not None
    assert change.mean == pytest.approx(-0.25)
    written = json.loads(json.dumps(report.to_json()))
    assert written["rungs"][1]["failures"] == {"q1": "the search took longer than 5000 ms"}
    assert (written["rungs"][1]["scored"], written["rungs"][1]["failed"]) == (1, 1)
    _, head, first, second, *_ = text(report).splitlines()
    assert head.split()[-1] == "failed"
    assert "nDCG@10" in head
    assert (first.split()[0], first.split()[-1]) == ("keyword", "0")
    assert (second.split()[0], second.split()[-1]) == ("vector", "1")
