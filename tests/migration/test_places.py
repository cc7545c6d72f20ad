"""Extensions and tables in any schema, and names that are refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import ragpg
from ragpg import migrate, sqlfiles
from ragpg.errors import ConfigError
from ragpg.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.case("SC-01")
@pytest.mark.parametrize(
    ("vector_in", "tables_in", "search_path"),
    [("extensions", "app", "app"), ("public", "kb", ""), ("Weird-Schema", "kb", None)],
)
def test_extensions_may_live_anywhere_sc_01(
    database: str,
    vector_in: str,
    tables_in: str,
    search_path: str | None,
    ingest: Callable[..., None],
    search: Callable[..., Any],
    catalog: Callable[..., Any],
) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        if vector_in != "public":
            connection.execute(f'create schema "{vector_in}"'.encode())
        for extension in ("vector", "btree_gin"):
            connection.execute(f'create extension {extension} schema "{vector_in}"'.encode())
        if search_path is not None:
            name = connection.info.dbname
            quoted = f"'{search_path}'"
            connection.execute(f"alter database {name} set search_path = {quoted}".encode())

    migrate.upgrade(database, schema=tables_in)
    ingest(database, tables_in)
    modes = {row[0] for row in search(database, tables_in)}
    assert modes == {"all", "vector", "keyword", "metadata", "graph"}
    with ragpg.connect(database, schema=tables_in, embedder=HashEmbedder(8)) as rag:
        texts = [("a.md", "Refunds take [some days](b.md)."), ("b.md", "Parcels leave at noon.")]
        documents = [{"source": name, "text": text, "format": "markdown"} for name, text in texts]
        assert rag.ingest(texts=documents, namespace="python").ok
        for arms in (["vector"], ["keyword"], ["metadata"], ["keyword", "graph"], None):
            result = rag.search(
                "refunds", namespace="python", arms=arms, filter={"none": {"exists": False}}
            )
            assert result.hits, arms
            assert not [arm.error for arm in result.report.values() if arm.error]
        assert rag.delete(["a.md"], namespace="python") == 1
        assert {one.name for one in rag.namespaces()} == {"default", "python"}
        assert not [check for check in rag.doctor() if check.status == "error"]
    migrate.upgrade(database, schema=tables_in)
    migrate.downgrade(database, schema=tables_in)
    assert catalog(database, tables_in) == {}
    migrate.upgrade(database, schema=tables_in)


@pytest.mark.case("SC-01")
def test_two_applications_share_one_database_sc_01(
    database: str,
    ingest: Callable[..., None],
    search: Callable[..., Any],
    catalog: Callable[..., Any],
    execute: Callable[..., Any],
) -> None:
    migrate.upgrade(database, schema="shop")
    migrate.upgrade(database, schema="kb")
    assert catalog(database, "shop") == catalog(database, "kb")
    ingest(database, "shop")
    assert execute(database, "select count(*) from kb.document") == [(0,)]
    ingest(database, "kb")
    # All but the scores, some of which are the time of writing.
    first, second = (
        [(arm, rank, *row[1:3]) for arm, rank, *row in search(database, schema)]
        for schema in ("shop", "kb")
    )
    assert first == second
    migrate.downgrade(database, schema="kb")
    assert len(search(database, "shop")) > 0


NAMES = json.loads(
    '["MyDocs", "my-docs", "user:42", "a.b", "select", "1st", "café", "say \\"hi\\"",'
    ' "semi;colon", "space name", "", "  "]'
)
LONG = ["n" * 63 + "-one", "n" * 63 + "-two", "é" * 40, "x" * 255, "n" * 42]


@pytest.mark.case("SC-06")
@pytest.mark.parametrize("name", NAMES)
def test_a_schema_name_that_needs_quotes_is_refused_sc_06(
    database: str, name: str, execute: Callable[..., Any]
) -> None:
    with pytest.raises(ConfigError, match=r"schema name .* is not allowed"):
        migrate.upgrade(database, schema=name)
    for refuse in (migrate.downgrade, migrate.status):
        if name != "select":
            with pytest.raises(ConfigError, match="lower-case"):
                refuse(database, schema=name)
    count = "select count(*) from pg_namespace where nspname !~ '^pg_'"
    assert execute(database, count) == [(2,)]


@pytest.mark.case("SC-05")
@pytest.mark.parametrize("name", LONG)
def test_a_schema_name_is_never_cut_sc_05(name: str) -> None:
    with pytest.raises(ConfigError, match="1 to 41 characters"):
        migrate.script(name)


@pytest.mark.parametrize("name", ["pg_rag", "public", "information_schema", "ragpg; drop"])
def test_schemas_of_others_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="is not allowed"):
        sqlfiles.check_schema(name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select ragpg.search('x')", "select kb.search('x')"),
        ("create schema if not exists ragpg;", "create schema if not exists ragpg;"),
        ("create schema ragpg; in schema ragpg to", "create schema kb; in schema kb to"),
        ("'ragpg.hit'::regtype, 'ragpg'", "'kb.hit'::regtype, 'kb'"),
        ("$$ragpg.search() is", "$$kb.search() is"),
        ('{"function": "ragpg.x"}', '{"function": "kb.x"}'),
        ("pg_temp.ragpg_stage_chunk", "pg_temp.ragpg_stage_chunk"),
        ("to ragpg_reader; my_ragpg.x; a.ragpg.b", "to ragpg_reader; my_ragpg.x; a.ragpg.b"),
    ],
)
def test_render_replaces_the_schema_only(text: str, expected: str) -> None:
    assert sqlfiles.render(text, "kb") == expected
    assert sqlfiles.render(text, "ragpg") == text


def test_no_file_keeps_the_old_schema_name() -> None:
    texts = [(file.path, file.text) for file in sqlfiles.files("kb")]
    for path, text in texts:
        assert "ragpg." not in text, path
        assert "'ragpg'" not in text, path


def test_every_sql_file_is_in_the_manifest() -> None:
    folder = sqlfiles.sql_folder()
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*.sql")}
    assert found == {file.path for file in sqlfiles.files()}
