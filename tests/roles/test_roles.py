"""Least privilege: a reader reads, a writer writes, neither owns anything."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.rows import dict_row

from tests.engine.engine import Engine


def test_a_writer_needs_no_rights_of_its_own_and_a_reader_cannot_write(roles: str) -> None:
    with psycopg.connect(roles, autocommit=True, row_factory=dict_row) as connection:
        engine = Engine(connection)
        connection.execute("set role ragpg_writer")
        engine.add({"a": "The signing key."}, vectors={"a": [1, 0]})
        assert engine.search("signing", vector=[1, 0]) == ["a"]
        assert engine.value("select ragpg.create_embedding_index(1)") is True
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("create table ragpg.mine (id int)")
        connection.execute("set role ragpg_reader")
        hits = engine.hits("signing", vector=[1, 0], filter={"x": None})
        assert [hit["source"] for hit in hits] == ["a"]
        assert set(hits[0]["arms"]) == {"vector", "keyword", "metadata"}
        assert engine.value("select documents from ragpg.namespaces") == 1
        for statement in (
            "select ragpg.drop_namespace('default')",
            "select ragpg.create_embedding_space('x', 3)",
            "select ragpg.delete_documents('default', '{a}')",
            "insert into ragpg.keyword_log (namespace_id, sign, chunks, length, lexemes) values (1, 1, 1, 1, '{}')",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement.encode())


def test_vectors_of_the_cache_are_not_for_readers_and_not_to_be_changed(roles: str) -> None:
    with psycopg.connect(roles, autocommit=True, row_factory=dict_row) as connection:
        engine = Engine(connection)
        connection.execute("set role ragpg_writer")
        engine.add({"a": "The signing key."}, vectors={"a": [1, 0]})
        for role, statement in (
            ("ragpg_writer", "update ragpg.embedding_cache set embedding = '[0,1]'"),
            ("ragpg_writer", "delete from ragpg.embedding_cache"),
            ("ragpg_reader", "select embedding from ragpg.embedding_cache"),
            ("ragpg_reader", "select * from ragpg.embedding_claim"),
        ):
            connection.execute(f"set role {role}".encode())
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement.encode())
        assert engine.search("signing", vector=[1, 0]) == ["a"]


def test_a_writer_cannot_borrow_the_rights_of_the_owner(roles: str) -> None:
    with psycopg.connect(roles, autocommit=True, row_factory=dict_row) as connection:
        engine = Engine(connection)
        # Better matches for the calls of the functions that run with the owner's rights.
        connection.execute("grant create on schema public to ragpg_writer")
        connection.execute("set role ragpg_writer")
        for name, arguments, result in (
            ("pg_advisory_xact_lock", "integer", "void"),
            ("hashtext", "text", "integer"),
            ("format", "text, integer", "text"),
            ("format", "text, text, integer", "text"),
            ("format", "text, integer, text, integer", "text"),
            ("format", "text, integer, text, integer, integer", "text"),
            ("format", "text, text, integer, text", "text"),
        ):
            connection.execute(
                f"create function public.{name}({arguments}) returns {result} language plpgsql"
                " as $$ begin raise exception 'borrowed'; end $$".encode()
            )
        connection.execute("create domain pg_temp.regrole as oid check (1 / 0 > 0)")
        space = engine.value("select ragpg.create_embedding_space('m', 3)")
        assert engine.value("select ragpg.create_embedding_index(%s)", space) is True
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("update ragpg.alembic_version set version_num = '9999'")


def test_what_everybody_may_do_with_chunks_they_may_do_with_vectors(database: str) -> None:
    with psycopg.connect(database, autocommit=True, row_factory=dict_row) as connection:
        engine = Engine(connection)
        connection.execute("grant select on ragpg.chunk to public")
        engine.add({"a": "text"}, vectors={"a": [1, 0]})
        grants = engine.value("select relacl::text from pg_class where relname = 'embedding_1'")
        assert "=r/" in grants.replace("postgres=", "")


def test_search_works_in_a_read_only_transaction(database: str) -> None:
    with psycopg.connect(database, autocommit=True, row_factory=dict_row) as connection:
        engine = Engine(connection)
        engine.add({"a": "The signing key."}, vectors={"a": [1, 0]})
        connection.execute("set default_transaction_read_only = on")
        assert engine.search("signing", vector=[1, 0]) == ["a"]
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            engine.value("select ragpg.delete_documents('default', '{a}')")
