"""A null in any argument of any function is an error that names it, or has a sensible meaning."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import ragpg

from .test_access import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

FUNCTIONS = """
select proname, array(select format_type(one, null) from unnest(proargtypes) with ordinality as given (one, place)
                       order by place),
       proargnames, coalesce(proargmodes, '{}')
  from pg_proc
 where pronamespace = 'ragpg'::regnamespace and prokind = 'f' and pronargs > 0
   and prorettype not in ('trigger'::regtype, 'event_trigger'::regtype) and not proisstrict
 order by proname"""
#: What an argument is while another one is null: by its name, else by its type.
VALUES = {
    "language": "english", "kind": "knowledge", "type": "halfvec", "condition": "true",
    "how": "exact", "mode": "manual", "query": "refunds", "jobs": "[]", "mentions": "[]",
    "relations": "[]", "results": "[]", "events": "[]", "name": "new", "embedding": "[1,2,3,4]",
    "text": "default", "text[]": "{default}", "integer": "1", "bigint": "1", "jsonb": "{}",
    "boolean": "true", "double precision": "0.5", "real": "0.5", "integer[]": "{1}",
    "bigint[]": "{1}", "timestamp with time zone": "2024-01-01", "tsvector": "", "numeric": "1",
    "interval": "1 s", "vector": "[1,2,3,4]", "regconfig": "english",
}  # fmt: skip


@pytest.fixture(scope="module")
def filled(shared_database: str) -> Iterator[psycopg.Connection[Any]]:
    with ragpg.connect(shared_database, embedder=ragpg.HashEmbedder(4)) as rag:
        rag.ingest(texts=[("a.md", "Refunds take 14 days.")])
    with psycopg.connect(shared_database, autocommit=True) as connection:
        connection.execute("set statement_timeout = '10s'")
        yield connection


def calls(connection: psycopg.Connection[Any]) -> Iterator[tuple[str, str, str]]:
    for function, types, names, modes in rows(connection, FUNCTIONS):
        inside = [
            name
            for name, mode in zip(names, modes or ["i"] * len(names), strict=False)
            if mode in ("i", "b")
        ]
        for place, name in enumerate(inside):
            values = [
                "null" if other == place else value_of(inside[other], kind)
                for other, kind in enumerate(types)
            ]
            given = ", ".join(f"{one}::{kind}" for one, kind in zip(values, types, strict=True))
            # A row type among the arguments is not made up here.
            yield function, name, f"select * from ragpg.{function}({given})"


def value_of(name: str, kind: str) -> str:
    named = VALUES.get(name) if kind in ("text", "jsonb", "vector") else None
    value = named or VALUES.get(kind)
    return "null" if value is None else f"'{value}'"


def test_no_function_answers_null_with_an_error_of_the_server(
    filled: psycopg.Connection[Any],
) -> None:
    raw, asked = [], 0
    for function, name, statement in calls(filled):
        asked += 1
        try:
            with filled.transaction(force_rollback=True):
                filled.execute(statement.encode()).fetchall()
        except psycopg.Error as error:
            if not re.match("RG", error.sqlstate or ""):
                raw.append(f"{function}({name} => null): {error.sqlstate} {error}".splitlines()[0])
    assert asked > 300
    assert not raw, "\n".join(raw)


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("create_embedding_space('m', 3, type => null)", "not possible"),
        ("create_embedding_space('m', null)", "not possible"),
        ("create_embedding_index(1, m => null)", "m cannot be null"),
        ("create_namespace(null)", "name cannot be null"),
        ("create_namespace('a', kind => 'corpus')", 'no kind of namespace "corpus"'),
        ("enqueue('a.md', 'text', priority => null)", "priority cannot be null"),
        ("enqueue_jobs('default', '{}')", "jobs are a list, not object"),
        ("mark_failed('default', null, 'x')", "without a source"),
        ("chunks_without_vectors('default', 99)", "embedding space 99 does not exist"),
        ("store_staged(1)", "nothing is staged"),
        ("write_pagerank(1, damping => null)", "damping cannot be null"),
    ],
)
def test_the_argument_is_named(filled: psycopg.Connection[Any], statement: str, named: str) -> None:
    with (
        pytest.raises(psycopg.Error, match=named) as refused,
        filled.transaction(force_rollback=True),
    ):
        filled.execute(f"select * from ragpg.{statement}".encode())
    assert refused.value.sqlstate == "RG005"
    assert refused.value.diag.message_hint
