"""What a person in psql sees: every object has a file, a comment and an example that runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .engine import Engine

#: Those of sql/age are for databases with AGE, which have a server and tests of their own.
FILES = {
    path.stem: path
    for path in Path(__file__).parents[2].joinpath("sql").rglob("*.sql")
    if path.parent.name != "age"
}


def test_every_function_has_a_file_a_comment_and_named_arguments(engine: Engine) -> None:
    functions = engine.rows("""
        select proname as name, obj_description(oid, 'pg_proc') as comment,
               coalesce(array_position(proargnames, '') is null, true) as named,
               pronargs, proargnames is not null or pronargs = 0 as has_names
          from pg_proc where pronamespace = 'ragpg'::regnamespace order by 1""")
    assert len(functions) > 40
    assert len({row["name"] for row in functions}) == len(functions), "no overloads"
    for row in functions:
        name = row["name"]
        assert name in FILES, f"{name} has no file"
        assert row["comment"], f"{name} has no comment"
        assert row["named"], f"{name} has an argument without a name"
        assert row["has_names"], f"{name} has an argument without a name"
    objects = {row["name"] for row in functions} | {
        row["name"]
        for row in engine.rows("select viewname as name from pg_views where schemaname = 'ragpg'")
    }
    assert set(FILES) - objects == {"policies", "privileges", "watch_tables"}, (
        "files without an object"
    )


def examples(comment: str) -> list[str]:
    """The indented statements of a comment."""
    blocks = re.findall(r"(?:^  \S.*\n?(?:^   .*\n?)*)+", comment + "\n", re.MULTILINE)
    statements = "".join(blocks).split(";")
    return [
        text
        for text in (re.sub(r"^\s*--.*$", "", s, flags=re.M).strip() for s in statements)
        if text.startswith("select")
    ]


@pytest.mark.smoke
def test_every_example_in_a_comment_runs(engine: Engine) -> None:
    engine.add(
        {"refund.md": "The refund policy: refunds take 14 days."}, vectors={"refund.md": [0.1, 0.2]}
    )
    engine.add(
        {"refund.md": "The refund policy."}, vectors={"refund.md": [0.1, 0.2]}, namespace="handbook"
    )
    engine.value("select ragpg.create_embedding_space('other', 3)")
    engine.connection.execute(
        "create function public.recent(text, integer[], jsonb, integer) returns table (chunk_id bigint, score float8)"
        " language sql as 'select 1::bigint, 1::float8'"
    )
    comments = engine.rows("""
        select proname as name, obj_description(oid, 'pg_proc') as comment
          from pg_proc where pronamespace = 'ragpg'::regnamespace
         union all
        select relname, obj_description(oid, 'pg_class') from pg_class
         where relnamespace = 'ragpg'::regnamespace and relkind = 'v'""")
    ran = set()
    refusing = {"filter_error"}
    for row in comments:
        for statement in examples(row["comment"]):
            with engine.connection.transaction(force_rollback=True):
                if row["name"] in refusing:
                    with pytest.raises(Exception, match="filter: "):
                        engine.rows(statement.replace("%", "%%"))
                else:
                    engine.connection.execute(statement.encode())
            ran.add(row["name"])
    without = {row["name"] for row in comments} - ran
    triggers = {
        "forget_reports",
        "write_keywords",
        "log_statistics",
        "note_write",
        "write_links",
        "write_mentions",
        "write_orphans",
        "write_topics",
    }
    assert without <= {*triggers, "begin_store", "write_staged_vectors"}, without


def test_functions_with_a_body_of_text_pin_their_search_path(engine: Engine) -> None:
    loose = engine.rows("""
        select proname from pg_proc
         where pronamespace = 'ragpg'::regnamespace and prosqlbody is null
           and (prosrc ~ '<=>|<#>|::vector|vector_' or prosecdef)
           and not coalesce(array_to_string(proconfig, ' '), '') ~ 'search_path'""")
    assert [row["proname"] for row in loose] == []
