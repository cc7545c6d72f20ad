"""For every index, the plan that uses it, seen from inside the functions."""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import psycopg

    from .engine import Engine


@pytest.fixture
def plans(engine: Engine) -> Iterator[Callable[[str], str]]:
    """Runs a statement; gives the plans of all statements in it and under it."""
    engine.connection.execute("""
        select ragpg.create_namespace('default', space_id => ragpg.create_embedding_space('test', 8));
        insert into ragpg.document (namespace_id, source)
        select 1, 'd' || n from generate_series(1, 3000) as n;
        insert into ragpg.chunk (namespace_id, document_id, ordinal, content, metadata, content_hash, created_at)
        select 1, id, 0, 'w' || id % 700 || 'x common', jsonb_build_object('g', id % 300), 'x', now() + id * interval '1 second'
          from ragpg.document;
        insert into ragpg.link (namespace_id, document_id, target)
        select 1, f.id, t.source from ragpg.document as f
          join ragpg.document as t on t.id = (f.id * 7) % 3000 + 1 and t.id <> f.id;
        select ragpg.fold_statistics()""")
    rng = random.Random(4)
    with engine.connection.cursor().copy("copy ragpg.embedding_1 from stdin") as copy:
        for number in range(1, 3001):
            copy.write_row((1, number, json.dumps([rng.gauss(0, 1) for _ in range(8)])))
    engine.value("select ragpg.create_embedding_index(1)")
    engine.connection.execute("vacuum analyze")
    engine.connection.execute("load 'auto_explain'")
    engine.connection.execute("""
        set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on;
        set auto_explain.log_analyze = on; set client_min_messages = log""")
    seen: list[str] = []

    def listen(diagnostic: psycopg.errors.Diagnostic) -> None:
        seen.append(diagnostic.message_primary or "")

    def run(statement: str) -> str:
        seen.clear()
        engine.connection.execute(statement.encode())
        return "\n".join(seen)

    engine.connection.add_notice_handler(listen)
    yield run
    engine.connection.remove_notice_handler(listen)


def test_each_arm_uses_its_index(plans: Callable[[str], str]) -> None:
    keyword = plans("select * from ragpg.keyword_arm('w17x common', '{1}', null, 10)")
    assert "Bitmap Index Scan on chunk_keyword_lexemes" in keyword
    assert "Index Scan using lexeme_statistics_pkey" in keyword
    assert "Seq Scan on chunk_keyword" not in keyword
    vector = plans("select * from ragpg.vector_arm('[1,2,3,4,5,6,7,8]', '{1}', null, 10, null, 0)")
    assert "Index Scan using embedding_1_hnsw" in vector
    assert "Order By" in vector
    rare = plans("select * from ragpg.vector_arm('[1,2,3,4,5,6,7,8]', '{1}', '{\"g\": 7}', 10)")
    assert "embedding_1_pkey" in rare
    assert "chunk_metadata" in rare
    common = plans("select * from ragpg.metadata_arm('{1}', '{\"g\": {\"gte\": 0}}', 10)")
    assert "chunk_recency" in common
    few = plans("select * from ragpg.metadata_arm('{1}', '{\"g\": 7}', 50)")
    assert "chunk_metadata" in few
    graph = plans("select * from ragpg.graph_arm('{17}', '{1}', null, 10)")
    assert "link_in" in graph
    assert "link_target" in graph
    assert "Seq Scan on link" not in graph


def test_a_filter_narrows_keyword_candidates_inside_the_index(plans: Callable[[str], str]) -> None:
    narrowed = plans("select * from ragpg.keyword_arm('common', '{1}', '{\"g\": 7}', 10)")
    assert "'@g=7'" in narrowed


def _pages(engine: Engine, call: str) -> int:
    """Pages that a call touches, once its plans are kept: a measure of work that knows no noise."""
    engine.connection.execute(f"select * from {call}".encode())
    explained = engine.value(f"explain (analyze, buffers, format json) select * from {call}")
    plan = explained[0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def test_the_graph_reads_of_a_hub_what_it_follows(engine: Engine) -> None:
    engine.connection.execute("""
        select ragpg.create_namespace('default');
        insert into ragpg.document (namespace_id, source) select 1, 'd' || n from generate_series(1, 6000) as n;
        insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)
        select 1, id, 0, 'text', 'x' from ragpg.document;
        insert into ragpg.entity (namespace_id, key, name) select 1, 'e' || n, 'E' || n from generate_series(1, 6000) as n;
        insert into ragpg.link (namespace_id, document_id, target)
        select 1, id, case when id > 200 then 'd1' else 'd2' end from ragpg.document where id > 2;
        insert into ragpg.relation (namespace_id, source, target, kind, chunk_id)
        select 1, id, case when id > 200 then 1 else 2 end, 'knows', 3 from ragpg.entity where id > 2;
        insert into ragpg.mention (namespace_id, chunk_id, entity_id) values (1, 1, 1), (1, 2, 2);""")
    engine.connection.execute("vacuum analyze")
    hub, plain = (_pages(engine, f"ragpg.graph_paths('{{{seed}}}', '{{1}}')") for seed in (1, 2))
    assert hub < 1.5 * plain
    assert engine.value("select count(*) from ragpg.graph_paths('{1}', '{1}')") == 70


@pytest.mark.parametrize("condition", ['\'{"part": {"gte": 0}}\'', "'{\"part\": 77}'"])
def test_the_graph_reads_of_a_document_its_beginning(engine: Engine, condition: str) -> None:
    engine.connection.execute("""
        select ragpg.create_namespace('default');
        insert into ragpg.document (namespace_id, source) select 1, 'd' || n from generate_series(1, 3000) as n;
        insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)
        select 1, id, 0, 'text', 'x' from ragpg.document;
        insert into ragpg.entity (namespace_id, key, name) values (1, 'orion', 'Orion');
        insert into ragpg.topic (namespace_id, document_id, entity_id) values (1, 3000, 1);
        insert into ragpg.mention (namespace_id, chunk_id, entity_id, origin)
        select 1, id, 1, 'titles' from ragpg.chunk where id < 30""")
    engine.connection.execute("vacuum analyze")
    # A document grows to what it was not when plans were made.
    grow = """
        set session_replication_role = replica;
        insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash, metadata)
        select 1, 3000, n, 'text', 'x', '{"part": 1}' from generate_series(%s, %s) as n;
        insert into ragpg.link (namespace_id, document_id, target, target_id, matches)
        values (1, 1, 'd3000', 3000, 1) on conflict do nothing;
        reset session_replication_role"""
    seeds = "{1,2,3,3003,3004}"
    call = f"ragpg.graph_arm('{seeds}', '{{1}}', {condition}, 10, 'What of Orion?', with_seeds => true)"
    calls = (call, "ragpg.graph_neighbours(1, 'd', 3000, 5)")
    pages = []
    for begin, end in ((1, 2000), (2001, 20000)):
        engine.connection.execute((grow % (begin, end)).encode())
        pages.append([_pages(engine, one) for one in calls])
    for former, latter in zip(*pages, strict=True):
        assert latter < 1.5 * former


def test_many_links_of_one_document_are_not_compared_with_each_other(
    plans: Callable[[str], str],
) -> None:
    seen = plans(
        "insert into ragpg.link (namespace_id, document_id, target)"
        " select 1, 1, source from ragpg.document where id > 1 on conflict do nothing"
    )
    assert "TID Cond" in seen
    compared = [int(rows) for rows in re.findall(r"Rows Removed by Join Filter: (\d+)", seen)]
    assert sum(compared) < 10_000
