"""An empty database per test, roles, and catalogs as comparable text."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Catalog = dict[str, list[tuple[Any, ...]]]

#: What a person could notice of a schema, one query a kind; $1 is the schema.
CATALOG = {
    "relations": """
        select relname, relkind, relpersistence, reloptions::text, relrowsecurity,
               replace(relacl::text, relowner::regrole::text, 'owner') as relacl
          from pg_class where relnamespace = %(schema)s::regnamespace
           and relkind in ('r', 'p', 'v', 'm', 'S')""",
    "columns": """
        select relname, attnum, attname, format_type(atttypid, atttypmod), attnotnull, attidentity,
               attgenerated, attstorage, collname, pg_get_expr(adbin, adrelid)
          from pg_attribute
          join pg_class on pg_class.oid = attrelid
          left join pg_collation on pg_collation.oid = attcollation
          left join pg_attrdef on adrelid = attrelid and adnum = attnum
         where relnamespace = %(schema)s::regnamespace and attnum > 0 and not attisdropped""",
    "constraints": """
        select conrelid::regclass::text, conname, pg_get_constraintdef(oid)
          from pg_constraint where connamespace = %(schema)s::regnamespace""",
    "indexes": """
        select pg_get_indexdef(indexrelid), indisvalid
          from pg_index join pg_class on pg_class.oid = indexrelid
         where relnamespace = %(schema)s::regnamespace""",
    "routines": """
        select oid::regprocedure::text, prokind,
               replace(proacl::text, proowner::regrole::text, 'owner') as proacl,
               case when prokind <> 'a' then pg_get_functiondef(oid) end
          from pg_proc where pronamespace = %(schema)s::regnamespace""",
    "views": """
        select oid::regclass::text, pg_get_viewdef(oid)
          from pg_class where relnamespace = %(schema)s::regnamespace and relkind = 'v'""",
    "triggers": """
        select pg_get_triggerdef(pg_trigger.oid)
          from pg_trigger join pg_class on pg_class.oid = tgrelid
         where relnamespace = %(schema)s::regnamespace and not tgisinternal""",
    "comments": """
        select object.type, object.identity, description
          from pg_description, pg_identify_object(classoid, objoid, objsubid) as object
         where object.schema = %(schema)s
            or (object.type like '%%column' and object.identity like %(schema)s || '.%%')""",
    "install": "select version, digest from {schema}.install",
    "revision": "select version_num from {schema}.alembic_version",
}


@pytest.fixture(scope="session")
def server_dsn() -> str:
    """A server where tests may create databases and roles."""
    if dsn := os.environ.get("RAGPG_TEST_DSN"):
        return dsn
    from ragpg import localdb

    return localdb.up()


@pytest.fixture
def roles(server_dsn: str) -> Iterator[list[str]]:
    """The roles of a test, dropped after its databases and so after all they own."""
    made: list[str] = []
    yield made
    with psycopg.connect(server_dsn, autocommit=True) as connection:
        for name in made:
            connection.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


@pytest.fixture
def new_database(server_dsn: str, roles: list[str]) -> Iterator[Callable[[], str]]:
    """A function that makes an empty database and returns its DSN; dropped after the test."""
    made: list[str] = []

    def create() -> str:
        name = f"migration_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(server_dsn, autocommit=True) as connection:
            connection.execute(
                sql.SQL("create database {} template template0 encoding 'UTF8'").format(
                    sql.Identifier(name)
                )
            )
        made.append(name)
        return make_conninfo(server_dsn, dbname=name)

    yield create
    with psycopg.connect(server_dsn, autocommit=True) as connection:
        for name in made:
            connection.execute(
                sql.SQL("drop database {} with (force)").format(sql.Identifier(name))
            )


@pytest.fixture
def database(new_database: Callable[[], str]) -> str:
    """The DSN of one empty database."""
    return new_database()


@pytest.fixture
def role(server_dsn: str, roles: list[str]) -> str:
    """A role that may log in and nothing else."""
    name = f"migration_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server_dsn, autocommit=True) as connection:
        connection.execute(sql.SQL("create role {} login").format(sql.Identifier(name)))
    roles.append(name)
    return name


@pytest.fixture
def as_role() -> Callable[[str, str], str]:
    """A DSN whose session acts with the rights of a role, whatever authentication asks."""

    def dsn(database: str, role: str) -> str:
        return make_conninfo(database, options=f"-c role={role}")

    return dsn


@pytest.fixture
def execute() -> Callable[..., list[tuple[Any, ...]]]:
    """A function that runs SQL in its own transaction and returns the rows."""

    def run(dsn: str, statement: str, parameters: Any = None) -> list[tuple[Any, ...]]:
        with psycopg.connect(dsn) as connection:
            cursor = connection.execute(statement.encode(), parameters)
            return cursor.fetchall() if cursor.description else []

    return run


@pytest.fixture
def catalog() -> Callable[..., Catalog]:
    """A function that reads everything of a schema, written as if its name were ragpg."""

    def read(dsn: str, schema: str = "ragpg") -> Catalog:
        found: Catalog = {}
        with psycopg.connect(dsn) as connection:
            connection.execute("set local search_path = ''")
            if connection.execute(ANYTHING, {"schema": schema}).fetchone() is None:
                return found
            for kind, query in CATALOG.items():
                statement = query.replace("{schema}", schema).encode()
                rows = connection.execute(statement, {"schema": schema}).fetchall()
                found[kind] = sorted((_renamed(row, schema) for row in rows), key=repr)
        return found

    return read


ANYTHING = """
select from pg_class where relnamespace = to_regnamespace(%(schema)s)
union all select from pg_proc where pronamespace = to_regnamespace(%(schema)s)
union all select from pg_type where typnamespace = to_regnamespace(%(schema)s)
"""

INGEST = """
select {schema}.set_embedding_space('default', {schema}.create_embedding_space('words', 3))
  from (select {schema}.create_namespace('default')) as made;
select {schema}.begin_store();
insert into pg_temp.ragpg_stage_document
select 'file-' || n || '.md', 'Title ' || n, 'markdown', null, decode(lpad(n::text, 4, '0'), 'hex'),
       jsonb_build_object('n', n), '[]'
  from generate_series(1, 10) as n;
update pg_temp.ragpg_stage_document set links = '[{{"target": "file-1.md", "anchor": ""}}]'
 where source = 'file-2.md';
insert into pg_temp.ragpg_stage_chunk
select 'file-' || n || '.md', 0, 'Refunds of order ' || n || ' take some days.', '', 'Title ' || n,
       0, 30, 1, 1, null, jsonb_build_object('n', n),
       decode(lpad(n::text, 4, '0'), 'hex'), decode(lpad(n::text, 4, '0'), 'hex')
  from generate_series(1, 10) as n;
select {schema}.cache_embeddings(
         (select space_id from {schema}.namespace where name = 'default'),
         (select array_agg(embedding_hash order by ordinal, source) from pg_temp.ragpg_stage_chunk),
         '{{"[1,0,0]","[0,1,0]","[0,0,1]","[1,1,0]","[0,1,1]",'
           '"[1,0,1]","[1,1,1]","[2,1,0]","[0,2,1]","[1,0,2]"}}');
select count(*) from {schema}.store_staged({schema}.create_namespace('default'));
select {schema}.fold_statistics();
"""

SEARCHES = """
select 'all', rank, score, source, content, arms::text
  from {schema}.search('refunds order 2', '[1,0,0]', filter => '{{"n": {{"lte": 5}}}}')
union all
select 'vector', rank, score, source, content, arms::text
  from {schema}.vector_search('[0,1,0]', '{{default}}', null, 5)
union all
select 'keyword', rank, score, source, content, arms::text
  from {schema}.keyword_search('refunds order', '{{default}}', null, 5)
union all
select 'metadata', rank, score, source, content, arms::text
  from {schema}.metadata_search('{{"n": 3}}', '{{default}}', 5)
union all
select 'graph', rank, score, source, content, arms::text
  from {schema}.graph_search(
         (select array_agg(id) from {schema}.chunk where metadata @> '{{"n": 2}}'),
         '{{default}}', null, 5)
 order by 1, 2
"""


@pytest.fixture
def ingest(execute: Callable[..., Any]) -> Callable[..., None]:
    """A function that writes ten small documents with vectors and a link, in SQL alone."""
    return lambda dsn, schema="ragpg": execute(dsn, INGEST.format(schema=schema))


@pytest.fixture
def search(execute: Callable[..., Any]) -> Callable[..., list[tuple[Any, ...]]]:
    """A function that asks every search mode and returns all rows."""

    def ask(dsn: str, schema: str = "ragpg") -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = execute(dsn, SEARCHES.format(schema=schema))
        return rows

    return ask


@pytest.fixture
def program(server_dsn: str) -> Callable[[str], str]:
    """A function that finds psql or pg_dump of at least the server's version, or skips."""
    with psycopg.connect(server_dsn) as connection:
        major = connection.info.server_version // 10000

    def find(name: str) -> str:
        folders = [Path(path) for path in os.environ.get("PATH", "").split(os.pathsep)]
        folders += Path("/usr/lib/postgresql").glob("*/bin")
        from ragpg import localdb
        from ragpg.errors import LocalDatabaseError

        with contextlib.suppress(LocalDatabaseError):
            folders.insert(0, Path(localdb.psql_command()[0][0]).parent)
        for folder in folders:
            if found := shutil.which(name, path=str(folder)):
                version = subprocess.run([found, "--version"], capture_output=True, text=True)
                number = re.search(r"(\d+)\.", version.stdout)
                if number and int(number[1]) >= major:
                    return found
        pytest.skip(f"no {name} of version {major} or newer")

    return find


@pytest.fixture
def libpq_environment() -> Callable[[str], dict[str, str]]:
    """Turn a DSN into the variables that psql and pg_dump read."""
    names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "dbname": "PGDATABASE"}
    names |= {"password": "PGPASSWORD", "options": "PGOPTIONS"}

    def variables(dsn: str) -> dict[str, str]:
        given = conninfo_to_dict(dsn)
        return os.environ | {names[key]: str(value) for key, value in given.items() if key in names}

    return variables


def _renamed(row: tuple[Any, ...], schema: str) -> tuple[Any, ...]:
    pattern = re.compile(rf"(?<![\w.]){re.escape(schema)}\b")
    return tuple(pattern.sub("ragpg", item) if isinstance(item, str) else item for item in row)
