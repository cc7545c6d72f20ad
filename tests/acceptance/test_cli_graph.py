"""`ragpg graph` where AGE is absent: looking works, Cypher says what it needs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

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
    # Found by title and by an entity's name too.
    assert "links to  b.md" in ragpg_cli("graph", "show", "--around", "alpha").output
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
    for arguments in (("cypher", "RETURN 1"), ("sync",), ("rebuild",), ("drop",)):
        result = ragpg_cli("graph", *arguments)
        assert result.exit_code == 3, result.output
        assert "extension age" in result.stderr
        assert "Hint:" in result.stderr
    status = ragpg_cli("graph", "status")
    assert status.exit_code == 0
    assert "everything else works" in status.output
    assert _json(ragpg_cli("graph", "status", "--json"))["labels"] == []
