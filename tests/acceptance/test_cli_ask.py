"""`ragpg ask`: answers as they are written, and exit codes where a model service is down."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ragpg.cli import failures
from ragpg.errors import ProviderError
from ragpg.testing import FailingEmbedder, ScriptedGenerator

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

QUESTION = "How long do refunds take?"
WRONG = "Refunds take 41 days [1]."
GOOD = "Refunds take 14 days [1]."


@pytest.fixture
def asks(
    ragpg_cli: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """Runs `ragpg ask` with a chat model that gives these answers."""
    (tmp_path / "refunds.md").write_text("# Refunds\n\nRefunds take 14 days.\n")
    assert ragpg_cli("ingest", str(tmp_path)).exit_code == 0

    def ask(*answers: str | Exception, arguments: tuple[str, ...]) -> Result:
        model = ScriptedGenerator(list(answers))
        monkeypatch.setattr("ragpg.cli.clients.make_generator", lambda _: model)
        return ragpg_cli("ask", QUESTION, *arguments)

    return ask


def test_a_stream_prints_the_text_then_what_is_to_be_said_of_it(
    asks: Callable[..., Result],
) -> None:
    result = asks(GOOD, arguments=("--stream",))
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{GOOD}\n\nSources:\n[1] ")
    assert result.stdout.count(GOOD) == 2  # and once among the claims
    assert "confidence 1.00: grounded" in result.stdout


def test_a_stream_tells_that_a_text_is_withdrawn(asks: Callable[..., Result]) -> None:
    result = asks(WRONG, GOOD, arguments=("--stream", "--unsupported", "repair"))
    assert result.stdout.startswith(f"{WRONG}\n{GOOD}\n\nSources:")
    assert "1 claim did not hold; the answer is written again" in result.stderr
    back = asks(WRONG, "", arguments=("--stream", "--unsupported", "repair"))
    assert back.stdout.startswith(f"{WRONG}\n\n\n{WRONG}\n\nSources:")
    assert "the first answer stays" in back.stderr
    shut = asks(WRONG, arguments=("--stream", "--gate", "0.5"))
    assert shut.exit_code == failures.FAILED
    assert shut.stdout.startswith(f"{WRONG}\n\nThe sources do not support an answer")


def test_a_stream_in_json_is_a_line_an_event(asks: Callable[..., Result]) -> None:
    arguments = ("--stream", "--unsupported", "repair", "--json")
    lines = [
        json.loads(line) for line in asks(WRONG, GOOD, arguments=arguments).stdout.splitlines()
    ]
    assert [one["event"] for one in lines] == ["started", "delta", "repairing", "delta", "done"]
    assert lines[2]["claims"][0]["verdict"] == "contradicted"
    whole = json.loads(asks(WRONG, GOOD, arguments=arguments[1:]).stdout)
    assert lines[-1].keys() == {"event", *whole}
    for name in ("answer", "draft", "citations", "grounding", "usage", "notes"):
        assert lines[-1][name] == whole[name]
    assert (whole["answer"], whole["revision"]) == (GOOD, "repaired")


@pytest.mark.parametrize("form", [(), ("--json",), ("--stream",), ("--stream", "--json")])
def test_a_chat_model_that_is_down_is_one_exit_code(
    asks: Callable[..., Result], form: tuple[str, ...]
) -> None:
    result = asks(ProviderError("no answer from 10.0.0.1"), arguments=form)
    assert result.exit_code == failures.UNAVAILABLE
    assert result.stderr == "Error: no answer from 10.0.0.1\n"


@pytest.mark.parametrize("form", [(), ("--stream", "--json")])
def test_so_it_is_where_the_question_could_not_be_embedded(
    asks: Callable[..., Result],
    ragpg_cli: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
    form: tuple[str, ...],
) -> None:
    """Where words find the sources the chat model is asked; else a refusal says nothing of them."""
    monkeypatch.setattr("ragpg.cli.clients.make_embedder", lambda _: FailingEmbedder(dimensions=8))
    assert asks(GOOD, arguments=form).exit_code == 0
    refused = ragpg_cli("ask", "zebra", *form)
    assert refused.exit_code == failures.UNAVAILABLE
    assert "the embedding service is away" in refused.stderr + refused.stdout


def test_a_judge_that_is_down_is_a_note(asks: Callable[..., Result]) -> None:
    result = asks(GOOD, ProviderError("gone"), arguments=("--judge", "llm"))
    assert result.exit_code == 0
    assert "gone; the lexical judge took its place" in result.stdout


def test_without_evidence_the_exit_code_is_that_of_a_refusal(
    ragpg_cli: Callable[..., Result], asks: Callable[..., Result]
) -> None:
    asks(GOOD, arguments=())
    assert ragpg_cli("ask", "zebra").exit_code == failures.FAILED
