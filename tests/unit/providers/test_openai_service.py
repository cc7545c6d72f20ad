"""The OpenAI adapter against a stub service on loopback: what is sent, and what is made of it."""

from __future__ import annotations

import asyncio
import logging
import math
import time
import traceback
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

import pytest

from ragpg.errors import (
    BadEmbedding,
    ConfigError,
    ContextTooLong,
    ProviderError,
    RagpgError,
    RateLimited,
)
from ragpg.ingest.embed import Failure, embed_resilient
from ragpg.providers.openai import OpenAIEmbedder, OpenAIGenerator
from ragpg.testing import HashEmbedder
from ragpg.types import Embeddings
from tests.http_service import HttpService, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

pytest.importorskip("openai")

KEY = "sk-test-0123456789abcdef"
COMPASS = ["north", "east", "south", "west"]
MODEL = HashEmbedder(8)


def vectors(texts: list[str]) -> dict[str, Any]:
    """An answer in the shape of POST /embeddings."""
    items = [{"index": i, "embedding": v} for i, v in enumerate(MODEL.embed_documents(texts))]
    return {"object": "list", "data": items, "model": "stub", "usage": {"prompt_tokens": 1}}


def refusal(message: str, **more: Any) -> dict[str, Any]:
    """A body in the shape of an OpenAI error."""
    return {"error": {"message": message, **more}}


class Service(HttpService):
    """Records requests; `answer` decides what comes back."""

    def __init__(self) -> None:
        self.accepted: list[list[str]] = []
        self.answer: Callable[[dict[str, Any]], Reply] = lambda body: (
            200,
            {},
            vectors(body["input"]),
        )
        super().__init__()

    def reply(self, body: dict[str, Any], headers: Mapping[str, str]) -> Reply:
        self.requests.append(body)
        status, given, data = self.answer(body)
        if status == 200 and "input" in body:
            self.accepted.append(body["input"])
        return status, given, data


@pytest.fixture
def service() -> Iterator[Service]:
    service = Service()
    yield service
    service.stop()


def embedder(service: Service, **options: Any) -> OpenAIEmbedder:
    return OpenAIEmbedder("stub", base_url=service.url, api_key=KEY, **{"timeout": 10.0, **options})


@pytest.mark.case("EM-01")
@pytest.mark.parametrize("found", [[0, 1, 2], [], [0, 1, 2, 3, 4], None, "no data"])
def test_wrong_count_of_vectors_is_an_error_em_01(
    service: Service, pauses: list[float], found: Any
) -> None:
    def answer(body: dict[str, Any]) -> Reply:
        if found == "no data":
            return 200, {}, {}
        data = found and [{"index": i, "embedding": [1.0] * 8} for i in found]
        return 200, {}, {"data": data}

    service.answer = answer
    with pytest.raises(BadEmbedding, match="vectors for 4 texts") as caught:
        embed_resilient(embedder(service, dimensions=8, max_retries=2), COMPASS)
    assert caught.value.partial == {}
    assert len(service.requests) == 3  # after the configured retries, and not text by text
    assert len(pauses) == 2


@pytest.mark.case("EM-02")
def test_vectors_follow_their_index_em_02(service: Service, pauses: list[float]) -> None:
    order: list[int | None] = []

    def answer(body: dict[str, Any]) -> Reply:
        items = [
            {"embedding": [float(i or 0), 1.0]} | ({} if i is None else {"index": i}) for i in order
        ]
        return 200, {}, {"data": items}

    service.answer = answer
    model = embedder(service, max_retries=1)
    order[:] = [3, 1, 0, 2]
    assert [vector[0] for vector in model.embed_documents(COMPASS)] == [0.0, 1.0, 2.0, 3.0]
    for wrong in ([0, 1, 3], [0, 1, 1, 3], [0, 1, 2, 7]):
        order[:] = wrong
        with pytest.raises(BadEmbedding):
            model.embed_documents(COMPASS)
    order[:] = [None] * 4
    assert len(model.embed_documents(COMPASS)) == 4


@pytest.mark.case("EM-03")
@pytest.mark.parametrize("lengths", [[6, 6], [16, 16], [8, 6]])
def test_wrong_length_is_reported_with_both_lengths_em_03(
    service: Service, pauses: list[float], lengths: list[int]
) -> None:
    service.answer = lambda body: (
        200,
        {},
        {"data": [{"index": i, "embedding": [1.0] * n} for i, n in enumerate(lengths)]},
    )
    with pytest.raises(BadEmbedding) as caught:
        embed_resilient(embedder(service, dimensions=8, max_retries=0), ["one", "two"])
    assert str(lengths[1]) in str(caught.value)
    assert "8" in str(caught.value)
    assert "embed the documents again" in str(caught.value)
    assert caught.value.partial == {}
    assert len(service.requests) == 1


@pytest.mark.case("EM-04")
@pytest.mark.parametrize("value", [math.nan, None, "NaN", math.inf, "status 500"])
def test_one_bad_text_costs_only_itself_em_04(
    service: Service, pauses: list[float], value: Any
) -> None:
    def answer(body: dict[str, Any]) -> Reply:
        reply = vectors(body["input"])
        if "bad" in body["input"]:
            if value == "status 500":
                return 500, {}, refusal("json: unsupported value: NaN")
            reply["data"][body["input"].index("bad")]["embedding"][3] = value
        return 200, {}, reply

    service.answer = answer
    texts = ["ok one", "bad", "ok two"]
    one, bad, two = embed_resilient(embedder(service), texts, 8)
    assert isinstance(bad, Failure)
    assert "NaN" in bad.reason
    assert [one, two] == MODEL.embed_documents(["ok one", "ok two"])


@pytest.mark.case("EM-05")
def test_blank_texts_are_never_sent_em_05(service: Service) -> None:
    model = embedder(service)
    texts = ["one", "", "   ", "\n\n", "two"]
    found = embed_resilient(model, texts, 8)
    assert service.requests[0]["input"] == ["one", "two"]
    assert [isinstance(vector, Failure) for vector in found] == [False, True, True, True, False]
    assert found[4] == MODEL.embed_query("two")
    with pytest.raises(ProviderError, match="blank"):
        model.embed_query(" \n")
    with pytest.raises(BadEmbedding, match="text 1 is blank") as caught:
        model.embed_documents(["one", " "])
    assert list(caught.value.partial) == [0]
    assert not any(not text.strip() for batch in service.accepted for text in batch)


@pytest.mark.case("EM-06")
@pytest.mark.parametrize("kind", ["seconds", "no header", "date", "503"])
@pytest.mark.parametrize("colour", ["sync", "async"])
def test_waits_as_asked_and_sends_nothing_twice_em_06(
    service: Service, pauses: list[float], kind: str, colour: str
) -> None:
    def answer(body: dict[str, Any]) -> Reply:
        if len(service.requests) % 3 == 0:
            headers = {
                "seconds": {"Retry-After": "2"},
                "date": {"Retry-After": formatdate(math.ceil(time.time()) + 2, usegmt=True)},
            }.get(kind, {})
            return (503 if kind == "503" else 429), headers, refusal("slow down")
        return 200, {}, vectors(body["input"])

    service.answer = answer
    texts = [f"chunk {i}" for i in range(100)]
    model = embedder(service, batch_size=10)
    if colour == "sync":
        found = model.embed_documents(texts)
    else:

        async def main() -> list[list[float]]:
            vectors = await model.aembed_documents(texts)
            await model.aclose()
            return vectors

        found = asyncio.run(main())
    assert found == MODEL.embed_documents(texts)
    assert [text for batch in service.accepted for text in batch] == texts
    assert len(pauses) == 4
    if kind in ("seconds", "date"):
        assert min(pauses) >= 1.9


@pytest.mark.case("EM-06")
def test_gives_up_with_the_progress_kept_em_06(service: Service, pauses: list[float]) -> None:
    def answer(body: dict[str, Any]) -> Reply:
        if len(service.accepted) == 3:
            return 429, {"Retry-After": "30"}, refusal("slow down")
        return 200, {}, vectors(body["input"])

    service.answer = answer
    texts = [f"chunk {i}" for i in range(50)]
    model = embedder(service, batch_size=10, max_wait_s=60)
    with pytest.raises(RateLimited, match="limit is 60 s") as caught:
        embed_resilient(model, texts, 8)
    assert sorted(caught.value.partial) == list(range(30))
    assert sum(pauses) <= 60
    service.answer = lambda body: (200, {}, vectors(body["input"]))
    rest = [text for i, text in enumerate(texts) if i not in caught.value.partial]
    embed_resilient(model, rest, 8)
    assert [text for batch in service.accepted for text in batch] == texts


@pytest.mark.case("EM-06")
def test_used_up_quota_is_not_retried_em_06(service: Service, pauses: list[float]) -> None:
    service.answer = lambda body: (429, {}, refusal("see billing", code="insufficient_quota"))
    with pytest.raises(RateLimited, match="quota is used up"):
        embed_resilient(embedder(service), COMPASS, 8)
    assert (len(service.requests), pauses) == (1, [])


@pytest.mark.case("EM-07")
def test_strings_are_sent_em_07(service: Service) -> None:
    embedder(service).embed_query("hello world")
    assert service.requests == [
        {"input": ["hello world"], "model": "stub", "encoding_format": "float"}
    ]


@pytest.mark.case("EM-08")
def test_dimensions_are_sent_only_if_set_em_08(service: Service, pauses: list[float]) -> None:
    def refuse(body: dict[str, Any]) -> Reply:
        if "dimensions" in body:
            return 400, {}, refusal("unknown field 'dimensions'")
        return 200, {}, vectors(body["input"])

    service.answer = refuse
    assert embedder(service).dimensions == 8
    with pytest.raises(ProviderError, match="'dimensions'"):
        embed_resilient(embedder(service, dimensions=8), COMPASS)
    assert [request.get("dimensions") for request in service.requests] == [None, 8]
    service.answer = lambda body: (200, {}, vectors(body["input"]))
    with pytest.raises(BadEmbedding, match="length 8, expected 6"):
        embedder(service, dimensions=6, max_retries=0).embed_documents(COMPASS)


def limited_to_512(body: dict[str, Any]) -> Reply:
    if any(len(text.split()) > 512 for text in body["input"]):
        return 400, {}, refusal("This model's maximum context length is 512 tokens")
    return 200, {}, vectors(body["input"])


@pytest.mark.case("EM-09")
@pytest.mark.parametrize("silent", [False, True])
def test_long_texts_are_embedded_in_parts_em_09(
    service: Service, caplog: pytest.LogCaptureFixture, silent: bool
) -> None:
    if not silent:
        service.answer = limited_to_512
    texts = [" ".join(f"{n}w{i}" for i in range(n)) for n in (511, 512, 513, 4000)]
    model = embedder(
        service,
        max_input_tokens=512 if silent else None,
        count_tokens=lambda text: len(text.split()),
    )
    found = embed_resilient(model, texts, 8)
    assert found[:2] == MODEL.embed_documents(texts[:2])
    sent = " ".join(text for batch in service.accepted for text in batch).split()
    assert sorted(sent) == sorted(" ".join(texts).split())
    assert all(len(text.split()) <= 512 for batch in service.accepted for text in batch)
    for vector in found:
        assert not isinstance(vector, Failure)
        assert math.isclose(math.hypot(*vector), 1.0)
    assert "a text of" in caplog.text
    assert "embedded in parts" in caplog.text
    again = model.embed_documents(texts)
    assert isinstance(again, Embeddings)
    assert again.overlong == {2, 3}


@pytest.mark.case("EM-09")
def test_long_query_is_shortened_with_a_warning_em_09(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    service.answer = limited_to_512
    assert len(embedder(service).embed_query("word " * 2000)) == 8
    assert "query shortened" in caplog.text


def test_a_refusal_that_no_cut_helps_ends(service: Service) -> None:
    service.answer = lambda body: (413, {}, refusal("too large"))
    with pytest.raises(ContextTooLong):
        embedder(service).embed_documents(["word " * 100])


def test_a_service_that_is_down_gets_few_requests(service: Service, pauses: list[float]) -> None:
    service.answer = lambda body: (500, {}, refusal("internal error"))
    with pytest.raises(ProviderError, match="internal error"):
        embed_resilient(embedder(service, max_retries=0), [f"text {i}" for i in range(64)], 8)
    assert len(service.requests) == 5


def test_an_unreachable_service_is_named(pauses: list[float]) -> None:
    model = OpenAIEmbedder("stub", base_url="http://127.0.0.1:1/v1", api_key=KEY, max_retries=2)
    with pytest.raises(ProviderError, match=r"no answer from 127\.0\.0\.1") as caught:
        embed_resilient(model, COMPASS, 8)
    assert caught.value.scope == "service"
    assert len(pauses) == 2


@pytest.mark.case("OP-01")
@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_the_key_is_never_shown_op_01(
    service: Service, pauses: list[float], caplog: pytest.LogCaptureFixture, status: int
) -> None:
    caplog.set_level(logging.DEBUG)
    service.answer = lambda body: (status, {}, refusal(f"Incorrect API key provided: {KEY}"))
    model = embedder(service, max_retries=1, max_wait_s=5)
    chat = OpenAIGenerator("stub", base_url=service.url, api_key=KEY, max_retries=0)
    for failing in (
        lambda: model.embed_query("x"),
        lambda: chat.generate([{"role": "user", "content": "x"}]),
    ):
        with pytest.raises(RagpgError) as caught:
            failing()
        shown = "".join(traceback.format_exception(caught.value))
        assert KEY not in shown + str(caught.value) + repr(caught.value) + repr([model, chat])
        assert f"answered {status}" in str(caught.value)
        assert caught.value.__context__ is None
    assert KEY not in caplog.text


def test_a_missing_key_is_a_config_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        OpenAIEmbedder().embed_query("x")


def test_generates_and_counts(service: Service) -> None:
    service.answer = lambda body: (
        200,
        {},
        {
            "choices": [{"message": {"role": "assistant", "content": "Four."}}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 500},
        },
    )
    chat = OpenAIGenerator(
        "stub", base_url=service.url, api_key=KEY, prices=(1.0, 4.0), temperature=0
    )
    text, usage = chat.generate([{"role": "user", "content": "2 + 2?"}], max_tokens=5)
    assert text == "Four."
    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (1000, 500, 0.003)
    assert service.requests[0] == {
        "model": "stub",
        "messages": [{"role": "user", "content": "2 + 2?"}],
        "temperature": 0,
        "max_tokens": 5,
    }

    async def main() -> str:
        answer, _ = await chat.agenerate([{"role": "user", "content": "again"}])
        await chat.aclose()
        return answer

    # Two event loops in turn: each has connections of its own.
    assert [asyncio.run(main()), asyncio.run(main())] == ["Four.", "Four."]


def test_an_answer_without_text_tells_why(service: Service) -> None:
    service.answer = lambda body: (
        200,
        {},
        {"choices": [{"message": {"content": None}, "finish_reason": "content_filter"}]},
    )
    chat = OpenAIGenerator("stub", base_url=service.url, api_key=KEY)
    with pytest.raises(ProviderError, match="content_filter"):
        chat.generate([{"role": "user", "content": "x"}])
