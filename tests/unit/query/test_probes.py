"""Probes that need no model: clauses of a question, earlier topics, the content of a question."""

from __future__ import annotations

import json

import pytest

from ragpg.errors import ConfigError
from ragpg.query.carryover import carryover_probe, is_vague, salient_words
from ragpg.query.correct import corrective_probe
from ragpg.query.facets import facet_probes
from ragpg.query.probes import MOST_PROBES, Probe, probes_json


def facets(query: str) -> list[str | None]:
    return [probe.query for probe in facet_probes(query)]


@pytest.mark.parametrize(
    ("query", "clauses"),
    [
        (
            "how refunds are paid and how gift cards expire",
            ["how refunds are paid", "how gift cards expire"],
        ),
        (
            "Which band was formed first, The Exies or Circus Diablo?",
            ["Which band was formed first, The Exies", "Circus Diablo"],
        ),
        (
            "Wie laufen Rückgaben im Laden ab und wann verfallen Gutscheine im Internet?",
            ["Wie laufen Rückgaben im Laden ab", "wann verfallen Gutscheine im Internet"],
        ),
        (
            "Comment rendre un article acheté et où activer une carte cadeau?",
            ["Comment rendre un article acheté", "où activer une carte cadeau"],
        ),
        (
            "¿Cómo devolver un artículo comprado y dónde activar la tarjeta regalo?",
            ["¿Cómo devolver un artículo comprado", "dónde activar la tarjeta regalo"],
        ),
        ("退款需要几天以及礼品卡何时过期", ["退款需要几天", "礼品卡何时过期"]),
        (
            "What is the refund period? Where do gift cards expire?",
            ["What is the refund period", "Where do gift cards expire"],
        ),
    ],
)
def test_a_question_of_several_clauses_is_taken_apart(query: str, clauses: list[str]) -> None:
    assert facets(query) == clauses


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "and",
        "and and or or",
        "how do refunds work?",
        "red and blue",
        "drag and drop",
        "who was born in the era of Haymo of Faversham",
        "a and b or c but d while e and f or g",
        "x and y " * 500,
        "?!;.,",
        "\x00 and \ud800",
    ],
)
def test_a_question_of_one_clause_is_left_whole(query: str) -> None:
    assert facets(query) == []


def test_facets_are_the_same_every_time_and_have_names_of_their_own() -> None:
    query = "how refunds are paid and how gift cards expire"
    assert facet_probes(query) == facet_probes(query)
    assert [probe.name for probe in facet_probes(query)] == ["facet-1", "facet-2"]


def test_a_follow_up_is_asked_with_the_topics_before_it() -> None:
    probe = carryover_probe(
        "how does it handle errors?", ["What is logical replication in PostgreSQL 17?"]
    )
    assert probe is not None
    assert probe.query is not None
    assert probe.query.endswith("how does it handle errors?")
    for word in ("PostgreSQL", "17", "logical", "replication"):
        assert word in probe.query.split()


def test_what_was_said_last_is_the_most_salient() -> None:
    history = ["tell me about gift cards", "and the refund period", "where are warehouses"]
    words = salient_words(history)
    assert words[0] == "warehouses"
    assert words.index("refund") < words.index("gift")
    again = ["gift cards", "warehouses", "gift boxes"]
    assert salient_words(again)[0] == "gift"


@pytest.mark.parametrize(
    "query",
    [
        "how does it work?",
        "why?",
        "and on Windows?",
        "what about errors",
        "tell me more about that",
        "wie funktioniert es?",
        "¿y cómo funciona?",
        "それはなぜ",
    ],
)
def test_vague_questions(query: str) -> None:
    assert is_vague(query)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "how long do refunds take at the store in Berlin?",
        "the film that was shot near Leland in North Carolina",
        "create index concurrently",
        "is there a way to list all tables",
        "How can you create a new hashing instance of its own class today",
    ],
)
def test_questions_that_stand_on_their_own(query: str) -> None:
    assert not is_vague(query)
    assert carryover_probe(query, ["logical replication"]) is None


def test_nothing_is_carried_where_there_is_nothing() -> None:
    assert carryover_probe("how does it work?", []) is None
    assert carryover_probe("how does it work?", ["", "the of and", "?"]) is None
    assert carryover_probe("how do refunds of it work?", ["refunds"]) is None


def test_long_histories_and_long_queries_are_bounded() -> None:
    history = [f"topic{number} word{number} thing{number}" for number in range(500)]
    probe = carryover_probe("how does it work?", [*history, "x" * 100_000])
    assert probe is not None
    assert carryover_probe("it " * 10_000, history) is None
    probe = carryover_probe("how does it work?", history)
    assert probe is not None
    assert probe.query is not None
    assert probe.query.split()[:2] == ["topic499", "word499"]
    assert "topic0" not in probe.query


def test_the_second_attempt_leaves_small_talk_out() -> None:
    probe = corrective_probe(
        "Hi, I was wondering if anyone could please tell me how long refunds take? Thanks!"
    )
    assert probe is not None
    assert probe.query == "long refunds take"
    probe = corrective_probe("I couldn't find anything about get_user_by_id() in v5.6.1, help")
    assert probe is not None
    assert probe.query == "get_user_by_id v5.6.1"


@pytest.mark.parametrize("query", ["", "?", "refund period", "退款", "the", "\ud800"])
def test_there_is_no_second_attempt_where_nothing_can_go(query: str) -> None:
    assert corrective_probe(query) is None


def test_probes_are_what_sql_takes() -> None:
    probes = [Probe(f"p{number}", "x", embedding=[1.0, 0.5]) for number in range(20)]
    told = probes_json([Probe("p0", "first", 0.5), *probes])
    assert len(told) == MOST_PROBES
    assert told[0] == {
        "name": "p0",
        "query": "first",
        "embedding": None,
        "weight": 0.5,
        "arms": ["keyword", "vector"],
    }
    assert told[1]["embedding"] == "[1,0.5]"
    json.dumps(told)


@pytest.mark.parametrize(
    "wrong", [{"name": " "}, {"weight": -1.0}, {"weight": float("nan")}, {"arms": ["graph"]}]
)
def test_wrong_probes_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        Probe(**{"name": "p", "query": "x", **wrong})  # type: ignore[arg-type]
