"""Analyses of tables that were never analysed: the first of a namespace, right after its load."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .engine import Engine

#: 120 words a document from 8,000, the first ones more often; links, and a title that others name.
LOAD = """
with made as (
  insert into ragpg.document (namespace_id, source, title)
  select 1, 'd' || n || '.md', case when n % 10 = 0 then 'Topic word' || n else '' end from generate_series(1, 300) as n
  returning id, source
), linked as (
  insert into ragpg.link (namespace_id, document_id, target)
  select 1, made.id, 'd' || 1 + hashint8(made.id) % 300 || '.md' from made
)
insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)
select 1, made.id, 0, text.content, sha256(convert_to(text.content, 'UTF8'))
  from made
 cross join lateral (
   select 'Topic word' || 10 + 10 * (made.id % 30) || ' ' || string_agg('word' || floor(8000 * power(
            (hashint8extended(made.id, i) & 1048575) / 1048576.0, 1.5)), ' ') as content
     from generate_series(1, 120) as i) as text
"""


def test_the_first_analysis_after_a_load_has_no_step_of_all_words_by_all_chunks(
    engine: Engine,
) -> None:
    engine.value("select ragpg.create_namespace('default')")
    for name in ("chunk", "chunk_keyword", "lexeme_statistics", "document", "mention", "link"):
        engine.connection.execute(
            f"alter table ragpg.{name} set (autovacuum_enabled = off)".encode()
        )
    engine.connection.execute(LOAD.encode())
    engine.value("select ragpg.fold_statistics()")
    known = "select max(reltuples) from pg_class where oid in ('ragpg.chunk'::regclass, 'ragpg.lexeme_statistics'::regclass)"
    assert engine.value(known) == -1
    # Words times chunks takes minutes; joined by hash all of it is done within a second or two.
    engine.connection.execute("set statement_timeout = '40s'")
    engine.value("select ragpg.analyse_graph('default')")
    engine.value("select ragpg.rebuild_graph('default')")
    first = engine.rows(
        "select shared_terms, communities, mentions, resolved from ragpg.graph_status()"
    )
    assert first[0]["shared_terms"] > 10
    assert first[0]["mentions"] > 100
    # What is known of the tables changes the time, never the result.
    engine.connection.execute("analyze")
    engine.value("select ragpg.analyse_graph('default')")
    assert (
        engine.rows(
            "select shared_terms, communities, mentions, resolved from ragpg.graph_status()"
        )
        == first
    )
