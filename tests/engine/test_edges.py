"""The borders of what may be given: each is met, or refused in words."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

from ragpg import migrate
from tests.databases import administer

from .engine import Engine

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def plain_locale(server: str) -> Iterator[Engine]:
    """A database whose locale knows the letters of ASCII alone."""
    name = f"ragpg_test_{uuid.uuid4().hex[:12]}"
    statement = (
        "create database {} template template0 encoding 'UTF8' locale_provider libc locale 'C'"
    )
    administer(server, statement, name)
    migrate.upgrade(make_conninfo(server, dbname=name))
    with psycopg.connect(
        make_conninfo(server, dbname=name), autocommit=True, row_factory=dict_row
    ) as connection:
        yield Engine(connection)
    administer(server, "drop database {} with (force)", name)


def test_letters_do_not_depend_on_the_locale_of_the_database(plain_locale: Engine) -> None:
    texts = {"ru": "Настройка сервера", "el": "η βάση δεδομένων", "de": "Übergröße", "zh": "数据库"}
    plain_locale.add(texts)
    for query, source in {
        "НАСТРОЙКА": "ru",
        "Δεδομένων": "el",
        "übergröße": "de",
        "数据": "zh",
    }.items():
        assert plain_locale.keyword(query) == [source], query


def test_a_transaction_may_store_several_times(engine: Engine) -> None:
    with engine.connection.transaction():
        engine.add({"a": "first", "b": "first"}, fingerprint="1")
        engine.add({"a": "second"}, fingerprint="2")
        engine.connection.execute("select ragpg.begin_store()")
        engine.rows("""
            insert into ragpg_stage_document values ('b', '', 'text', null, '3', '{}', '[]')
            returning source""")
        [row] = engine.rows("select source, outcome, chunks from ragpg.store_staged(1)")
    assert row == {"source": "b", "outcome": "empty", "chunks": 0}
    assert engine.keyword("second") == ["a"]
    assert engine.keyword("first") == []


def test_texts_without_blanks_are_cut_in_linear_time_and_fit(engine: Engine) -> None:
    engine.connection.execute("set statement_timeout = '20s'")
    length = engine.value(
        """
        select (ragpg.keyword_row('english', '', string_agg(chr(19968 + n * 7919 %% 20000), ''),
                  '{}', 100)).length
          from generate_series(1, %s) as n""",
        200_000,
    )
    assert length > 10_000


def test_words_longer_than_a_lexeme_do_no_harm(engine: Engine) -> None:
    long = " ".join(["--" + "a" * 3000, "1." * 3000 + "1", ".b" + "c" * 3000, "x" * 3000])
    engine.add({"a": f"found {long}"})
    assert engine.keyword(f"found {long}") == ["a"]


def test_what_everything_can_reach_is_asked_of_every_term(engine: Engine) -> None:
    query = engine.value("select ragpg.remaining_query('{apple,pear}', '{0.1,0.1}', -0.001)")
    assert query == "'apple'|'pear'"


def test_truncated_chunks_leave_no_words(engine: Engine) -> None:
    engine.add({"a": "one", "b": "two"})
    engine.connection.execute("truncate ragpg.chunk cascade")
    engine.value("select ragpg.fold_statistics()")
    assert engine.value("select count(*) from ragpg.chunk_keyword") == 0
    assert engine.value("select count(*) from ragpg.lexeme_statistics") == 0


@pytest.mark.parametrize(
    ("statement", "code", "words"),
    [
        ("select ragpg.namespace_ids(null)", "RG005", "null"),
        ("select ragpg.namespace_ids('{NULL}')", "RG005", "null"),
        ("select ragpg.search('x', k => null)", "RG005", "null"),
        ("select ragpg.create_namespace('x', language => '123')", "RG005", "123"),
        ("select ragpg.create_namespace('x', language => 'a.b.c.d')", "RG005", "a.b.c.d"),
        ("""select ragpg.arm_options('{"vector": {"k": 2.5}}')""", "RG005", "k"),
        ("""select ragpg.arm_options('{"vector": {"k": 1e11}}')""", "RG005", "k"),
        ("""select ragpg.arm_options('{"vector": {"weight": 1e400}}')""", "RG005", "weight"),
        ("""select ragpg.filter_sql('{"$where": "x"}')""", "RG003", '"/$where"'),
        ("""select ragpg.filter_sql('{"@sourc": "x"}')""", "RG003", '"/@sourc"'),
    ],
)
def test_nonsense_is_refused_in_words(
    engine: Engine, statement: str, code: str, words: str
) -> None:
    engine.add({"a": "text"})
    with pytest.raises(psycopg.Error) as caught:
        engine.rows(statement)
    assert caught.value.sqlstate == code
    assert words in str(caught.value)


def test_the_largest_rrf_k_is_a_number_like_any_other(engine: Engine) -> None:
    engine.add({"a": "text"})
    assert len(engine.rows("select * from ragpg.search('text', rrf_k => 2147483647)")) == 1


def test_an_absurd_offset_is_no_time(engine: Engine) -> None:
    times = {"a": "2024-01-01T00:00+99:99", "b": "2024-01-01T00:00+02:00"}
    engine.add(dict.fromkeys("ab", "text"), metadata={key: {"at": at} for key, at in times.items()})
    assert engine.matching({"at": {"date": {"gte": "2020-01-01"}}}) == {"b"}


def test_the_empty_key_has_a_pointer(engine: Engine) -> None:
    engine.add(dict.fromkeys("ab", "text"), metadata={"a": {"": 1}, "b": {"": 2}})
    assert engine.matching({"/": 1}) == {"a"}


def test_null_in_a_long_list_means_what_it_means_in_a_short_one(engine: Engine) -> None:
    fields: dict[str, dict[str, Any]] = {
        "a": {"v": [None]},
        "b": {"v": None},
        "c": {},
        "d": {"v": [7]},
    }
    engine.add(dict.fromkeys(fields, "text"), metadata=fields)
    for values in ([None, 7], [None, *range(30)], [7, *range(100, 130)]):
        expected = {"b", "c", "d"} if None in values else {"d"}
        assert engine.matching({"v": {"in": values}}) == expected


def test_what_makes_tables_says_nothing_of_policies(engine: Engine) -> None:
    seen: list[str] = []
    engine.connection.add_notice_handler(lambda one: seen.append(one.message_primary or ""))
    engine.rows("select ragpg.create_embedding_space('quiet', 3)")
    assert seen == []
