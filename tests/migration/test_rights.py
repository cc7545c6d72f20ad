"""A role without superuser: what it can do, and what it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

from ragpg import doctor, migrate
from ragpg.errors import DatabaseError, ExtensionMissing

if TYPE_CHECKING:
    from collections.abc import Callable


def prepare(database: str, *statements: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


@pytest.mark.case("SC-02")
@pytest.mark.parametrize("given", ["database", "schema"])
def test_no_superuser_needed_where_extensions_are_there_sc_02(
    database: str,
    role: str,
    given: str,
    as_role: Callable[[str, str], str],
    ingest: Callable[..., None],
    search: Callable[..., Any],
    catalog: Callable[..., Any],
) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("create extension vector")
        connection.execute("create extension btree_gin")
        if given == "database":
            connection.execute(
                sql.SQL("grant create on database {} to {}").format(
                    sql.Identifier(connection.info.dbname), sql.Identifier(role)
                )
            )
        else:
            connection.execute(f"create schema ragpg authorization {role}".encode())
        # Would a CREATE EXTENSION be tried, this would name it.
        connection.execute(
            """create function public.no_extension() returns event_trigger language plpgsql
               as $$ begin raise exception 'tried %', tg_tag; end $$"""
        )
        connection.execute(
            """create event trigger no_extension on ddl_command_start
               when tag in ('CREATE EXTENSION') execute function public.no_extension()"""
        )
    mine = as_role(database, role)
    migrate.upgrade(mine)
    ingest(mine)
    assert {row[0] for row in search(mine)} == {"all", "vector", "keyword", "metadata", "graph"}
    migrate.upgrade(mine)
    migrate.downgrade(mine)
    assert catalog(database) == {}
    migrate.upgrade(mine)


@pytest.mark.case("SC-02")
def test_the_missing_extension_is_named_with_its_statement_sc_02(
    database: str, role: str, as_role: Callable[[str, str], str], catalog: Callable[..., Any]
) -> None:
    prepare(database, f"create schema ragpg authorization {role}", "create extension btree_gin")
    with pytest.raises(ExtensionMissing) as caught:
        migrate.upgrade(as_role(database, role))
    assert "lacks the extension vector" in caught.value.message
    assert caught.value.hint is not None
    assert "CREATE EXTENSION vector;" in caught.value.hint
    assert "btree_gin" not in str(caught.value)
    checks = {check.name: check for check in doctor.examine(as_role(database, role))}
    assert checks["extension vector"].status == "error"
    assert "CREATE EXTENSION vector;" in checks["extension vector"].remedy
    # The printed script says the same.
    with (
        psycopg.connect(as_role(database, role)) as connection,
        pytest.raises(psycopg.Error, match="lacks the extension vector") as raised,
    ):
        connection.execute(migrate.script().encode())
    assert raised.value.sqlstate == "RG004"


@pytest.mark.case("SC-02")
def test_an_optional_extension_only_turns_its_feature_off_sc_02(
    database: str, ingest: Callable[..., None], search: Callable[..., Any]
) -> None:
    migrate.upgrade(database)
    ingest(database)
    assert search(database)
    checks = {check.name: check for check in doctor.examine(database)}
    # The graph's Cypher is the one feature with an extension of its own: accents are folded
    # without one.
    check = checks["extension age"]
    assert check.status == "warning"
    assert "Cypher" in check.detail
    assert "CREATE EXTENSION age;" in check.remedy
    assert not [check for check in checks.values() if check.status == "error"]


def test_the_right_to_create_the_schema_is_asked_for(
    database: str, role: str, as_role: Callable[[str, str], str]
) -> None:
    prepare(database, "create extension vector", "create extension btree_gin")
    with pytest.raises(DatabaseError, match=f"CREATE SCHEMA ragpg AUTHORIZATION {role}"):
        migrate.upgrade(as_role(database, role))
    prepare(database, "create schema ragpg")
    with pytest.raises(DatabaseError, match=f"GRANT CREATE, USAGE ON SCHEMA ragpg TO {role}"):
        migrate.upgrade(as_role(database, role))


def test_the_right_to_use_the_extension_schema_is_asked_for(
    database: str, role: str, as_role: Callable[[str, str], str]
) -> None:
    prepare(
        database,
        'create schema "Weird-Schema"',
        'create extension vector schema "Weird-Schema"',
        "create extension btree_gin",
        f"create schema ragpg authorization {role}",
    )
    with pytest.raises(ExtensionMissing, match='GRANT USAGE ON SCHEMA "Weird-Schema" TO'):
        migrate.upgrade(as_role(database, role))
