"""Spans, samples and languages of judged sets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ragpg.errors import LoadError
from ragpg.evaluate.corpus import language_of, namespace_of
from ragpg.evaluate.datasets import read_judged_set
from ragpg.evaluate.gold import GoldDocuments, GoldSpans, Span

if TYPE_CHECKING:
    from pathlib import Path


def _write(folder: Path, corpus: list[Any], queries: list[Any]) -> Path:
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    lines = [f"{query['id']}\t{query.get('doc', corpus[0]['id'])}\t1" for query in queries]
    (folder / "qrels.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *lines]))
    return folder


def test_a_query_may_ask_for_spans(tmp_path: Path) -> None:
    corpus = [{"id": "a", "text": "x" * 100}]
    queries = [{"id": "1", "text": "one", "doc": "a", "spans": [[0, 10], [50, 100]]},
               {"id": "2", "text": "two"}]  # fmt: skip
    judged = read_judged_set(_write(tmp_path, corpus, queries))
    assert judged.has_spans
    first, second = judged.questions(coverage=0.9)
    assert isinstance(first.gold, GoldSpans)
    assert dict(first.gold.gains) == {"a[0:10]": 1.0, "a[50:100]": 1.0}
    assert first.gold.coverage == 0.9
    assert second.gold == GoldDocuments({"a": 1.0})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"doc": "a", "spans": [[0, 101]]}, "100 characters"),
        ({"doc": "a", "spans": [[5, 5]]}, "no span"),
        ({"doc": "a", "spans": [[0]]}, "no span"),
        ({"spans": [[0, 5]]}, "need a 'doc'"),
    ],
)
def test_a_wrong_span_is_named_with_its_line(
    tmp_path: Path, fields: dict[str, Any], message: str
) -> None:
    folder = _write(tmp_path, [{"id": "a", "text": "x" * 100}], [{"id": "1", "text": "q"}])
    (folder / "queries.jsonl").write_text(json.dumps({"id": "1", "text": "q", **fields}))
    with pytest.raises(LoadError, match=message) as caught:
        read_judged_set(folder)
    assert "queries.jsonl, line 1" in str(caught.value)


def test_sentences_that_matter_are_the_evidence(tmp_path: Path) -> None:
    corpus = [{"id": "a", "text": "x" * 30, "sents": [[0, 10], [11, 20], [21, 30]]}]
    queries = [{"id": "1", "text": "one", "gold_sentences": {"a": [0, 2, 9], "b": [0]}}]
    [question] = read_judged_set(_write(tmp_path, corpus, queries)).questions()
    assert question.gold == GoldDocuments({"a": 1.0}, (Span("a", 0, 10), Span("a", 21, 30)))


def test_a_sample_is_the_same_every_time_and_part_of_a_larger_one(tmp_path: Path) -> None:
    queries = [{"id": f"q{n}", "text": f"text {n}"} for n in range(50)]
    judged = read_judged_set(_write(tmp_path, [{"id": "a", "text": "t"}], queries))
    small = [one.id for one in judged.questions(sample=10)]
    large = [one.id for one in judged.questions(sample=20)]
    assert len(small) == 10
    assert set(small) < set(large)
    assert small == [one for one in large if one in set(small)], "the order of the file stays"
    assert small != [one.id for one in judged.questions(limit=10)]
    assert len(judged.questions(sample=99)) == 50
    assert [one.id for one in judged.questions(limit=2)] == ["q0", "q1"]


def test_a_set_is_split_by_language(tmp_path: Path) -> None:
    corpus = [{"id": f"{code}-a", "text": "text", "lang": code} for code in ("de", "th")]
    queries = [{"id": code, "text": "q", "lang": code, "doc": f"{code}-a"} for code in ("de", "th")]
    judged = read_judged_set(_write(tmp_path, corpus, queries))
    german, thai = judged.split("lang")
    assert (german.name, thai.name) == (f"{judged.name}-de", f"{judged.name}-th")
    assert list(german.corpus) == ["de-a"]
    assert [one.id for one in thai.questions()] == ["th"]
    assert (language_of(german), language_of(thai), language_of(judged)) == (
        "german",
        "simple",
        "english",
    )
    with pytest.raises(LoadError, match="colour"):
        judged.split("colour")


def test_the_namespace_is_named_after_what_is_stored(tmp_path: Path) -> None:
    judged = read_judged_set(
        _write(tmp_path, [{"id": "a", "text": "t"}], [{"id": "1", "text": "q"}])
    )
    name = namespace_of(judged, None, "model", "english")
    assert name.startswith(f"eval-{judged.name}-")
    others = {
        namespace_of(judged, 500, "model", "english"),
        namespace_of(judged, None, "other", "english"),
        namespace_of(judged, None, "model", "german"),
    }
    assert len(others) == 3
    assert name not in others
