"""`ragpg graph` against a database with AGE."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from ragpg.cli.main import main

if TYPE_CHECKING:
    import psycopg
    from click.testing import Result

    import ragpg

pytestmark = pytest.mark.extension("age")


@pytest.mark.smoke
def test_the_commands_of_the_mirror(
    rag: ragpg.Client, database: str, db: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGPG_DSN", database)
    monkeypatch.setenv("RAGPG_EMBEDDER", "none")

    def graph(*arguments: str) -> Result:
        return CliRunner().invoke(main, ["graph", *arguments], prog_name="ragpg")

    rag.ingest(texts=[("a.md", "# Alpha\n\ntext"), ("b.md", "# Beta\n\ntext")])
    query = (
        "MATCH (d:Document) WHERE d.source = $s RETURN d.title AS title, d.id AS id, d.nope AS n"
    )
    table = graph("cypher", query, "-p", "s=a.md")
    assert table.exit_code == 0, table.output
    assert table.output.splitlines()[0].split() == ["title", "id", "n"]
    assert table.output.splitlines()[1].split()[::2] == ["Alpha", "-"]
    rows = json.loads(graph("cypher", query, "-p", 's="b.md"', "--json").stdout)
    assert [list(row) for row in rows] == [["title", "id", "n"]]
    assert rows[0]["title"] == "Beta"
    empty = graph("cypher", query, "-p", "s=c.md")
    assert empty.output.split() == ["title", "id", "n"]

    for wrong, part in (
        ("MATCH (n) DELETE n", "read only"),
        ("MATCH (n RETURN n", "never closed"),
        ("MATCH n RETURN 1", "syntax"),
        ("MATCH (n) RETURN m", "m"),
        ("RETURN 1 / 0 AS x", "zero"),
    ):
        result = graph("cypher", wrong)
        assert result.exit_code == 2, result.output
        assert part in result.stderr
    assert graph("cypher", "RETURN 1", "-p", "no value").exit_code == 2
    slow = graph("cypher", "MATCH (a),(b),(c),(d),(e),(f),(g),(h),(i),(j),(k),(l),(m),(o),(p),(q),(r),(s),(t),(u)"
                 ",(v),(w) RETURN count(*)", "--timeout", "0.3")  # fmt: skip
    assert slow.exit_code == 1, slow.output

    assert graph("status").exit_code == 0
    db.execute('delete from ragpg_graph_1."Document"')
    status = graph("status", "--json")
    assert status.exit_code == 1
    assert json.loads(status.stdout)["is_current"] is False
    synced = json.loads(graph("sync", "--json").stdout)
    assert {"label": "Document", "added": 2, "removed": 0, "total": 2} in synced["labels"]
    assert graph("status").exit_code == 0
    assert json.loads(graph("drop", "--json").stdout) == {"namespace": "default", "dropped": True}
    assert graph("drop").exit_code == 1
    assert graph("cypher", query, "-p", "s=a.md").exit_code == 2
    assert graph("status").exit_code == 1
    assert "Document" in graph("rebuild").output
    assert graph("sync", "--mode", "off").exit_code == 0
    assert graph("status").exit_code == 0
