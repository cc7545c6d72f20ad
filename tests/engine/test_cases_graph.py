"""Reported cases of the graph, on the tables; those of Cypher are in tests/age."""

from __future__ import annotations

import itertools
import json
import random
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from .engine import Engine

HOSTILE = [
    "It's",
    'say "hi"',
    "C:\\srv\\data",
    "price $$$ (about $100)",
    "$tag$ x $tag$",
    "a\nb\tc",
    "back`tick",
    "{curly} $param",
    "组织",
    "🚀",
    "x'}) DETACH DELETE n //",
]


def extract(
    engine: Engine,
    chunk: int,
    names: list[str],
    relations: list[tuple[str, str, str]] | None = None,
    descriptions: dict[str, str] | None = None,
) -> int:
    count: int = engine.value(
        "select ragpg.store_extracted('default', 'test', array[%s::bigint], %s, %s)",
        chunk,
        json.dumps(
            [
                {"chunk_id": chunk, "name": name, "description": (descriptions or {}).get(name)}
                for name in names
            ]
        ),
        json.dumps(
            [
                {"chunk_id": chunk, "source": source, "kind": kind, "target": target}
                for source, kind, target in relations or []
            ]
        ),
    )
    return count


def chunk_of(engine: Engine, source: str) -> int:
    found: int = engine.value(
        "select chunk.id from ragpg.chunk join ragpg.document on document.id = document_id"
        " where source = %s order by ordinal limit 1",
        source,
    )
    return found


def names(engine: Engine) -> set[str]:
    return {row["name"] for row in engine.rows("select name from ragpg.entity")}


@pytest.mark.case("GR-01")
def test_hostile_names_are_stored_as_they_are_gr_01(engine: Engine) -> None:
    engine.add({"d": "text"})
    chunk = chunk_of(engine, "d")
    description = "uses $1 and '\\' in \"C:\\new\""
    assert extract(engine, chunk, HOSTILE, descriptions=dict.fromkeys(HOSTILE, description)) == len(
        HOSTILE
    )
    assert names(engine) == set(HOSTILE)
    for name in HOSTILE:
        found = engine.rows("select name from ragpg.entity where key = ragpg.entity_key(%s)", name)
        assert [row["name"] for row in found] == [name]
    told = engine.rows("select distinct description from ragpg.mention")
    assert [row["description"] for row in told] == [description]
    with pytest.raises(psycopg.DatabaseError, match="empty"):
        extract(engine, chunk, [""])
    assert names(engine) == set(HOSTILE)


@pytest.mark.case("GR-02")
def test_neighbours_are_found_by_the_raw_name_gr_02(engine: Engine) -> None:
    first, second = 'the "green list"', "path\\with\\slashes"
    engine.add({"d": "text", "e": "other"})
    extract(engine, chunk_of(engine, "d"), [], [(first, "in", second)])
    for one, other in ((first, second), (second, first)):
        found = engine.rows("select * from ragpg.entity_neighbours('default', %s)", [one])
        assert [(row["name"], row["neighbour"]) for row in found] == [(one, other)]
    both = engine.rows("select * from ragpg.entity_neighbours('default', %s)", [first, second])
    assert [row["name"] for row in both] == [first, second]
    asked = engine.rows(
        "select source from ragpg.graph_search('{}', query => %s)", "What is PATH\\with\\slashes?"
    )
    assert [row["source"] for row in asked] == ["d"]
    seeds = [chunk_of(engine, "d")]
    extract(engine, chunk_of(engine, "e"), [second])
    hops = engine.rows("select source from ragpg.graph_search(%s)", seeds)
    assert [row["source"] for row in hops] == ["e"]


@pytest.mark.case("GR-04")
def test_deleting_takes_what_is_its_own_and_no_more_gr_04(engine: Engine) -> None:
    engine.add({"d1": "Orion uses Falcon.", "d2": "Falcon is made by Delta."})
    extract(
        engine,
        chunk_of(engine, "d1"),
        ["Orion", "Falcon"],
        [("Orion", "uses", "Falcon")],
        {"Falcon": "used by Orion"},
    )
    extract(engine, chunk_of(engine, "d2"), ["Falcon", "Delta"], [("Falcon", "made by", "Delta")])
    engine.value("select ragpg.delete_documents('default', '{d1}')")
    assert names(engine) == {"Falcon", "Delta"}
    assert [row["kind"] for row in engine.rows("select kind from ragpg.relation")] == ["made by"]
    told = engine.rows(
        "select description from ragpg.mention join ragpg.entity on entity.id = entity_id where name = 'Falcon'"
    )
    assert [row["description"] for row in told] == [""]
    engine.add({"d2": "Falcon flies."}, fingerprint="new")
    extract(engine, chunk_of(engine, "d2"), ["Falcon"])
    assert names(engine) == {"Falcon"}
    assert engine.rows("select 1 from ragpg.relation") == []
    engine.value("select ragpg.delete_documents('default', '{d2}')")
    assert names(engine) == set()


def odd_name(rng: random.Random) -> str:
    """A name that somebody meant to break something with."""
    parts = [
        *"'\"\\$`{}();%:@[]<>/*-—é漢🚀\t\n ",
        "$$",
        "$x$",
        "--",
        "\\u0000",
        "%s",
        "NULL",
        "ab",
        "Z",
    ]
    return "".join(rng.choice(parts) for _ in range(rng.randint(1, 30))) + rng.choice(
        ["", "x" * 10_000]
    )


def test_two_thousand_hostile_names_come_and_go(engine: Engine) -> None:
    rng = random.Random(7)
    wanted = [name for name in (odd_name(rng) for _ in range(2000)) if name.strip()]
    engine.add({"d": "text", "kept": "text"})
    extract(engine, chunk_of(engine, "kept"), ["Falcon"])
    chunk = chunk_of(engine, "d")
    extract(
        engine,
        chunk,
        wanted,
        [(one, one, other) for one, other in itertools.pairwise(wanted)],
    )
    keys = {row["key"]: row["name"] for row in engine.rows("select key, name from ragpg.entity")}
    asked = engine.rows(
        "select name, ragpg.entity_key(name) as key from unnest(%s::text[]) as name", wanted
    )
    # Names that differ in capitals or blanks alone are one; each is there under its key, unchanged.
    assert {row["key"] for row in asked} | {"falcon"} == set(keys)
    assert set(keys.values()) <= {*wanted, "Falcon"}
    found: list[dict[str, Any]] = engine.rows(
        "select count(*) as n from ragpg.named_entities(%s, '{1}')", " ".join(wanted[:50])
    )
    assert found[0]["n"] >= 0
    engine.value("select ragpg.delete_documents('default', '{d}')")
    assert names(engine) == {"Falcon"}
