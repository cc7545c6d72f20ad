"""How an answer comes about, as one text for all ways to ask: whole, or in events as it is written.

A script is a generator. It yields what is to be done next, a Part or a Write, and is sent what came
of it; an error is thrown into it. Between them it yields the events of a streamed answer, and Done
is the last one. `whole` drives a script as a flow; ragpg.streams drives it event by event.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ragpg.observe.stage import stage
from ragpg.query.checked import Checked, check, settled
from ragpg.query.repair import Round, better_of, repair_messages, weak_claims
from ragpg.query.thoughts import spoken
from ragpg.steps import Flow, call, complete
from ragpg.types import (
    Answer,
    AnswerEvent,
    Delta,
    Done,
    Grounding,
    Repairing,
    Revised,
    Started,
)

if TYPE_CHECKING:
    from ragpg.protocols import AsyncGenerator
    from ragpg.protocols import Generator as ChatModel
    from ragpg.query.checked import Prepared


@dataclass(frozen=True, slots=True)
class Part:
    """Run a flow; answered with its result."""

    flow: Flow[Any]


@dataclass(frozen=True, slots=True)
class Write:
    """Let the chat model answer messages, as a stage of this name; answered with its text."""

    stage: str
    messages: Sequence[Mapping[str, str]]


Script: TypeAlias = Generator[Part | Write | AnswerEvent, Any, None]


def answering(search: Flow[Prepared]) -> Script:
    """The script of an answer to a question; `search` finds what it is written from."""
    prepared: Prepared = yield Part(search)
    yield Started(prepared.result)
    if prepared.refused is not None:
        yield Delta(prepared.refused)
        verdicts = Grounding(prepared.refused, (), None)
        yield Done(Answer(prepared.refused, prepared.result, verdicts, refused=True))
        return
    draft: str = yield Write("generate", prepared.messages)
    checked: Checked = yield Part(check(prepared, draft))
    done, withdrawn = Round(draft, checked), False
    if prepared.request.about_unsupported == "repair" and weak_claims(checked.grounding):
        done = yield from _repaired(prepared, done)
        withdrawn = not done.better
    answer: Answer = yield Part(call(settled, prepared, draft, done))
    # A repaired text is what the last deltas said.
    if withdrawn or answer.revision not in (None, "repaired"):
        yield Revised(answer.text, answer.revision, answer.notes)
    yield Done(answer)


def _repaired(
    prepared: Prepared, first: Round[Checked]
) -> Generator[Part | Write | AnswerEvent, Any, Round[Checked]]:
    """The better one of two answers; a model that fails leaves the first, and the note says so."""
    verdicts = first.checked.grounding
    yield Repairing(weak_claims(verdicts))
    try:
        text: str = yield Write("repair", repair_messages(prepared.messages, first.text, verdicts))
    except Exception as error:
        return first.kept(f"the round of repair failed: {error}")
    if not text.strip():
        return first.kept("the round of repair gave no text")
    second: Checked = yield Part(check(prepared, text))
    return better_of(first, Round(text, second))


def whole(script: Script, generator: ChatModel | AsyncGenerator) -> Flow[Answer]:
    """The answer at the end of a script; nobody is told what happens on the way."""
    given: Any = None
    error: Exception | None = None
    while True:
        command = script.send(given) if error is None else script.throw(error)
        given = error = None
        try:
            match command:
                case Done(answer):
                    return answer
                case Part(flow):
                    given = yield from flow
                case Write(name, messages):
                    facts = {"model": generator.model}
                    said = yield from stage(name, complete(generator, messages), facts=facts)
                    given = spoken(said[0]) if isinstance(said[0], str) else ""
                case _:
                    continue
        except Exception as raised:
            error = raised
