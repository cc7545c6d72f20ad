"""Sessions that meet: what one writes, another must neither undo nor miss."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row

from .engine import Engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def other(database: str) -> Iterator[Engine]:
    """A second session."""
    with psycopg.connect(database, autocommit=True, row_factory=dict_row) as connection:
        yield Engine(connection)


#: Sessions of this database that wait for a lock: others' tests wait on the same server.
WAITING = """
  select count(*) from pg_stat_activity
   where datname = current_database() and wait_event_type = 'Lock'"""


def meanwhile(work: Callable[[], Any], engine: Engine) -> Callable[[], Any]:
    """Start work in a thread and return once it waits for a lock or is done; call for its result."""
    result: list[Any] = []

    def run() -> None:
        try:
            result.append(work())
        except psycopg.Error as error:
            result.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    for _ in range(100):
        time.sleep(0.02)
        if not thread.is_alive() or engine.value(WAITING):
            break

    def finish() -> Any:
        thread.join(30)
        assert not thread.is_alive()
        if isinstance(result[0], psycopg.Error):
            raise result[0]
        return result[0]

    return finish


STALE = """
  select content from ragpg.chunk
    join ragpg.chunk_keyword as kept on kept.chunk_id = chunk.id
    join ragpg.namespace on namespace.id = chunk.namespace_id,
         lateral ragpg.keyword_row(text_search_config::regconfig, breadcrumb, content,
           metadata, average_length) as fresh
   where kept.lexemes <> fresh.lexemes or kept.bm25::text <> fresh.bm25::text"""


def test_a_rebuild_waits_for_writers_and_undoes_nothing(engine: Engine, other: Engine) -> None:
    engine.add({name: f"{name} of a text" for name in "abcdefgh"})
    engine.value("select count(*) from (select ragpg.rebuild_keywords('default')) as done")
    engine.rows("update ragpg.namespace set average_length = 1 returning id")
    with engine.connection.transaction():
        engine.rows(
            "update ragpg.chunk set content = 'banana' where content like 'c %' returning id"
        )
        engine.rows("""
            insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)
            select namespace_id, id, 1, 'a new cherry', 'x' from ragpg.document limit 1 returning id""")
        rebuilt = meanwhile(lambda: other.value("select ragpg.rebuild_keywords('default')"), engine)
    assert rebuilt() is True
    assert engine.rows(STALE) == []
    assert engine.keyword("banana") == ["c"]
    engine.value("select ragpg.fold_statistics()")
    assert engine.wrong_statistics() == []


def test_upkeep_waits_for_nobody(engine: Engine, other: Engine) -> None:
    engine.add({"a": "a text", "b": "another text"})
    engine.rows("update ragpg.namespace set average_length = 90 returning id")
    with engine.connection.transaction():
        engine.rows("update ragpg.chunk set content = 'more' where id = 1 returning id")
        assert other.value("select ragpg.rebuild_keywords('default', 0.25)") is False
    assert other.value("select ragpg.rebuild_keywords('default', 0.25)") is True
    assert other.value("select ragpg.rebuild_keywords('default', 0.25)") is False


def test_folding_and_dropping_do_not_deadlock(engine: Engine, other: Engine) -> None:
    engine.add({"a": "kept"})
    engine.add({"a": "doomed"}, namespace="doomed")
    for name in ("default", "doomed"):
        engine.rows(
            "insert into ragpg.document (namespace_id, source) values"
            " ((select id from ragpg.namespace where name = %s), 'z') returning id",
            name,
        )
    engine.rows("""
        insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)
        select namespace_id, id, 1, 'unheard', 'x' from ragpg.document where source = 'z' returning id""")
    with engine.connection.transaction():
        engine.rows("select 1 from ragpg.namespace where name = 'doomed' for update")
        folded = meanwhile(lambda: other.value("select ragpg.fold_statistics()"), engine)
        assert engine.value("select ragpg.drop_namespace('doomed')") is True
    assert folded() == 1
    assert engine.value("select ragpg.fold_statistics()") == 0
    assert engine.value("select count(*) from ragpg.keyword_log") == 0
    assert engine.wrong_statistics() == []


def test_one_of_two_builders_builds_the_index(engine: Engine, other: Engine) -> None:
    engine.add({"a": "text"}, vectors={"a": [1, 0, 0]})
    with engine.connection.transaction():
        assert engine.value("select ragpg.create_embedding_index(1)") is True
        second = meanwhile(lambda: other.value("select ragpg.create_embedding_index(1)"), engine)
    assert second() is False


def test_a_link_does_not_depend_on_who_commits_first(engine: Engine, other: Engine) -> None:
    engine.add({"start": "nothing"})
    with engine.connection.transaction():
        engine.connection.execute("select ragpg.begin_store()")
        engine.rows("""
            with document as (
              insert into ragpg_stage_document values
                ('x', '', 'text', null, 'x', '{}', '[{"target": "y"}]') returning 1)
            insert into ragpg_stage_chunk values
                ('x', 0, 'xylophone', '', '', 0, 9, 1, 1, null, '{}', 'x', null) returning 1""")
        engine.rows("select * from ragpg.store_staged(1)")
        other.add({"y": "target"})
    linked = engine.rows("""
        select source from ragpg.graph_search(
          array(select id from ragpg.chunk where content = 'xylophone'), '{default}')""")
    assert linked == [{"source": "y"}]


def test_a_new_title_does_not_mention_a_chunk_that_is_being_deleted(
    engine: Engine, other: Engine
) -> None:
    engine.add({"old": "Ask the Falcon Desk.", "kept": "The Falcon Desk is open."})
    with engine.connection.transaction():
        engine.value("select ragpg.delete_documents('default', '{old}')")
        titled = """
            insert into ragpg.document (namespace_id, source, title)
            values (1, 'new', 'Falcon Desk') returning 1"""
        storing = meanwhile(lambda: other.value(titled), engine)
    assert storing() == 1
    mentions = engine.rows("select source from ragpg.mention join ragpg.chunk on chunk.id = chunk_id"
                           " join ragpg.document on document.id = document_id")  # fmt: skip
    assert mentions == [{"source": "kept"}]


def test_a_new_chunk_does_not_mention_a_title_that_is_being_deleted(
    engine: Engine, other: Engine
) -> None:
    engine.value("select ragpg.create_namespace('default')")
    engine.rows("""
        insert into ragpg.document (namespace_id, source, title) values (1, 'title', 'Falcon Desk')
        returning 1""")
    with engine.connection.transaction():
        engine.value("select ragpg.delete_documents('default', '{title}')")
        adding = meanwhile(lambda: other.add({"text": "The Falcon Desk is open."}), engine)
    adding()
    assert engine.value("select count(*) from ragpg.mention") == 0
    assert engine.value("select count(*) from ragpg.entity") == 0


def test_a_link_does_not_lead_to_a_document_that_is_being_deleted(
    engine: Engine, other: Engine
) -> None:
    engine.add({"from": "one", "to": "another"})
    with engine.connection.transaction():
        engine.value("select ragpg.delete_documents('default', '{to}')")
        linked = """
            insert into ragpg.link (namespace_id, document_id, target)
            select 1, id, 'to' from ragpg.document where source = 'from' returning 1"""
        linking = meanwhile(lambda: other.value(linked), engine)
    assert linking() == 1
    assert engine.rows("select target_id, matches from ragpg.link") == [
        {"target_id": None, "matches": 0}
    ]


def store(engine: Engine, source: str, text: str) -> None:
    """Store a document in the first namespace, in the transaction that is open."""
    engine.rows("select ragpg.begin_store()")
    engine.rows(
        """
        with document as (
          insert into ragpg_stage_document values (%s, '', 'text', null, %s, '{}', '[]') returning 1)
        insert into ragpg_stage_chunk values
          (%s, 0, %s, '', '', 0, 9, 1, 1, null, '{}', 'x', null) returning 1""",
        source,
        text.encode(),
        source,
        text,
    )
    engine.rows("select * from ragpg.store_staged(1)")


def test_a_long_store_keeps_nobody_from_folding_and_dropping(engine: Engine, other: Engine) -> None:
    engine.add({"a": "kept"})
    engine.add({"a": "doomed", "b": "another"}, namespace="doomed")
    engine.rows("update ragpg.chunk set content = 'noted in the log' where id = 2 returning id")
    # As in a session whose plans are of other times.
    engine.value("select set_config('ragpg.planned_pages', '1000', false)")
    other.connection.execute("set lock_timeout = '2s'")
    with engine.connection.transaction():
        store(engine, "long", "a large document")
        assert engine.value("select current_setting('ragpg.planned_pages')") != "1000"
        assert other.value("select ragpg.fold_statistics()") > 0
        assert other.value("select ragpg.drop_namespace('doomed')") is True


def test_deletes_do_not_wait_while_an_analysis_computes(engine: Engine, other: Engine) -> None:
    engine.add({name: f"zirconium and feldspar of {name}" for name in "abc"})
    engine.connection.execute("set lock_timeout = '5s'")
    with engine.connection.transaction():
        # The analysis reads it, and waits as if it had much to compute.
        engine.connection.execute("lock table ragpg.lexeme_statistics in access exclusive mode")
        part = "select ragpg.analyse_part('default', 'terms')"
        analysed = meanwhile(lambda: other.value(part), engine)
        assert engine.value("select ragpg.delete_documents('default', '{b}')") == 1
    assert analysed() == {"shared_terms": 1}
    joined = """
        select low.source || high.source from ragpg.edge
          join ragpg.document as low on low.id = edge.source
          join ragpg.document as high on high.id = edge.target"""
    assert engine.value(joined) == "ac"


@pytest.mark.parametrize("part", ["terms", "pagerank", "communities"])
def test_an_analysis_and_deletes_do_not_deadlock(engine: Engine, other: Engine, part: str) -> None:
    # Sources and numbers are in opposite orders, and who deletes goes by sources.
    for name in "zyxwvua":
        engine.add({name: f"zirconium and feldspar of {name}"}, links={name: ["a", "z"]})
    engine.value("select ragpg.analyse_graph('default')")
    engine.rows("delete from ragpg.community returning id")
    engine.rows("update ragpg.document_rank set pagerank = 0 returning 1")
    with engine.connection.transaction():
        engine.value("select ragpg.delete_documents('default', '{a}')")
        analysed = meanwhile(
            lambda: other.value("select ragpg.analyse_part('default', %s)", part), engine
        )
        for name in "uvwxyz":
            assert engine.value("select ragpg.delete_documents('default', %s)", [name]) == 1
    assert analysed() is not None
    assert engine.value("select count(*) from ragpg.document_rank") == 0
    assert engine.value("select count(*) from ragpg.edge") == 0


def test_an_analysis_and_the_drop_of_a_namespace_do_not_deadlock(
    engine: Engine, other: Engine
) -> None:
    engine.add({name: f"zirconium and feldspar of {name}" for name in "abc"})
    with engine.connection.transaction():
        engine.rows("select 1 from ragpg.namespace where name = 'default' for update")
        part = "select ragpg.analyse_part('default', 'terms')"
        analysed = meanwhile(lambda: other.value(part), engine)
        assert engine.value("select ragpg.drop_namespace('default')") is True
    assert analysed() == {"shared_terms": 0}


def test_what_an_older_transaction_brings_during_an_analysis_makes_it_stale(
    engine: Engine, other: Engine
) -> None:
    engine.add({"a": "one", "b": "another"})
    stale = "select changed from ragpg.stale_graphs(share => 0)"
    status = "select changed_since from ragpg.graph_status()"
    with engine.connection.transaction():
        store(engine, "late", "a third")
        other.value("select ragpg.analyse_graph('default')")
        assert (other.rows(stale), other.value(status)) == ([], 0)
    assert (engine.rows(stale), engine.value(status)) == ([{"changed": 1}], 1)
    # What is gone counts beside it, and the next analysis has seen both.
    engine.value("select ragpg.delete_documents('default', '{a}')")
    assert (engine.rows(stale), engine.value(status)) == ([{"changed": 2}], 2)
    engine.value("select ragpg.analyse_graph('default')")
    assert (engine.rows(stale), engine.value(status)) == ([], 0)


def test_what_an_older_transaction_changes_during_an_analysis_makes_it_stale(
    engine: Engine, other: Engine
) -> None:
    for name in "abc":
        engine.add({name: f"zirconium of {name}"})
    engine.value("select ragpg.analyse_graph('default')")
    stale = "select changed from ragpg.stale_graphs(share => 0)"
    with engine.connection.transaction():
        engine.value("select now()")
        # Between two parts, after the last, and an analysis that comes to no end.
        other.value("select ragpg.analyse_part('default', 'names')")
        store(engine, "a", "feldspar of a")
        for part in ("terms", "pagerank", "communities"):
            other.value("select ragpg.analyse_part('default', %s)", part)
        store(engine, "b", "feldspar of b")
        other.value("select ragpg.analyse_part('default', 'names')")
    assert engine.rows(stale) == [{"changed": 2}]
    assert engine.value("select changed_since from ragpg.graph_status()") == 2
    engine.value("select ragpg.analyse_part('default', 'names')")
    assert engine.rows(stale) == [{"changed": 2}]
    engine.value("select ragpg.analyse_graph('default')")
    assert engine.rows(stale) == []
