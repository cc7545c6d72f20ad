"""Faults reported of metadata filters elsewhere, as cases that must pass here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .engine import Engine


def store(
    engine: Engine, fields: Mapping[str, Mapping[str, Any]], namespace: str = "default"
) -> None:
    engine.add(
        dict.fromkeys(fields, "quarterly plan"),
        metadata=fields,
        namespace=namespace,
        vectors={source: [1.0, float(place)] for place, source in enumerate(fields)},
    )


def same_in_every_arm(engine: Engine, filter: Any) -> set[str]:
    """The sources that pass; every arm must agree."""
    expected = engine.matching(filter)
    for arm in ("keyword", "vector", "metadata"):
        found = engine.search("quarterly plan", vector=[1.0, 0.5], filter=filter, arms=[arm], k=100)
        assert set(found) == expected, arm
        assert len(found) == len(expected)
    return expected


@pytest.mark.smoke
@pytest.mark.case("FI-01")
def test_numbers_compare_as_numbers_fi_01(engine: Engine) -> None:
    store(engine, {"a": {"n": 9}, "b": {"n": 10}, "c": {"n": 100}, "d": {"n": -1}, "e": {"n": 9.5}})
    assert same_in_every_arm(engine, {"n": {"gt": 9}}) == {"b", "c", "e"}
    assert same_in_every_arm(engine, {"n": {"lte": 10}}) == {"a", "b", "d", "e"}
    assert same_in_every_arm(engine, {"n": {"eq": 10.0}}) == {"b"}


@pytest.mark.case("FI-02")
def test_a_word_in_a_numeric_field_breaks_nothing_fi_02(engine: Engine) -> None:
    store(
        engine,
        {
            "a": {"weight": 12},
            "b": {"weight": "heavy"},
            "c": {"weight": None},
            "d": {"weight": {"min": 3}},
            "e": {},
            "f": {"weight": "15"},
        },
    )
    # The documented rule: texts never compare with numbers.
    assert same_in_every_arm(engine, {"weight": {"gt": 10}}) == {"a"}
    assert same_in_every_arm(engine, {"weight": 15}) == set()
    assert same_in_every_arm(engine, {"weight": {"in": [15, 12]}}) == {"a"}


@pytest.mark.case("FI-03")
def test_text_that_looks_like_a_number_stays_text_fi_03(engine: Engine) -> None:
    codes = {
        "a": "2031_0405",
        "b": "007",
        "c": "7",
        "d": "nan",
        "e": "1e5",
        "f": "\u0661\u0662",
        "g": " 7 ",
    }
    store(engine, {source: {"code": code} for source, code in codes.items()})
    for source, code in codes.items():
        assert same_in_every_arm(engine, {"code": code}) == {source}


@pytest.mark.case("FI-04")
def test_lists_fi_04(engine: Engine) -> None:
    store(
        engine,
        {
            "a": {"rooms": [101, 102], "tags": ["ops", "db"]},
            "b": {"rooms": [205], "tags": []},
            "c": {"rooms": 101},
        },
    )
    assert same_in_every_arm(engine, {"rooms": {"contains": 101}}) == {"a"}
    assert same_in_every_arm(engine, {"tags": {"contains": "db"}}) == {"a"}
    assert same_in_every_arm(engine, {"tags": {"contains_any": ["db", "x"]}}) == {"a"}
    assert same_in_every_arm(engine, {"tags": {"contains_all": ["db", "ops"]}}) == {"a"}
    # The documented rule: a list equals a value when one of its items does.
    assert same_in_every_arm(engine, {"rooms": 101}) == {"a", "c"}
    assert same_in_every_arm(engine, {"rooms": {"gt": 200}}) == {"b"}
    assert same_in_every_arm(engine, {"rooms": {"in": [101, *range(1000, 1100)]}}) == {"a", "c"}
    assert same_in_every_arm(engine, {"rooms": {"contains_any": [101, *range(1000, 1100)]}}) == {
        "a"
    }


@pytest.mark.case("FI-05")
def test_an_empty_list_matches_nothing_fi_05(engine: Engine) -> None:
    store(engine, {"a": {"t": "x"}, "b": {"t": "y"}})
    assert same_in_every_arm(engine, {"t": {"in": []}}) == set()
    assert same_in_every_arm(engine, {"t": {"not_in": []}}) == {"a", "b"}
    assert engine.value("select ragpg.delete_documents('default', '{}')") == 0
    assert engine.value("select ragpg.delete_documents('default', null)") == 0
    assert engine.value("select count(*) from ragpg.document") == 2


@pytest.mark.case("FI-06")
def test_not_equal_is_the_opposite_of_equal_fi_06(engine: Engine) -> None:
    store(engine, {"a": {"k": "en"}, "b": {"k": "fr"}, "c": {}, "d": {"k": None}})
    for filter in [{"k": {"ne": "en"}}, {"not": {"k": {"eq": "en"}}}, {"k": {"not_in": ["en"]}}]:
        assert same_in_every_arm(engine, filter) == {"b", "c", "d"}
    assert same_in_every_arm(engine, {"k": None}) == {"c", "d"}
    assert same_in_every_arm(engine, {"k": {"exists": True}}) == {"a", "b", "d"}


@pytest.mark.case("FI-07")
def test_hostile_keys_are_plain_keys_fi_07(engine: Engine) -> None:
    relations = """select string_agg(oid::regclass::text, ',' order by oid) from pg_class
                    where relnamespace in ('ragpg'::regnamespace, 'public'::regnamespace)"""
    schema = engine.value(relations)
    odd = {"k'": 1, "a.b": 2, 'x"y': 3, "$or": 4, "naïve key": 5, "": 6, "back\\slash": 7}
    store(engine, {"a": odd})
    store(engine, {"b": {}}, namespace="blue")
    for filter in [
        {"k'": 1},
        {"a.b": 2},
        {'x"y': 3},
        {"naïve key": 5},
        {"": 6},
        {"/$or": 4},
        {"back\\slash": 7},
    ]:
        assert same_in_every_arm(engine, filter) == {"a"}, filter
        [(key, value)] = filter.items()
        assert same_in_every_arm(engine, {key: {"gte": value}}) == {"a"}, filter
    for filter in [{"k') = 1 OR 1=1 --": 1}, {"k'; drop table t; --": 1}, {"k%s": 1}, {"k{0}": 1}]:
        assert same_in_every_arm(engine, filter) == set()
    assert engine.value("select count(*) from ragpg.document") == 2
    # But for the table of vectors that the first store made.
    assert [name for name in engine.value(relations).split(",") if "embedding_1" not in name] == (
        schema.split(",")
    )


@pytest.mark.case("FI-09")
@pytest.mark.parametrize(
    ("filter", "named"),
    [
        ({"rank": {"gte ": 5}}, '"gte "'),
        ({"rank": {"$foo": 1}}, '"$foo"'),
        ({"rank": {"GTE": 5}}, '"GTE"'),
        ({"and": {"rank": 5}}, '"and"'),
        ({"or": []}, '"or"'),
        ({"not": []}, "got []"),
        ({"rank": {}}, '"rank"'),
        ("rank > 5", "rank > 5"),
        ({"rank": [1, 2]}, '"rank"'),
        ({"rank": {"gt": True}}, '"rank"'),
        ({"not": {}}, "got {}"),
        ({"and": [{}]}, "got {}"),
    ],
)
def test_what_is_not_understood_is_refused_fi_09(engine: Engine, filter: Any, named: str) -> None:
    store(engine, {"a": {"rank": 7}})
    with pytest.raises(psycopg.DatabaseError) as refusal:
        engine.search("quarterly plan", filter=filter)
    assert refusal.value.sqlstate == "RG003"
    assert named in str(refusal.value)
    assert engine.search("quarterly plan", filter={"rank": {"$gte": 5}}) == ["a"]


def test_dates_compare_as_instants(engine: Engine) -> None:
    store(
        engine,
        {
            "a": {"when": "2024-03-01"},
            "b": {"when": "2024-03-01T01:00:00+02:00"},
            "c": {"when": "2024-02-30"},
            "d": {"when": "soon"},
            "e": {},
        },
    )
    engine.connection.execute("set timezone = 'Pacific/Auckland'")
    assert same_in_every_arm(engine, {"when": {"date": {"gte": "2024-03-01"}}}) == {"a"}
    assert same_in_every_arm(engine, {"when": {"date": {"lt": "2024-03-01T00:00:00Z"}}}) == {"b"}
    with pytest.raises(psycopg.DatabaseError, match="no ISO 8601 date"):
        engine.search("plan", filter={"when": {"date": {"gte": "yesterday"}}})


def test_pointers_reach_nested_fields_and_lists(engine: Engine) -> None:
    store(
        engine,
        {
            "a": {"author": {"name": "editor"}, "parts": [{"n": 1}, {"n": 2}]},
            "b": {"author": {"name": "owner"}},
        },
    )
    assert same_in_every_arm(engine, {"/author/name": "editor"}) == {"a"}
    assert same_in_every_arm(engine, {"/parts/1/n": {"gte": 2}}) == {"a"}
    assert same_in_every_arm(engine, {"/parts/1/n": 2}) == {"a"}
    assert same_in_every_arm(engine, {"@source": "b"}) == {"b"}
    assert same_in_every_arm(engine, {"@source": {"starts_with": "a"}}) == {"a"}
    assert same_in_every_arm(engine, {"or": [{"@source": "b"}, {"/author/name": "editor"}]}) == {
        "a",
        "b",
    }


def test_more_metadata_than_the_index_holds_is_still_filtered(engine: Engine) -> None:
    store(engine, {"a": {f"key{number}": number for number in range(300)}, "b": {"key7": 8}})
    assert same_in_every_arm(engine, {"key7": 7}) == {"a"}
