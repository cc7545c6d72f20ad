"""The bars of judges and the gate: set in a file, the environment, Python or an option, they change
the verdict everywhere that a text is checked."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.config.read import read_config
from ragpg.config.values import Config
from ragpg.errors import ConfigError
from ragpg.judges.lexical import LexicalJudge
from ragpg.judges.options import EmbeddingOptions, LexicalOptions
from ragpg.testing import HashEmbedder, ScriptedGenerator
from ragpg.tools.search_tool import SearchTool

pytest.importorskip("mcp")

from mcp import Client as McpClient
from mcp import StdioServerParameters, stdio_client

from ragpg.tools.mcp_server import build_server

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    from ragpg import Client

SOURCE = "Refunds reach the customer account in 14 days."
#: Four of five words of meaning stand in the source.
CLAIM = "Refunds reach every customer account slowly."
STRICT = Config(lexical_judge=LexicalOptions(supported=0.9, partial=0.3))


@pytest.fixture
def filled(rag: Client) -> Client:
    rag.ingest(texts=[("refunds.md", SOURCE)])
    return rag


def verdict(found: ragpg.Grounding) -> str:
    (claim,) = found.claims
    return claim.verdict


@pytest.mark.usefixtures("filled")
def test_the_bars_of_python_change_what_ask_ground_and_streams_say(database: str) -> None:
    model = ScriptedGenerator([CLAIM])
    for config, expected in ((Config(), "supported"), (STRICT, "partial")):
        with ragpg.connect(database, generator=model, config=config) as rag:
            shown = rag.search("refunds", answer=CLAIM)
            assert shown.grounding is not None
            assert verdict(shown.grounding) == expected
            assert verdict(rag.ground(CLAIM)) == expected
            assert verdict(rag.ground(CLAIM, result=shown)) == expected
            answer = rag.ask("How do refunds reach the account?")
            assert verdict(answer.grounding) == expected
            *_, done = rag.ask_stream("How do refunds reach the account?")
            assert verdict(done.answer.grounding) == expected  # type: ignore[union-attr]
            # The judge that stands in has the same bars.
            assert verdict(rag.ground(CLAIM, judge=Broken())) == expected
            assert verdict(rag.ground(CLAIM, judge=LexicalJudge(0.9, 0.3))) == "partial"
    low, high = (
        Config(embedding_judge=EmbeddingOptions(supported=bar, partial=-1.0, veto=()))
        for bar in (-1.0, 1.0)
    )
    for config, expected in ((low, "supported"), (high, "partial")):
        with ragpg.connect(database, embedder=HashEmbedder(32), config=config) as rag:
            assert verdict(rag.ground(CLAIM, judge="embedding")) == expected


class Broken:
    name = "broken"

    def judge(self, pairs: Any) -> Any:
        raise RuntimeError("no")


@pytest.mark.usefixtures("filled")
def test_the_bars_of_files_variables_and_options_change_what_commands_say(
    ragpg_cli: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(*arguments: str) -> str:
        found = ragpg_cli("ground", CLAIM, "--json", *arguments)
        assert found.exit_code == 0, found.output
        return str(json.loads(found.stdout)["claims"][0]["verdict"])

    assert said() == "supported"
    assert said("--supported", "0.9") == "partial"
    assert said("--supported", "0.9", "--partial", "0.85") == "unsupported"
    file = tmp_path / "ragpg.yaml"
    file.write_text("lexical_judge: {supported: 0.9}")
    assert said("--config", str(file)) == "partial"
    assert said("--config", str(file), "--supported", "0.5") == "supported"
    monkeypatch.setenv("RAGPG_LEXICAL_JUDGE_SUPPORTED", "0.9")
    assert said() == "partial"
    model = ScriptedGenerator([CLAIM])
    monkeypatch.setattr("ragpg.cli.clients.make_generator", lambda _: model)
    asked = ("ask", "How do refunds reach the account?", "--json")
    assert json.loads(ragpg_cli(*asked).stdout)["grounding"]["claims"][0]["verdict"] == "partial"
    assert ragpg_cli(*asked, "--gate", "0.6").exit_code == 1
    monkeypatch.setenv("RAGPG_PROFILE_GATE", "0.6")
    assert ragpg_cli(*asked).exit_code == 1
    assert ragpg_cli(*asked, "--supported", "0.5").exit_code == 0
    for arguments, told in (
        (("--supported", "7"), "supported must be a number from 0 to 1, not 7.0"),
        (("--partial", "0.95"), "partial, 0.95, is above supported, 0.9"),
        (("--contradicted", "0.5"), "no bar --contradicted"),
        (("--judge", "llm", "--supported", "0.5"), "no bar --supported"),
    ):
        refused = ragpg_cli("ground", CLAIM, *arguments)
        assert (refused.exit_code, told in refused.stderr) == (2, True), refused.output


@pytest.mark.usefixtures("filled")
def test_the_bars_change_what_an_agent_is_told(database: str) -> None:
    async def told(server: Any) -> str:
        async with McpClient(server) as client:
            found = await client.call_tool("ground", {"answer": CLAIM})
            return str(found.structured_content["claims"][0]["verdict"])

    async def run() -> tuple[str, str]:
        async with ragpg.aconnect(database, config=STRICT) as rag:
            configured = await told(build_server(rag, SearchTool(["default"])))
        started = StdioServerParameters(
            command=sys.executable,
            args=["-m", "ragpg.cli.main", "mcp", "-n", "default", "--embedder", "none",
                  "--supported", "0.9"],
            env={**os.environ, "RAGPG_DSN": database},
        )  # fmt: skip
        return configured, await told(stdio_client(started))

    assert asyncio.run(run()) == ("partial", "partial")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[lexical_judge]\nsupported = 1.5", "lexical_judge.supported: supported must be a number"),
        ("[lexical_judge]\nsupported = nan", "from 0 to 1, not nan"),
        ("[lexical_judge]\npartial = 0.6", "partial, 0.6, is above supported, 0.5"),
        ("[embedding_judge]\nsuported = 0.5", "Did you mean supported?"),
        ("[embedding_judge]\ncandidates = 0", "a whole number from 1 to 1,000, not 0"),
        ("[nli_judge]\nmax_tokens = 8", "max_tokens must be a whole number from 16"),
        ("[nli_judge]\nveto = ['numbers']", "veto has no fact 'numbers'"),
        ("[llm_judge]\nbatch = 0", "llm_judge.batch: batch must be"),
        ("[profile]\nlow_cosine = -2", "low_cosine must be a number from -1 to 1"),
    ],
)
def test_what_cannot_be_a_bar_is_refused_with_its_rule(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "ragpg.toml").write_text(text)
    with pytest.raises(ConfigError) as refused:
        read_config(tmp_path / "ragpg.toml", {})
    assert said in str(refused.value)


def test_both_bars_may_be_below_the_default_of_one(tmp_path: Path) -> None:
    (tmp_path / "ragpg.toml").write_text("[lexical_judge]\nsupported = 0.2\npartial = 0.1")
    assert read_config(tmp_path / "ragpg.toml", {}).lexical_judge == LexicalOptions(0.2, 0.1)
    found = read_config(tmp_path / "ragpg.toml", {"RAGPG_PROFILE_LOW_COSINE": "0.4"})
    assert found.profile.low_cosine == 0.4
    assert found.origins["profile.low_cosine"] == "environment"
