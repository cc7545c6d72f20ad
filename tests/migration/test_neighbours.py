"""What is not ours stays as it was; what is newer than this package is left alone."""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from sqlalchemy import MetaData, create_engine
from sqlalchemy.pool import NullPool

from ragpg import migrate
from ragpg.errors import ConfigError, DatabaseError, SchemaMissing, SchemaOutdated

if TYPE_CHECKING:
    from collections.abc import Callable

HOST = """
create table public.alembic_version (version_num varchar(32) primary key);
insert into public.alembic_version values ('host42');
create table public.documents (id integer primary key, title text);
insert into public.documents values (1, 'kept');
create extension vector;
"""


@pytest.fixture
def host_database(database: str, execute: Callable[..., Any]) -> str:
    execute(database, HOST)
    return database


@pytest.mark.case("SC-07")
def test_the_host_is_untouched_sc_07(
    host_database: str, execute: Callable[..., Any], catalog: Callable[..., Any]
) -> None:
    def state() -> Any:
        return (
            execute(host_database, "select * from public.alembic_version"),
            execute(host_database, "select * from public.documents"),
            execute(
                host_database,
                "select relname from pg_class where relnamespace = 'public'::regnamespace"
                " and relkind in ('r', 'v') order by 1",
            ),
        )

    before = state()
    migrate.upgrade(host_database, schema="kb")
    assert state() == before
    migrate.downgrade(host_database, schema="kb")
    assert state() == before
    assert catalog(host_database, "kb") == {}
    extensions = execute(host_database, "select extname from pg_extension order by 1")
    assert ("vector",) in extensions
    migrate.upgrade(host_database, schema="kb")
    assert state() == before


@pytest.mark.case("SC-07")
def test_a_newer_revision_stops_with_a_clear_message_sc_07(
    host_database: str, execute: Callable[..., Any], catalog: Callable[..., Any]
) -> None:
    migrate.upgrade(host_database, schema="kb")
    execute(host_database, "update kb.alembic_version set version_num = '9042'")
    before = catalog(host_database, "kb")
    for change in (migrate.upgrade, migrate.downgrade):
        with pytest.raises(SchemaOutdated, match=r"9042.*does not know") as caught:
            change(host_database, schema="kb")
        assert caught.value.hint is not None
        assert "upgrade the package" in caught.value.hint
    assert catalog(host_database, "kb") == before
    assert not migrate.status(host_database, "kb").is_current
    with psycopg.connect(host_database) as connection, pytest.raises(psycopg.Error, match="9042"):
        connection.execute(migrate.script("kb").encode())


@pytest.mark.case("SC-07")
def test_autogenerate_of_a_host_does_not_see_us_sc_07(host_database: str) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.runtime.migration import MigrationContext

    migrate.upgrade(host_database, schema="kb")
    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(host_database), poolclass=NullPool
    )
    for helper in (
        {"include_name": migrate.include_name("kb")},
        {"include_object": migrate.include_object("kb")},
    ):
        with engine.connect() as connection:
            context = MigrationContext.configure(
                connection, opts={"include_schemas": True} | helper
            )
            found = compare_metadata(context, MetaData())
        assert [(change[0], change[1].fullname) for change in found] == [
            ("remove_table", "documents")
        ]


def test_downgrade_keeps_a_schema_with_other_objects(
    database: str, execute: Callable[..., Any]
) -> None:
    execute(
        database,
        "create schema app; create table app.account (id integer);"
        "create function app.mine() returns integer language sql as 'select 1'",
    )
    migrate.upgrade(database, schema="app")
    migrate.downgrade(database, schema="app")
    assert execute(database, "select app.mine(), count(*) from app.account") == [(1, 0)]
    left = "select relname from pg_class where relnamespace = 'app'::regnamespace"
    assert execute(database, left) == [("account",)]


def test_downgrade_stops_at_what_others_built_on_ours(
    database: str, execute: Callable[..., Any], catalog: Callable[..., Any]
) -> None:
    migrate.upgrade(database)
    execute(database, "create view public.overview as select name from ragpg.namespaces")
    before = catalog(database)
    with pytest.raises(DatabaseError, match="overview"):
        migrate.downgrade(database)
    assert catalog(database) == before


def test_downgrade_of_nothing_says_so(database: str) -> None:
    with pytest.raises(SchemaMissing, match="not installed"):
        migrate.downgrade(database)


def test_an_unknown_revision_is_named(database: str) -> None:
    with pytest.raises(ConfigError, match="7777"):
        migrate.upgrade(database, "7777")
    with pytest.raises(ConfigError, match="7777"):
        migrate.script(start="7777")


def test_autocommit_connections_are_refused(database: str) -> None:
    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(database), poolclass=NullPool
    )
    autocommit = engine.execution_options(isolation_level="AUTOCOMMIT")
    with autocommit.connect() as connection, pytest.raises(ConfigError, match="AUTOCOMMIT"):
        migrate.upgrade(connection)
    migrate.upgrade(autocommit)
    assert migrate.current(engine) == migrate.head()


# Five rounds of the case's ten; the race is between the twelve.
@pytest.mark.case("DB-06")
def test_twelve_processes_set_up_at_once_db_06(
    new_database: Callable[[], str], execute: Callable[..., Any]
) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["ragpg.migrate"])
    for _ in range(5):
        database = new_database()
        workers = [context.Process(target=migrate.upgrade, args=(database,)) for _ in range(12)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(120)
        assert [worker.exitcode for worker in workers] == [0] * 12
        rows = execute(database, "select version_num from ragpg.alembic_version")
        assert rows == [(migrate.head(),)]
        assert execute(database, "select count(*) from ragpg.install") == [(1,)]
