"""Answers of a chat model: what becomes of claims that do not hold, in sync, async and streams."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.errors import ConfigError, ProviderError
from ragpg.query.checked import GATED
from ragpg.testing import HashEmbedder, ScriptedGenerator
from ragpg.types import Delta, Done, Judgement, Repairing, Revised

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import psycopg

    from ragpg import Answer, Client
    from ragpg.types import AnswerEvent, Pair

QUESTION = "How long do refunds take?"
GOOD = "Refunds take 5 working days [1]."
WRONG = "Refunds take 9 working days [1]."
MIXED = f"{WRONG} Gift cards are never refunded [2]."


@pytest.fixture
def filled(rag: Client) -> Client:
    rag.ingest(
        texts=[
            ("refunds.md", "Refunds take 5 working days."),
            ("cards.md", "Gift cards are never refunded."),
        ]
    )
    return rag


def every_way(filled: Client, database: str, script: Sequence[Any], **options: Any) -> Answer:
    """The answer of ask, which must be that of the async client and of both streams."""

    def model() -> ScriptedGenerator:
        return ScriptedGenerator(script)

    async def awaited() -> tuple[Answer, list[AnswerEvent]]:
        async with ragpg.aconnect(database, embedder=HashEmbedder(32)) as rag:
            whole = await rag.ask(QUESTION, generator=model(), **options)
            stream = rag.ask_stream(QUESTION, generator=model(), **options)
            return whole, [event async for event in stream]

    answer = filled.ask(QUESTION, generator=model(), **options)
    other, events = asyncio.run(awaited())
    streams = [events, list(filled.ask_stream(QUESTION, generator=model(), **options))]
    for one in (other, *(_last(events) for events in streams)):
        assert (one.text, one.revision, one.draft, one.notes, one.grounding.claims) == (
            answer.text, answer.revision, answer.draft, answer.notes, answer.grounding.claims,
        )  # fmt: skip
    for events in streams:
        assert shown(events, script[0]) == answer.text
    return answer


def shown(events: Sequence[AnswerEvent], first: str) -> str:
    """The text that somebody sees in the end who does as docs/python.md says; `first` is what the
    model wrote first."""
    text, repairs = "", 0
    for event in events:
        match event:
            case Delta(piece):
                text += piece
            case Repairing(claims):
                assert (text, repairs) == (first, 0)
                assert all(claim.verdict in ("unsupported", "contradicted") for claim in claims)
                assert claims
                text, repairs = "", 1
            case Revised(revised):
                text = revised
    return text


def _last(events: Sequence[AnswerEvent]) -> Answer:
    assert isinstance(events[-1], Done)
    return events[-1].answer


def test_claims_that_do_not_hold_go_back_once(filled: Client, database: str) -> None:
    answer = every_way(filled, database, [WRONG, GOOD], unsupported="repair")
    assert answer.text == GOOD
    assert (answer.revision, answer.draft) == ("repaired", WRONG)
    assert answer.grounding.state == "grounded"
    assert answer.notes == ["1 weak claims were sent back"]
    model = ScriptedGenerator([WRONG, GOOD])
    assert filled.ask(QUESTION, generator=model, unsupported="repair").usage.output_tokens == 12
    assert [one["role"] for one in model.requests[1]] == ["system", "user", "assistant", "user"]
    assert "which has 5 days" in model.requests[1][-1]["content"]


@pytest.mark.parametrize(
    ("second", "said"),
    [(ProviderError("gone"), "failed"), ("", "no text"), (WRONG, "no better answer")],
)
def test_a_repair_that_fails_keeps_the_first_answer_and_says_so(
    filled: Client, database: str, second: object, said: str
) -> None:
    answer = every_way(filled, database, [WRONG, second], unsupported="repair")
    assert (answer.text, answer.revision, answer.draft) == (WRONG, None, None)
    assert answer.grounding.state == "contradicted"
    [note] = answer.notes
    assert said in note
    assert "the first answer stays" in note


@pytest.mark.parametrize("said", ["Hello!", "What would you like to know?", "[1]", "```\nx\n```",
                                  "I could not find this in the sources."])  # fmt: skip
def test_a_text_without_claims_is_no_repair_of_an_answer_that_has_support(
    filled: Client, said: str
) -> None:
    first = f"{GOOD} Elephants can fly to Mars."
    model = ScriptedGenerator([first, said])
    answer = filled.ask(QUESTION, generator=model, unsupported="repair")
    assert (answer.text, answer.revision) == (first, None)
    assert answer.notes == ["the round of repair gave no better answer; the first answer stays"]


@pytest.mark.parametrize("said", ["", "  \n "])
def test_no_text_is_no_answer(filled: Client, said: str) -> None:
    answer = filled.ask(QUESTION, generator=ScriptedGenerator(said), gate=0.5)
    assert (answer.text, answer.refused) == (GATED, True)
    assert "the model gave no text" in answer.notes


def test_a_false_row_of_a_table_is_marked_inside_of_its_last_cell(filled: Client) -> None:
    table = "| what | days |\n|---|---|\n| Refunds take | 41 working days [1] |"
    answer = filled.ask(QUESTION, generator=ScriptedGenerator(table), unsupported="mark")
    assert answer.text.splitlines()[-1] == "| Refunds take | 41 working days [1] [contradicted] |"


def test_a_good_answer_is_not_asked_for_again(filled: Client) -> None:
    model = ScriptedGenerator([GOOD, AssertionError("asked")])
    assert filled.ask(QUESTION, generator=model, unsupported="repair").text == GOOD


def test_claims_that_do_not_hold_are_marked_or_dropped(filled: Client, database: str) -> None:
    marked = every_way(filled, database, [MIXED], unsupported="mark")
    assert marked.text == f"{WRONG} [contradicted] Gift cards are never refunded [2]."
    dropped = every_way(filled, database, [MIXED], unsupported="drop")
    assert dropped.text == "Gift cards are never refunded [2]."
    assert [one.number for one in dropped.citations] == [2]
    assert dropped.notes == ["1 of 2 claims were dropped: without support"]
    assert dropped.draft == MIXED
    nothing = every_way(filled, database, [WRONG], unsupported="drop")
    assert (nothing.text, nothing.refused) == (GATED, True)


def test_a_gate_gives_no_answer_of_low_confidence(filled: Client, database: str) -> None:
    shut = every_way(filled, database, [MIXED], gate=0.9)
    assert (shut.text, shut.refused, shut.revision) == (GATED, True, "gated")
    assert shut.draft == MIXED
    assert shut.grounding.confidence == 0.5
    assert "below the gate 0.9" in shut.notes[0]
    assert every_way(filled, database, [MIXED], gate=0.5).text == MIXED
    # The gate looks at what the repair made of it.
    repaired = every_way(filled, database, [WRONG, GOOD], gate=0.9, unsupported="repair")
    assert repaired.text == GOOD


def test_a_model_that_finds_nothing_refuses(filled: Client, database: str) -> None:
    answer = every_way(filled, database, ["I could not find this in the sources."])
    assert answer.refused
    assert answer.revision is None


class Never:
    """A judge that finds nothing supported."""

    name = "never"

    def judge(self, pairs: Sequence[Pair]) -> list[Judgement]:
        return [Judgement("unsupported", 0.0, ["never"]) for _ in pairs]


def test_the_caller_or_the_profile_chooses_the_judge(filled: Client, database: str) -> None:
    answer = every_way(filled, database, [GOOD], judge=Never())
    assert (answer.grounding.judge, answer.grounding.confidence) == ("never", 0.0)
    meaning = every_way(filled, database, [GOOD], judge="embedding")
    assert meaning.grounding.judge.startswith("embedding (hash")
    verdicts = '[{"id": 1, "verdict": "contradicted", "reason": "no"}]'
    asked = filled.ask(QUESTION, generator=ScriptedGenerator([GOOD, verdicts]), judge="llm")
    assert asked.grounding.judge == "llm (scripted)"
    assert asked.grounding.state == "contradicted"
    profile = ragpg.Profile(judge="embedding", gate=0.5, unsupported="mark")
    with ragpg.connect(database, embedder=HashEmbedder(32), profile=profile) as rag:
        assert rag.ask(QUESTION, generator=ScriptedGenerator(WRONG)).revision == "gated"
        assert rag.ground(GOOD, question=QUESTION).judge.startswith("embedding")
        assert rag.ground(GOOD, question=QUESTION, judge="lexical").judge == "lexical"
        found = rag.search(QUESTION, answer=GOOD).grounding
        assert found is not None
        assert found.judge.startswith("embedding")


def test_a_judge_that_fails_is_noted_and_one_that_cannot_be_had_is_an_error(
    filled: Client, database: str, tmp_path: Any
) -> None:
    answer = every_way(filled, database, [GOOD], judge=str(tmp_path))
    assert answer.grounding.state == "grounded"
    assert "the lexical judge took its place" in answer.grounding.notes[0]
    for wrong, said in (("embeding", "no judge 'embeding'"), (7, "a judge is a name")):
        with pytest.raises(ConfigError, match=said):
            filled.ask(QUESTION, generator=ScriptedGenerator(GOOD), judge=wrong)  # type: ignore[arg-type]
    with (
        ragpg.connect(database) as rag,
        pytest.raises(ConfigError, match="needs an embedder"),
    ):
        rag.ground(GOOD, judge="embedding")
    with pytest.raises(ConfigError, match="needs a chat model"):
        filled.ground(GOOD, judge="llm")
    for options in ({"gate": 2}, {"unsupported": "hide"}, {"prompt": "x"}, {"history": [1]}):
        with pytest.raises(ConfigError):
            filled.ask(QUESTION, generator=ScriptedGenerator(GOOD), **options)


def test_the_prompt_is_the_callers_or_the_profiles(filled: Client) -> None:
    model = ScriptedGenerator(GOOD)
    prompt = ragpg.Prompt(system="Rhyme.", template="<<{context}>> {x} {question}")
    filled.ask(QUESTION, generator=model, prompt=prompt)
    rules, asked = model.requests[0]
    assert rules["content"] == "Rhyme."
    assert asked["content"].startswith("<<")
    assert asked["content"].endswith(">> {x} " + QUESTION)
    profile = ragpg.Profile(system="Be brief.")
    list(filled.ask_stream(QUESTION, generator=model, profile=profile))
    assert model.requests[1][0]["content"] == "Be brief."
    with pytest.raises(ConfigError, match=r"no \{question\}"):
        ragpg.Profile(template="{context}")


@pytest.mark.parametrize("form", ["questions", "messages"])
def test_a_follow_up_is_searched_and_asked_with_what_was_said(
    filled: Client, database: str, form: str
) -> None:
    history: list[str | Mapping[str, str]] = ["Are gift cards refunded?"]
    if form == "messages":
        history = [
            {"role": "user", "content": "Are gift cards refunded?"},
            {"role": "assistant", "content": "Never."},
        ]
    model = ScriptedGenerator("They are never refunded [1].")
    answer = filled.ask(
        "And why are they?", generator=model, history=history, arms=["keyword"], k=1
    )
    assert answer.result.hits[0].source == "cards.md"
    said = [(one["role"], one["content"]) for one in model.requests[0]]
    if form == "messages":
        assert said[1:3] == [("user", "Are gift cards refunded?"), ("assistant", "Never.")]
    else:
        assert "- Are gift cards refunded?\n" in said[-1][1]

    async def awaited() -> str:
        async with ragpg.aconnect(database, embedder=HashEmbedder(32)) as rag:
            found = await rag.ask(
                "And why are they?", generator=model, history=history, arms=["keyword"], k=1
            )
            return found.result.hits[0].source

    assert asyncio.run(awaited()) == "cards.md"


def test_a_cancelled_answer_leaves_no_transaction(
    filled: Client, database: str, db: psycopg.Connection[Any]
) -> None:
    filled.close()

    class Slow:
        model = "slow"

        async def agenerate(self, *_: Any, **__: Any) -> Any:
            asked.set()
            await asyncio.sleep(60)

    asked = asyncio.Event()

    async def cancelled() -> object:
        async with ragpg.aconnect(database, embedder=HashEmbedder(32)) as rag:
            task = asyncio.create_task(rag.ask(QUESTION, generator=Slow()))
            await asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return db.execute(
                "select array_agg(state) from pg_stat_activity where datname = current_database()"
                " and pid <> pg_backend_pid()"
            ).fetchone()

    assert asyncio.run(cancelled()) == (["idle"],)
