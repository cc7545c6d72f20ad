"""Namespaces are apart, and nothing is deleted that was not named."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.errors import ConfigError, DatabaseError, NamespaceNotFound
from ragpg.evaluate.datasets import JudgedSet
from ragpg.evaluate.judged import evaluate
from ragpg.memory.memory import Memory

from .doubles import contents

if TYPE_CHECKING:
    from pathlib import Path

    import psycopg

    Database = psycopg.Connection[Any]

MODES: list[list[str] | None] = [["keyword"], ["vector"], ["keyword", "graph"], None]


def _fill(rag: ragpg.Client, names: list[str]) -> None:
    for name in names:
        rag.ingest(texts=[("secret", f"The secret of {name}.")], namespace=name)


@pytest.mark.case("TN-01")
def test_an_underscore_matches_itself_only_tn_01(rag: ragpg.Client, db: Database) -> None:
    names = ["team/red-one", "team/red_one", "team/redXone"]
    _fill(rag, names)
    for arms in MODES:
        found = rag.search("secret", namespace="team/red_one", arms=arms).hits
        assert [hit.namespace for hit in found] == ["team/red_one"]
    counts = {one.name: (one.documents, one.chunks) for one in rag.namespaces()}
    assert counts == dict.fromkeys(sorted(names), (1, 1))
    judged = JudgedSet("secrets", {}, {"q": "secret"}, {"q": {f"The secret of {names[1]}.": 1.0}})
    report = evaluate(
        lambda query, rung: [
            hit.content for hit in rag.search(query, namespace=names[1], arms=[rung]).hits
        ],
        judged,
        ["keyword", "vector"],
        k=1,
    )
    assert [rung.metrics["nDCG@1"].mean for rung in report.runs.values()] == [1.0, 1.0]
    assert rag.ingest(texts=[("more", "More.")], namespace=names[1]).ok
    assert len(contents(db, names[0])) == len(contents(db, names[2])) == 1
    assert rag.delete(["more"], namespace=names[1]) == 1
    assert rag.delete(["secret"], namespace="team/red_one") == 1
    assert contents(db, "team/red_one") == {}
    assert rag.drop_namespace("team/red_one")
    assert [one.name for one in rag.namespaces()] == ["team/red-one", "team/redXone"]
    assert len(contents(db, "team/red-one")) == len(contents(db, "team/redXone")) == 1


@pytest.mark.case("TN-01")
def test_an_underscore_in_an_agents_name_matches_itself_only_tn_01(
    rag: ragpg.Client, db: Database
) -> None:
    agents = {name: Memory(rag, name) for name in ("red-one", "red_one", "redXone", "red%")}
    kept = {name: one.remember(f"The secret of {name} is here.") for name, one in agents.items()}
    for name, one in agents.items():
        found = one.recall("the secret", min_similarity=-1)
        assert [memory.text for memory in found] == [f"The secret of {name} is here."]
    assert agents["red_one"].forget([one.source for one in kept.values()]) == 1
    assert agents["red%"].forget_everything()
    left = db.execute("select namespace from ragpg.memories order by 1").fetchall()
    assert left == [("memory/red-one",), ("memory/redXone",)]


@pytest.mark.case("TN-02")
def test_a_prefix_is_another_namespace_tn_02(rag: ragpg.Client) -> None:
    names = ["north", "north-sea", "north/eu", "nort", "NORTH", "north "]
    _fill(rag, names)
    assert len(rag.namespaces()) == 6
    for arms in MODES:
        found = rag.search("secret", namespace="north", arms=arms).hits
        assert [hit.content for hit in found] == ["The secret of north."]
    with pytest.raises(NamespaceNotFound, match="nor"):
        rag.search("secret", namespace="nor")
    both = rag.search("secret", namespace=["north", "NORTH"]).hits
    assert {hit.namespace for hit in both} == {"north", "NORTH"}


@pytest.mark.case("TN-04")
def test_nothing_named_is_nothing_deleted_tn_04(
    rag: ragpg.Client, db: Database, tmp_path: Path
) -> None:
    rag.ingest(texts=[("a", "one"), ("b", "two")])
    nothing: list[Any] = [[], None, "", [""], ()]
    for sources in nothing:
        assert rag.delete(sources) == 0
    delete: Any = rag.delete
    calls: list[dict[str, Any]] = [{}, {"filter": {}}, {"sources": [], "namespace": None}]
    for options in calls:
        with contextlib.suppress(TypeError, ragpg.RagpgError):
            assert delete(**options) == 0
    # An empty folder given for pruning is no request to delete.
    rag.ingest(tmp_path, prune=True)
    assert set(contents(db)) == {"a", "b"}
    assert rag.delete(["a"]) == 1
    assert rag.delete("b") == 1


@pytest.mark.case("FI-05")
def test_deleting_an_empty_list_deletes_nothing_fi_05(rag: ragpg.Client, db: Database) -> None:
    rag.ingest(texts=[
        {"source": "a", "text": "one", "metadata": {"t": "x"}},
        {"source": "b", "text": "two", "metadata": {"t": "y"}},
    ])  # fmt: skip
    assert rag.search("one two", filter={"t": {"in": []}}).hits == []
    assert len(rag.search("one two", filter={"t": {"not_in": []}}).hits) == 2
    assert rag.delete([]) == 0
    assert len(contents(db)) == 2


@pytest.mark.case("TN-05")
def test_one_file_in_two_namespaces_is_two_documents_tn_05(
    rag: ragpg.Client, db: Database, tmp_path: Path
) -> None:
    path = tmp_path / "plan.md"
    path.write_text("The plan.")
    for name in ("red", "blue"):
        rag.ingest(tmp_path, namespace=name)
    path.write_text("Another plan.")
    rag.ingest(tmp_path, namespace="red")
    assert contents(db, "red") == {"plan.md": ["Another plan."]}
    assert contents(db, "blue") == {"plan.md": ["The plan."]}
    assert rag.delete(["plan.md"], namespace="red") == 1
    assert contents(db, "blue") == {"plan.md": ["The plan."]}
    assert rag.search("plan", namespace="blue").hits


@pytest.mark.case("SC-05")
def test_long_names_stay_apart_sc_05(rag: ragpg.Client, db: Database) -> None:
    names = ["n" * 63 + "-one", "n" * 63 + "-two", "é" * 40, "x" * 255]
    _fill(rag, names)
    assert {one.name for one in rag.namespaces()} == set(names)
    for name in names:
        found = rag.search("secret", namespace=name).hits
        assert [hit.content for hit in found] == [f"The secret of {name}."]
    assert rag.drop_namespace(names[0])
    assert contents(db, names[1]) == {"secret": [f"The secret of {names[1]}."]}
    with pytest.raises(ConfigError, match="1024"):
        rag.create_namespace("y" * 1025)


@pytest.mark.case("SC-06")
def test_any_text_is_a_name_of_a_namespace_sc_06(rag: ragpg.Client, db: Database) -> None:
    names = ["MyDocs", "my-docs", "user:42", "a.b", "select", "1st", "café", 'say "hi"',
             "semi;colon", "space name", "o'clock", "back\\slash", "100%", "{a,b}", "NULL"]  # fmt: skip
    _fill(rag, names)
    assert {one.name for one in rag.namespaces()} == set(names)
    for name in names:
        found = rag.search("secret", namespace=name).hits
        assert [hit.content for hit in found] == [f"The secret of {name}."]
    for name in ("", "  "):
        with pytest.raises((ConfigError, DatabaseError), match="blank"):
            rag.create_namespace(name)
        with pytest.raises((ConfigError, DatabaseError), match="blank"):
            rag.ingest(texts=[("a", "b")], namespace=name)
    for name in names:
        assert rag.drop_namespace(name)
    assert rag.namespaces() == []


@pytest.mark.case("FU-04")
def test_a_filter_restricts_every_arm_before_ranking_fu_04(rag: ragpg.Client) -> None:
    rows = [("a", "red", 2024), ("b", "red", 2020), ("c", "blue", 2024)]
    for source, namespace, year in rows:
        rag.ingest(
            texts=[{"source": source, "text": "quarterly plan", "metadata": {"year": year}}],
            namespace=namespace,
        )
    for arms in (["keyword"], ["vector"], ["vector", "keyword"], ["keyword", "graph"], None):
        result = rag.search(
            "quarterly plan", namespace="red", filter={"year": {"gte": 2023}}, arms=arms
        )
        assert [hit.source for hit in result.hits] == ["a"]
        assert {arm.rank for arm in result.hits[0].arms.values()} == {1}
