"""Every query in docs/cypher.md runs and finds what it is there to find."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from . import content
from .content import cypher

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[Any]

pytestmark = pytest.mark.extension("age")

PAGE = (Path(__file__).parents[2] / "docs" / "cypher.md").read_text("utf-8")
VALUES = {"source": "guide.md", "one": "Orion", "other": "Delta"}


@pytest.fixture
def library(db: Connection) -> Connection:
    """Four documents, three entities, two communities."""
    owner = content.namespace(db)
    papers = {
        name: content.document(db, owner, f"{name}.md", f"The {name} of WAL")
        for name in ("guide", "index", "notes", "maker")
    }
    for one, other in (
        ("index", "guide"),
        ("notes", "guide"),
        ("guide", "notes"),
        ("notes", "maker"),
    ):
        content.link(db, owner, papers[one], papers[other])
    content.chunk(db, owner, papers["guide"], 1)
    orion, falcon, delta = (
        content.entity(db, owner, name) for name in ("Orion", "Falcon", "Delta")
    )
    for paper, named in (("guide", orion), ("guide", falcon), ("guide", delta), ("maker", delta)):
        content.mention(db, owner, papers[paper], named)
    content.relation(db, owner, papers["guide"], orion, "uses", falcon, "Orion uses Falcon.")
    content.relation(db, owner, papers["maker"], falcon, "made by", delta)
    content.relation(db, owner, papers["maker"], delta, "advises", orion)
    content.communities(
        db, owner, {"Orion": [papers["guide"], papers["notes"]], "Delta": [papers["maker"]]}
    )
    return db


@pytest.mark.smoke
def test_every_worked_query_finds_something(library: Connection) -> None:
    queries = re.findall(r"```cypher\n(.*?)```", PAGE, re.S)
    assert len(queries) == 9
    found = [
        cypher(library, query, **{k: v for k, v in VALUES.items() if f"${k}" in query})
        for query in queries
    ]
    assert found[0] == [{"cites": name, "anchor": ""} for name in ("index.md", "notes.md")]
    assert found[1] == [{"first": "notes.md", "second": "maker.md"}]
    assert found[2] == [{"subject": "Delta", "relation": "advises", "object": "Orion", "said": ""}]
    assert found[3] == [{"document": "guide.md"}]
    assert found[4] == [{"via": "Falcon", "first": "uses", "second": "made by"}]
    assert found[5] == [{"bridge": "notes.md", "leads_to": "maker.md"}]
    assert {"name": "Delta", "documents": 2} in found[6]
    assert found[7] == [{"alone": "index.md"}]
    assert len(found[8]) == 1


def test_every_statement_of_the_page_runs(library: Connection) -> None:
    blocks = re.findall(r"```sql\n(.*?)```", PAGE, re.S)
    assert len(blocks) == 2
    for block in blocks:
        library.execute(block.encode())
    [statement] = re.findall(r"^select \* from cypher\(.*$", PAGE, re.M)
    library.execute("set search_path = public, ag_catalog")
    library.execute("select '0'::ag_catalog.agtype")
    assert len(library.execute(statement.encode()).fetchall()) == 4


def test_the_page_names_every_label_and_property(library: Connection) -> None:
    labels = library.execute("select distinct label from ragpg.cypher_labels()").fetchall()
    for [label] in labels:
        assert re.search(rf"^\| `{label}` \|", PAGE, re.M), label
    rows = library.execute(
        "select distinct label, key[1] from ragpg.cypher_labels(),"
        " regexp_matches(rows, '''(\\w+)'', ?item', 'g') as key"
    ).fetchall()
    assert len(rows) > 20
    for label, key in rows:
        [line] = re.findall(rf"^\| `{label}` \|.*$", PAGE, re.M)
        assert f"`{key}`" in line, (label, key)
