"""`ragpg graph` where AGE is absent: looking works, Cypher says what it needs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from ragpg.testing import ScriptedGenerator
from tests.age import content

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result


@pytest.fixture
def library(database: str) -> None:
    """Three documents and three entities; nothing else is needed."""
    with psycopg.connect(database, autocommit=True) as db:
        owner = content.namespace(db)
        one, other = (
            content.document(db, owner, "a.md", "Alpha"),
            content.document(db, owner, "b.md"),
        )
        third = content.document(db, owner, "far.md")
        content.link(db, owner, one, other)
        content.link(db, owner, other, third)
        orion, falcon = content.entity(db, owner, "Orion"), content.entity(db, owner, "Falcon")
        content.mention(db, owner, one, orion)
        content.mention(db, owner, other, falcon)
        content.relation(db, owner, one, orion, "uses", falcon)


def _json(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.smoke
def test_show_prints_a_neighbourhood(
    ragpg_cli: Callable[..., Result], library: None, tmp_path: Path
) -> None:
    text = ragpg_cli("graph", "show", "--around", "a.md")
    assert text.exit_code == 0, text.output
    assert "a.md (Alpha)" in text.output
    assert "links to  b.md" in text.output
    assert "far.md" not in text.output
    assert "far.md" in ragpg_cli("graph", "show", "--around", "a.md", "--hops", "2").output
    # A name is found however it is spelt; titles are names too.
    assert "is the topic of  a.md" in ragpg_cli("graph", "show", "--around", "ALPHA").output
    entity = ragpg_cli("graph", "show", "--around", "Orion").output
    assert "is related to (uses)  Falcon" in entity
    assert "is mentioned in  a.md (Alpha)" in entity

    dot = ragpg_cli("graph", "show", "--around", "a.md", "--format", "dot").output
    assert dot.startswith("digraph")
    assert '[label="links to"]' in dot
    found = _json(ragpg_cli("graph", "show", "--around", "a.md", "--json"))
    assert found["nodes"][0]["source"] == "a.md"
    assert {"kind", "source", "target", "weight", "label"} == set(found["edges"][0])

    page = tmp_path / "page.html"
    made = ragpg_cli("graph", "show", "--around", "a.md", "--format", "html", "-o", str(page))
    assert made.exit_code == 0, made.output
    assert page.read_text().startswith("<!doctype html>")

    unknown = ragpg_cli("graph", "show", "--around", "nothing.md")
    assert unknown.exit_code == 2
    assert "nothing.md" in unknown.stderr


def test_without_age_cypher_says_what_it_needs(
    ragpg_cli: Callable[..., Result], library: None
) -> None:
    for arguments in (("cypher", "RETURN 1"), ("sync",), ("drop",)):
        result = ragpg_cli("graph", *arguments)
        assert result.exit_code == 3, result.output
        assert "extension age" in result.stderr
        assert "Hint:" in result.stderr
    status = ragpg_cli("graph", "status")
    assert status.exit_code == 0
    assert "everything else works" in status.output
    found = _json(ragpg_cli("graph", "status", "--json"))
    assert found["labels"] == []
    assert found["graphs"][0]["documents"] == 3


def test_the_graph_of_the_tables_needs_no_age(
    ragpg_cli: Callable[..., Result], library: None
) -> None:
    assert ragpg_cli("graph", "rebuild").exit_code == 0
    analysed = _json(ragpg_cli("graph", "analyse", "--json"))
    assert analysed["namespace"] == "default"
    assert ragpg_cli("graph", "analyse").exit_code == 0
    named = _json(ragpg_cli("graph", "names", "--extractor", "capitals", "--json"))
    # The three documents of the library have one text.
    assert named["chunks"] == 1
    assert ragpg_cli("graph", "analyse", "-n", "nobody").exit_code == 1


def test_extract_reads_what_is_new(
    ragpg_cli: Callable[..., Result], library: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answer = {
        "passages": [{"id": 1, "entities": [{"name": "text", "kind": "term"}], "relations": []}]
    }
    model = ScriptedGenerator([json.dumps(answer), "I cannot say."])
    monkeypatch.setattr("ragpg.cli.clients.make_generator", lambda spec: model)
    task = tmp_path / "task.txt"
    task.write_text("Name the terms.")
    arguments = ("graph", "extract", "--batch", "1", "--limit", "1", "--prompt", str(task))
    dry = _json(ragpg_cli(*arguments, "--json", "--dry-run"))
    assert (dry["chunks"], dry["requests"]) == (1, 1)
    assert dry["input_tokens"] > 20
    assert not model.requests
    report = _json(ragpg_cli(*arguments, "--json"))
    assert (report["read"], report["known"], report["failed"], report["entities"]) == (1, 0, 0, 3)
    assert model.requests[0][0]["content"].startswith("Name the terms.")
    # The three documents of the library have one text.
    again = ragpg_cli(*arguments)
    assert again.exit_code == 0, again.output
    assert again.output.startswith("0 chunks read, 0 known from before, 0 failed")
    failed = ragpg_cli("graph", "extract", "--limit", "1")
    assert failed.exit_code == 1
    assert "no list of passages" in failed.stderr


def test_reports_and_overviews(
    ragpg_cli: Callable[..., Result], library: None, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = {"title": "All of it", "summary": "Three documents.", "findings": []}
    model = ScriptedGenerator([json.dumps(report), "It is about text [1]."])
    monkeypatch.setattr("ragpg.cli.clients.make_generator", lambda spec: model)
    nothing = ragpg_cli("graph", "overview", "What is it about?")
    assert nothing.exit_code == 1
    assert "no communities" in nothing.stderr
    with psycopg.connect(database, autocommit=True) as db:
        ids = [row[0] for row in db.execute("select id from ragpg.document").fetchall()]
        db.execute("delete from ragpg.document_rank")
        db.execute("delete from ragpg.community")
        content.communities(db, content.namespace(db), {"all": ids})
    dry = ragpg_cli("graph", "reports", "--dry-run", "--prices", "1", "2")
    assert dry.output.startswith("1 of 1 communities to report on: ")
    assert " USD" in dry.output
    assert not model.requests
    written = _json(ragpg_cli("graph", "reports", "--json", "--prices", "1000000", "0"))
    assert (written["written"], written["communities"], written["failed"]) == (1, 1, 0)
    assert written["usage"]["cost_usd"] == written["usage"]["input_tokens"] > 0
    answer = ragpg_cli("graph", "overview", "What is it about?")
    assert answer.output.startswith("It is about text [1].")
    assert "[1] All of it: 3 documents, report" in answer.output
    shown = _json(ragpg_cli("graph", "overview", "text", "--no-model", "--json"))
    assert shown["answer"] is None
    assert shown["reports"][0]["summary"] == "Three documents."


def test_an_ingest_analyses_what_is_small_and_else_says_what_to_run(
    ragpg_cli: Callable[..., Result],
    database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for n in range(3):
        (tmp_path / f"{n}.md").write_text(f"Zirconium and feldspar {n}. See [next]({n + 1}.md).")
    first = _json(ragpg_cli("ingest", str(tmp_path), "-n", "small", "--json"))
    assert first["graph"] == {"stale": False, "changed": 0, "analysed": True, "hint": None}
    again = _json(ragpg_cli("ingest", str(tmp_path), "-n", "small", "--json"))
    assert again["graph"] == {"stale": False, "changed": 0, "analysed": False, "hint": None}
    with psycopg.connect(database) as other:
        # Another session analyses: what came meanwhile is stale.
        other.execute("select pg_advisory_xact_lock(hashtext('ragpg.analyse_graph'), 1)")
        (tmp_path / "late.md").write_text("Basalt.")
        late = _json(ragpg_cli("ingest", str(tmp_path), "-n", "small", "--json"))["graph"]
    assert (late["stale"], late["changed"], late["analysed"]) == (True, 1, False)
    assert "ragpg graph analyse -n small" in late["hint"]
    (tmp_path / "late.md").unlink()
    dry = _json(ragpg_cli("ingest", str(tmp_path), "-n", "small", "--dry-run", "--json"))
    assert dry["graph"] is None
    monkeypatch.setenv("RAGPG_GRAPH_ANALYSE", "false")
    left = ragpg_cli("ingest", str(tmp_path), "-n", "my notes")
    assert left.exit_code == 0
    assert (
        "the graph of namespace 'my notes' was never analysed: 3 documents; "
        "run: ragpg graph analyse -n 'my notes'" in left.stderr
    )
    assert _json(ragpg_cli("ingest", str(tmp_path), "-n", "my notes", "--json"))["graph"]["stale"]


def test_rank_lists_documents_by_their_place(
    ragpg_cli: Callable[..., Result], library: None
) -> None:
    before = ragpg_cli("graph", "rank")
    assert "run: ragpg graph analyse -n default" in before.stderr
    near = _json(ragpg_cli("graph", "rank", "--near", "a.md", "--hops", "1", "--json"))
    assert [one["source"] for one in near] == ["a.md", "b.md"]
    _json(ragpg_cli("graph", "analyse", "--json"))
    assert "far.md" in ragpg_cli("graph", "rank").stdout
