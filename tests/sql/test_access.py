"""Who may see which namespace: decided by the database, whatever the caller asks for."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragpg import Client

#: Tables and views that a tenant might read instead of asking a function.
PLACES = (
    "namespace", "namespaces", "document", "chunk", "chunk_keyword", "lexeme_statistics",
    "namespace_statistics", "link", "embedding_1",
)  # fmt: skip


@pytest.fixture
def red(rag: Client, db: psycopg.Connection[Any]) -> Iterator[psycopg.Connection[Any]]:
    """The connection of a tenant's role, which may use red and what is open."""
    for name in ("red", "blue", "open"):
        rag.ingest(
            texts=[{"source": f"{name}.md", "text": f"The {name} plan. See [a](b.md).",
                    "format": "markdown", "metadata": {"colour": name}}],
            namespace=name,
        )  # fmt: skip
    db.execute("select ragpg.fold_statistics(1000)")
    suffix = db.info.dbname.rpartition("_")[2]
    roles = [f"red_{suffix}", f"blue_{suffix}"]
    for role, name in zip(roles, ("red", "blue"), strict=True):
        db.execute(sql.SQL("create role {}").format(sql.Identifier(role)))
        for grant in (
            "usage on schema ragpg",
            "select, insert, update, delete on all tables in schema ragpg",
            "execute on all functions in schema ragpg",
        ):
            db.execute(sql.SQL("grant {} to {}").format(sql.SQL(grant), sql.Identifier(role)))
        db.execute(
            sql.SQL("revoke insert, update, delete on ragpg.namespace_access from {}").format(
                sql.Identifier(role)
            )
        )
        db.execute("select ragpg.grant_namespace(%s, %s)", [name, role])
    with psycopg.connect(db.info.dsn, autocommit=True) as connection:
        connection.execute(sql.SQL("set role {}").format(sql.Identifier(roles[0])))
        yield connection
    for role in roles:
        db.execute(sql.SQL("drop owned by {}").format(sql.Identifier(role)))
        db.execute(sql.SQL("drop role {}").format(sql.Identifier(role)))


def rows(connection: psycopg.Connection[Any], query: str, *values: Any) -> list[Any]:
    return connection.execute(query.encode(), values or None).fetchall()


def test_a_closed_namespace_does_not_exist_for_others(red: psycopg.Connection[Any]) -> None:
    assert rows(red, "select name from ragpg.namespaces order by name") == [("open",), ("red",)]
    for query in ("plan", ""):
        with pytest.raises(psycopg.Error) as refused:
            rows(red, "select * from ragpg.search(%s, namespaces => '{blue}')", query)
        assert refused.value.sqlstate == "RG001"
    found = rows(red, "select source from ragpg.search('plan', namespaces => '{red,open}')")
    assert sorted(found) == [("open.md",), ("red.md",)]


@pytest.mark.parametrize(
    "arm",
    [
        "ragpg.keyword_arm('plan', %s, null, 10)",
        "ragpg.vector_arm(array_fill(1, array[32])::vector, %s, null, 10)",
        'ragpg.metadata_arm(%s, \'{"colour": "blue"}\', 10)',
    ],
)
def test_an_arm_that_is_given_the_id_refuses(
    red: psycopg.Connection[Any], db: psycopg.Connection[Any], arm: str
) -> None:
    [(ids,)] = rows(db, "select ragpg.namespace_ids('{blue}')")
    assert rows(db, f"select count(*) from {arm}", ids) == [(1,)]
    with pytest.raises(psycopg.Error) as refused:
        rows(red, f"select * from {arm}", ids)
    assert refused.value.sqlstate == "RG001"


def test_chunks_of_another_tenant_are_neither_widened_nor_compared(
    red: psycopg.Connection[Any], db: psycopg.Connection[Any]
) -> None:
    [(chunks,)] = rows(
        db, "select array_agg(chunk.id order by source) from ragpg.chunk "
        "join ragpg.document on document.id = chunk.document_id where source in ('blue.md', 'red.md')"
    )  # fmt: skip
    stitched = "select content from ragpg.stitch_chunks('{blue,red}', %s)"
    compared = "select first from ragpg.similarities('{blue,red}', %s)"
    assert [len(rows(db, query, chunks)) for query in (stitched, compared)] == [2, 1]
    assert [text.split()[1] for (text,) in rows(red, stitched, chunks)] == ["red"]
    assert rows(red, compared, chunks) == []
    with pytest.raises(psycopg.Error) as refused:
        rows(red, "select * from ragpg.neighbors('blue', %s)", chunks[0])
    assert refused.value.sqlstate == "RG001"


def test_no_table_shows_a_row_of_another_tenant(
    red: psycopg.Connection[Any], db: psycopg.Connection[Any]
) -> None:
    for place in PLACES:
        [(everything,)] = rows(db, f"select count(*) from ragpg.{place}")
        [(mine,)] = rows(red, f"select count(*) from ragpg.{place}")
        assert 0 < mine < everything, place


def test_every_table_with_a_namespace_is_protected(db: psycopg.Connection[Any]) -> None:
    bare = rows(
        db,
        """select relname from pg_class
            where relnamespace = 'ragpg'::regnamespace and relkind in ('r', 'p') and not relrowsecurity
              and exists (select from pg_attribute where attrelid = pg_class.oid and attname = 'namespace_id')""",
    )
    assert bare == []
    views = rows(
        db,
        """select relname from pg_class where relnamespace = 'ragpg'::regnamespace and relkind = 'v'
              and not coalesce('security_invoker=true' = any (reloptions), false)""",
    )
    assert views == []


def test_a_tenant_writes_nothing_into_another_namespace(
    red: psycopg.Connection[Any], db: psycopg.Connection[Any]
) -> None:
    [(blue,)] = rows(db, "select id from ragpg.namespace where name = 'blue'")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        rows(
            red,
            f"insert into ragpg.document (namespace_id, source) values ({blue}, 'x') returning id",
        )
    assert red.execute("delete from ragpg.chunk where content like '%blue%'").rowcount == 0
    assert (
        red.execute("update ragpg.document set title = 'x' where source = 'blue.md'").rowcount == 0
    )
    with pytest.raises(psycopg.Error) as refused:
        rows(red, "select ragpg.delete_documents('blue', '{blue.md}')")
    assert refused.value.sqlstate == "RG001"
    assert rows(db, "select count(*) from ragpg.chunk where content like '%%blue%%'") == [(1,)]


def test_a_tenant_can_ingest_into_its_own_and_make_new_ones(
    red: psycopg.Connection[Any],
) -> None:
    import ragpg
    from ragpg.testing import HashEmbedder

    with ragpg.connect(red, embedder=HashEmbedder(32)) as mine:
        assert mine.ingest(texts=[("more.md", "More of the plan.")], namespace="red").ok
        assert mine.ingest(texts=[("new.md", "A new plan.")], namespace="new").ok
        hits = mine.search("plan", namespace=["red", "new"]).hits
        assert {hit.source for hit in hits} == {"red.md", "more.md", "new.md"}
        assert mine.delete("more.md", namespace="red") == 1


@pytest.mark.parametrize(
    "call",
    [
        "ragpg.pending_extractions('blue', 'model')",
        "ragpg.pending_names('blue', 'model')",
        "ragpg.stitch_chunks('{blue}', array[chunk.id])",
        "ragpg.similarities('{blue,blue}', array[chunk.id, chunk.id])",
        "ragpg.graph_around('blue', 'blue.md')",
    ],
)
def test_the_narrowed_owner_reads_nothing_of_other_names(
    red: psycopg.Connection[Any], db: psycopg.Connection[Any], call: str
) -> None:
    query = (
        f"select count(found) from ragpg.chunk, {call} as found where chunk.content like '%blue%'"
    )
    assert rows(db, query) == [(1,)]
    left: list[Any] = []
    with suppress(psycopg.DatabaseError), db.transaction():
        db.execute("set local ragpg.allowed_namespaces = '{red}'")
        left = rows(db, query)
    assert left in ([], [(0,)])


def test_an_application_narrows_itself_for_a_transaction(
    red: psycopg.Connection[Any], db: psycopg.Connection[Any]
) -> None:
    assert (
        rows(red, "select * from ragpg.search('plan', namespaces => '{red,blue,open}')")
        if False
        else True
    )
    with db.transaction():
        db.execute("set local ragpg.allowed_namespaces = '{red}'")
        [(blue,)] = rows(db, "select id from ragpg.namespace where name = 'blue'")
        with pytest.raises(psycopg.Error) as refused, db.transaction():
            rows(db, f"select * from ragpg.keyword_arm('plan', '{{{blue}}}', null, 10)")
        assert refused.value.sqlstate == "RG001"
        assert len(rows(db, "select * from ragpg.search('plan', namespaces => '{red}')")) == 1
    assert len(rows(db, "select * from ragpg.search('plan', namespaces => '{blue}')")) == 1
    with red.transaction():
        red.execute("set local ragpg.allowed_namespaces = '{open,blue}'")
        assert rows(red, "select name from ragpg.namespace") == [("open",)]


def test_the_last_grant_is_not_revoked_by_mistake(
    red: psycopg.Connection[Any], db: psycopg.Connection[Any]
) -> None:
    [(role,)] = rows(red, "select current_user")
    with pytest.raises(psycopg.Error, match="last one"):
        rows(db, "select ragpg.revoke_namespace('red', %s)", role)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        rows(red, "select ragpg.grant_namespace('open', %s)", role)
    assert rows(db, "select ragpg.revoke_namespace('red', %s, open => true)", role) == [(True,)]
    assert rows(db, "select ragpg.revoke_namespace('red', %s)", role) == [(False,)]
    with pytest.raises(psycopg.Error, match="does not exist"):
        rows(db, "select ragpg.grant_namespace('red', 'nobody at all')")


def test_what_is_closed_looks_like_what_is_not_there(
    red: psycopg.Connection[Any], db: psycopg.Connection[Any]
) -> None:
    from .test_nulls import FUNCTIONS, value_of

    [(blue,)] = rows(db, "select id from ragpg.namespace where name = 'blue'")
    pairs = {
        "text": ("blue", "gone"),
        "text[]": ("{blue}", "{gone}"),
        "integer": (str(blue), "99999"),
        "integer[]": (f"{{{blue}}}", "{99999}"),
    }

    def told(function: str, given: list[str]) -> str:
        try:
            with red.transaction(force_rollback=True):
                statement = f"select * from ragpg.{function}({', '.join(given)})"
                found = str(red.execute(statement.encode()).fetchall())
                # The report of a fusion has times.
                return re.sub(r"\d+\.\d+", "#", found)
        except psycopg.Error as error:
            text = f"{error.sqlstate} {str(error).splitlines()[0]}"
            return re.sub(rf"\b(blue|gone|99999|{blue})\b", "NAME", text)

    different, asked = [], 0
    for function, types, names, modes in rows(db, FUNCTIONS):
        # A name can be taken once: who makes a namespace learns that it is taken.
        if function in ("create_namespace", "enqueue", "enqueue_jobs"):
            continue
        inside = [n for n, mode in zip(names, modes or ["i"] * len(names), strict=False)
                  if mode in ("i", "b")]  # fmt: skip
        for place, name in enumerate(inside):
            if not ("namespace" in name or name == "name") or types[place] not in pairs:
                continue
            answers = []
            for value in pairs[types[place]]:
                given = [
                    f"'{value}'::{kind}"
                    if other == place
                    else f"{value_of(inside[other], kind)}::{kind}"
                    for other, kind in enumerate(types)
                ]
                answers.append(told(function, given))
            asked += 1
            if answers[0] != answers[1]:
                different.append((function, name, answers))
    assert asked > 80
    assert not different, "\n".join(map(str, different))


def test_who_may_not_read_namespaces_learns_nothing_of_them(
    red: psycopg.Connection[Any], db: psycopg.Connection[Any]
) -> None:
    """The functions that run with the owner's rights ask for those of the caller first."""
    role = f"nobody_{db.info.dbname.rpartition('_')[2]}"
    db.execute(sql.SQL("create role {}").format(sql.Identifier(role)))
    db.execute(sql.SQL("grant usage on schema ragpg to {}").format(sql.Identifier(role)))
    db.execute(
        sql.SQL("grant execute on function ragpg.drop_embedding_space(text, integer) to {}").format(
            sql.Identifier(role)
        )
    )
    try:
        with psycopg.connect(db.info.dsn, autocommit=True) as stranger:
            stranger.execute(sql.SQL("set role {}").format(sql.Identifier(role)))
            for name in ("open", "gone"):
                for statement in (
                    f"select * from ragpg.feedback_priors('{{{name}}}', '{{1}}')",
                    f"select ragpg.drop_embedding_space('{name}', 1)",
                ):
                    with pytest.raises(psycopg.errors.InsufficientPrivilege):
                        stranger.execute(statement.encode())
    finally:
        db.execute(sql.SQL("drop owned by {}").format(sql.Identifier(role)))
        db.execute(sql.SQL("drop role {}").format(sql.Identifier(role)))
