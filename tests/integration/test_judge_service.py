"""A chat model as judge behind a service: batches, what it cannot say in JSON, and one that hangs."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from ragpg.judges.llm import LLMJudge
from ragpg.observe.stage import operation
from ragpg.perform import AsyncPerformer, Performer
from ragpg.query.ground import ground_flow
from ragpg.steps import arun, run
from ragpg.types import Hit
from tests.http_service import HttpService

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ragpg.types import Grounding, Judgement, Pair, Usage
    from tests.http_service import Reply

openai = pytest.importorskip("openai")

from ragpg.providers.openai import OpenAIGenerator  # noqa: E402

HITS = [Hit(1, 1.0, "default", "a.md", " ".join(f"Pump {n} runs at {n} bar." for n in range(30)))]
ANSWER = "\n".join(f"- Pump {n} runs at {n} bar [1]." for n in range(30))


class Judging(HttpService):
    """Finds every pair unsupported, in the words of `said`."""

    def __init__(self) -> None:
        super().__init__()
        self.said: Any = self.verdicts
        self.leave = threading.Event()

    def verdicts(self, count: int) -> str:
        return json.dumps([{"id": n, "verdict": "unsupported"} for n in range(1, count + 1)])

    def reply(self, body: dict[str, Any], headers: Mapping[str, str]) -> Reply:
        count = body["messages"][-1]["content"].count('"id":')
        self.requests.append({"count": count, **body})
        if self.said is None:
            self.leave.wait(20)
            return 503, {}, {}
        message = {"role": "assistant", "content": self.said(count)}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        return 200, {}, {"id": "1", "object": "chat.completion", "created": 1, "model": "m",
                         "choices": choices, "usage": usage}  # fmt: skip


@pytest.fixture
def service() -> Iterator[Judging]:
    found = Judging()
    yield found
    found.leave.set()
    found.stop()


def ways(judge: Any, timeout: float | None = None) -> tuple[Grounding, Usage]:
    """Verdicts of the sync drivers, which must be those of the async ones; what they cost."""
    spent: list[Usage] = []

    def flow() -> Any:
        checked = ground_flow(ANSWER, HITS, judge, timeout)
        return operation("ground", checked, namespaces=(), category="grounding",
                         charged=lambda found, usage: spent.append(usage) or found)  # type: ignore[func-returns-value]  # fmt: skip

    async def awaited() -> Grounding:
        return await arun(flow(), AsyncPerformer(None))  # type: ignore[arg-type]

    whole: Grounding = run(flow(), Performer(None))  # type: ignore[arg-type]
    other = asyncio.run(awaited())
    assert [one.verdict for one in other.claims] == [one.verdict for one in whole.claims]
    return whole, spent[0] if spent else None  # type: ignore[return-value]


def judge_of(service: Judging, **options: Any) -> LLMJudge:
    model = OpenAIGenerator("m", base_url=service.url, api_key="k", max_retries=0,
                            prices=(1.0, 2.0))  # fmt: skip
    return LLMJudge(model, **options)


def test_pairs_come_in_batches_and_every_request_is_charged(service: Judging) -> None:
    found, usage = ways(judge_of(service, candidates=2, batch=12))
    assert [one["count"] for one in service.requests[:5]] == [12] * 5
    assert {one.verdict for one in found.claims} == {"unsupported"}
    assert {one.judge for one in found.claims} == {"llm (m)"}
    assert not found.notes
    assert (usage.input_tokens, usage.output_tokens) == (500, 50)
    assert usage.cost_usd == pytest.approx((500 + 2 * 50) / 1e6)


@pytest.mark.parametrize(
    ("said", "judged"),
    [
        (lambda count: "", 0),
        (lambda count: "I would rather not say.", 0),
        (lambda count: "[" * 5000, 0),
        (lambda count: '{"id": 1, "verdict": "maybe"}', 0),
        # Cut off in the middle, and one of each batch.
        (lambda count: '[{"id": 1, "verdict": "unsupported"}, {"id": 2, "verd', 3),
        (lambda count: '```json\n{"pairs": [{"pair": "2", "label": "NOT_SUPPORTED"}]}\n```', 3),
    ],
)
def test_what_cannot_be_read_is_left_to_the_words(service: Judging, said: Any, judged: int) -> None:
    service.said = said
    found, usage = ways(judge_of(service, candidates=1, batch=10))
    assert [one.judge for one in found.claims].count("llm (m)") == judged
    assert [one.verdict for one in found.claims].count("supported") == 30 - judged
    [note] = found.notes
    assert "lexical" in note
    assert usage.output_tokens >= 10


class Hangs:
    """A judge of somebody else that never answers."""

    name = "hangs"

    def __init__(self) -> None:
        self.leave = threading.Event()

    def judge(self, pairs: Sequence[Pair]) -> list[Judgement]:
        self.leave.wait(20)
        return []


@pytest.mark.parametrize("kind", ["service", "judge"])
def test_a_judge_that_hangs_has_failed_after_its_time(service: Judging, kind: str) -> None:
    service.said = None
    hangs = Hangs()
    judge = judge_of(service) if kind == "service" else hangs
    found, _ = ways(judge, 0.2)
    hangs.leave.set()
    assert {one.verdict for one in found.claims} == {"supported"}
    [note] = found.notes
    assert note.endswith("no answer within 0.2 s; the lexical judge took its place")
