"""Reranking over HTTP, against a service that behaves as badly as real ones do."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import pytest

from ragpg.errors import ConfigError, ProviderError, RateLimited
from ragpg.perform import aperform_rerank, perform_rerank
from ragpg.rerankers.chain import RerankStage, rerank_hits
from ragpg.rerankers.ranking import read_ranking
from ragpg.steps import arun, run

from .hits import FRUITS, hits_of, texts_of
from .service import Service, results

if TYPE_CHECKING:
    from ragpg.rerankers.http import HTTPReranker

pytest.importorskip("httpx2")


def reranker(service: Service, shape: Any = "cohere", **options: Any) -> HTTPReranker:
    from ragpg.rerankers.http import HTTPReranker

    return HTTPReranker(shape, url=service.url, **{"api_key": "k-123", "timeout": 5.0, **options})


@pytest.mark.case("RE-03")
@pytest.mark.parametrize(
    ("pairs", "expected", "warned"),
    [
        ([(4, 0.9), (0, 0.2)], ["eels", "apples", "bolts"], False),
        ([(5, 0.9), (1, 0.5)], ["bolts", "apples", "cranes"], True),
        ([(-1, 0.9)], ["apples", "bolts", "cranes"], True),
        ([(2, 0.9), (2, 0.1), (3, 0.5)], ["cranes", "drums", "apples"], True),
        ([], ["apples", "bolts", "cranes"], False),
    ],
)
def test_unknown_repeated_and_missing_entries_re_03(
    pairs: list[tuple[int, float]],
    expected: list[str],
    warned: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    hits = hits_of(*FRUITS)
    with Service(results(*pairs)) as service, caplog.at_level(logging.WARNING, "ragpg"):
        done = run(rerank_hits(reranker(service, top_n=3), "q", hits), perform_rerank)
        assert service.requests[0]["top_n"] == 3
    assert texts_of(done.hits)[:3] == expected
    assert sorted(texts_of(done.hits)) == sorted(FRUITS)
    assert ("ignored" in caplog.text) == warned
    if pairs == [(-1, 0.9)]:
        assert "index -1" in (done.report["rerank"].error or "")


@pytest.mark.case("RE-04")
def test_a_service_that_neither_sorts_nor_cuts_re_04() -> None:
    scores = [(0, 0.11), (1, 0.92), (2, 0.35), (3, -4.2), (4, 6.8)]
    hits = hits_of(*FRUITS)
    with Service(results(*scores)) as service:
        ranker = reranker(service, top_n=2, model="m-1")
        done = run(rerank_hits(ranker, "q", hits), perform_rerank)
        above = run(rerank_hits(RerankStage(ranker, min_score=0.5), "q", hits), perform_rerank)
    assert texts_of(done.hits)[:2] == ["eels", "bolts"]
    # The scores are the service's own, on a scale that carries its name.
    assert [hit.score for hit in done.hits] == [6.8, 0.92, 0.35, 0.11, -4.2]
    assert {hit.score_kind for hit in done.hits} == {"cohere m-1"}
    assert texts_of(above.hits) == ["eels", "bolts"]
    assert above.notes == ["3 hits are below min_score 0.5 of cohere m-1, or not scored"]


@pytest.mark.parametrize(
    ("shape", "reply", "sent"),
    [
        (
            "cohere",
            {"results": [{"index": 1, "relevance_score": 0.9}]},
            {"model", "query", "documents"},
        ),
        (
            "jina",
            {"results": [{"index": 1, "relevance_score": 0.9, "document": {"text": "b"}}]},
            {"model", "query", "documents", "return_documents"},
        ),
        (
            "tei",
            [{"index": 1, "score": 0.9}, {"index": 0, "score": 0.1}],
            {"query", "texts", "truncate"},
        ),
    ],
)
def test_three_forms_are_spoken(shape: str, reply: Any, sent: set[str]) -> None:
    hits = hits_of("a", "b")
    with Service((200, {}, reply)) as service:
        after = reranker(service, shape).rerank("q", hits)
        awaited = asyncio.run(reranker(service, shape).arerank("q", hits))
    assert texts_of(after) == ["b", "a"]
    assert awaited == after
    assert set(service.requests[0]) == sent
    assert service.headers[0]["authorization"] == "Bearer k-123"


def test_only_the_first_hits_are_sent_and_long_ones_are_cut() -> None:
    hits = hits_of("word " * 50, "b", "c")
    with Service(results((1, 0.9), (0, 0.1))) as service:
        after = reranker(service, candidates=2, characters=32).rerank("q", hits)
    assert service.requests[0]["documents"] == ["word word word word word word", "b"]
    assert [hit.content for hit in after][1:] == ["word " * 50, "c"]
    assert [hit.score_kind for hit in after][2] == "fused"


def test_braces_are_sent_as_they_are() -> None:
    text = 'set {1} {{x}} {"a": "b"} %(x)s'
    with Service(results((0, 0.5))) as service:
        reranker(service).rerank("{q}", hits_of(text))
    assert (service.requests[0]["query"], service.requests[0]["documents"]) == ("{q}", [text])


def test_a_busy_service_is_asked_again(pauses: list[float]) -> None:
    busy = (429, {"retry-after": "1"}, {"message": "slow down"})
    with Service(busy, (503, {}, {}), results((1, 0.9))) as service:
        after = reranker(service).rerank("q", hits_of("a", "b"))
    assert texts_of(after) == ["b", "a"]
    assert len(pauses) == 2
    assert pauses[0] >= 1


@pytest.mark.parametrize(
    ("status", "body", "error", "said"),
    [
        (429, {"message": "quota"}, RateLimited, "429"),
        (500, {"message": "boom"}, ProviderError, "500: boom"),
        (401, {"message": "bad key k-123"}, ProviderError, r"bad key \*\*\*(.|\n)*COHERE_API_KEY"),
        (404, b"not json", ProviderError, "404"),
        (200, b"not json", ProviderError, "without a list"),
        (200, {"error": "odd"}, ProviderError, "without a list"),
        (200, {"results": [{"index": 0, "relevance_score": "NaN"}]}, ProviderError, "no score of"),
    ],
)
def test_refusals_are_typed_errors(
    status: int, body: Any, error: type[Exception], said: str
) -> None:
    with Service((status, {}, body)) as service, pytest.raises(error, match=said) as caught:
        reranker(service, retries=0).rerank("q", hits_of("a"))
    assert "k-123" not in str(caught.value)


def test_a_slow_service_leaves_the_order_and_says_so() -> None:
    hits = hits_of("a", "b")
    with Service(results((1, 0.9))) as service:
        service.gate.clear()
        stage = RerankStage(reranker(service), timeout=0.1)
        done = run(rerank_hits(stage, "q", hits), perform_rerank)
        awaited = asyncio.run(arun(rerank_hits(stage, "q", hits), aperform_rerank))
        own = run(rerank_hits(reranker(service, timeout=0.1, retries=0), "q", hits), perform_rerank)
    for one in (done, awaited, own):
        assert one.hits == hits
        assert one.report["rerank"].error
    assert "TimeoutError" in (done.report["rerank"].error or "")


def test_an_unreachable_service_is_named() -> None:
    from ragpg.rerankers.http import HTTPReranker

    ranker = HTTPReranker("tei", url="http://127.0.0.1:9/rerank", retries=0)
    with pytest.raises(ProviderError, match=r"no answer from 127\.0\.0\.1"):
        ranker.rerank("q", hits_of("a"))
    assert ranker.rerank("q", []) == []


def test_bad_options_are_refused() -> None:
    from ragpg.rerankers.http import HTTPReranker

    with pytest.raises(ConfigError, match="needs the address"):
        HTTPReranker("tei")
    with pytest.raises(ConfigError, match="shape is one of"):
        HTTPReranker("other")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="timeout above 0"):
        HTTPReranker(timeout=0)


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    from ragpg.rerankers.http import HTTPReranker

    monkeypatch.setenv("JINA_API_KEY", "from-env")
    with Service(results((0, 1))) as service:
        ranker = HTTPReranker("jina", url=service.url)
        ranker.rerank("q", hits_of("a"))
    assert service.headers[0]["authorization"] == "Bearer from-env"
    assert "from-env" not in repr(ranker)


@pytest.mark.parametrize("index", [None, True, 1.0, "0", 10**30])
def test_an_index_is_a_as_whole(index: Any) -> None:
    with pytest.raises(ProviderError, match="no entry"):
        read_ranking({"results": [{"index": index, "relevance_score": 1}]}, 2)
