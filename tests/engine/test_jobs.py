"""The queue in SQL: who gets which job, when, and what becomes of it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row

from .engine import Engine

if TYPE_CHECKING:
    from collections.abc import Sequence


def put(engine: Engine, *sources: str, **options: Any) -> list[int]:
    named = "".join(f", {name} => %({name})s" for name in options)
    return [
        engine.connection.execute(
            f"select ragpg.enqueue(%(source)s, 'Text of ' || %(source)s{named}) as id".encode(),
            {"source": source, **options},
        ).fetchall()[0]["id"]
        for source in sources
    ]


def claim(engine: Engine, worker: str = "w", k: int = 1, **options: Any) -> list[str]:
    named = "".join(f", {name} => %({name})s" for name in options)
    rows = engine.connection.execute(
        f"select source from ragpg.claim_jobs(%(worker)s, %(k)s{named})".encode(),
        {"worker": worker, "k": k, **options},
    ).fetchall()
    return [row["source"] for row in rows]


def states(engine: Engine) -> dict[str, str]:
    rows = engine.rows("select source, state from ragpg.jobs order by id")
    return {row["source"]: row["state"] for row in rows}


def test_priority_then_age_decides(engine: Engine) -> None:
    put(engine, "a", "b")
    put(engine, "urgent", priority=5)
    put(engine, "later", delay="1 hour")
    assert [claim(engine), claim(engine), claim(engine), claim(engine)] == [
        ["urgent"],
        ["a"],
        ["b"],
        [],
    ]
    assert states(engine)["later"] == "delayed"


def test_a_text_comes_as_it_was_given(engine: Engine) -> None:
    engine.rows(
        "select ragpg.enqueue('a.md', E'# Hello\\n100% \\'x\\'', namespace => 'n', title => 'T',"
        " format => 'markdown', metadata => '{\"year\": 2024}', batch => 'b')"
    )
    [row] = engine.rows("select * from ragpg.claim_jobs('w')")
    assert row["content"] == "# Hello\n100% 'x'"
    assert (row["namespace"], row["title"], row["format"]) == ("n", "T", "markdown")
    assert row["metadata"] == {"year": 2024}
    assert (row["kind"], row["attempts"], row["follow_links"]) == ("text", 1, False)


def test_a_newer_job_of_a_source_takes_the_place_of_one_that_waits(engine: Engine) -> None:
    [first] = put(engine, "a", priority=3)
    [second] = put(engine, "a")
    assert first == second
    assert engine.value("select priority from ragpg.job") == 3


def test_two_jobs_of_one_source_never_run_together(engine: Engine) -> None:
    [first] = put(engine, "a")
    assert claim(engine, "w1") == ["a"]
    [second] = put(engine, "a")
    assert first != second
    assert claim(engine, "w2") == []
    engine.rows("select ragpg.finish_jobs('w1', %s, '{stored}')", [first])
    assert claim(engine, "w2") == ["a"]


def test_a_failed_job_gives_way_to_a_newer_one(engine: Engine) -> None:
    [first] = put(engine, "a")
    claim(engine, "w1")
    [second] = put(engine, "a")
    assert engine.value("select ragpg.fail_job('w1', %s, 'bad')", first) == "superseded"
    assert [row["id"] for row in engine.rows("select id from ragpg.jobs")] == [second]


def test_failures_are_tried_again_later_and_later_and_then_quarantined(engine: Engine) -> None:
    [job] = put(engine, "a", max_attempts=3)
    pauses = []
    for attempt in range(3):
        assert claim(engine) == ["a"]
        state = engine.value("select ragpg.fail_job('w', %s, %s)", job, f"failure {attempt}")
        assert state == ("quarantined" if attempt == 2 else "waiting")
        pauses.append(
            engine.value("select extract(epoch from run_at - now())::float8 from ragpg.job")
        )
        engine.rows("update ragpg.job set run_at = now() where state = 'waiting' returning 1")
    assert 4.9 < pauses[0] < 6.3
    assert 9.9 < pauses[1] < 12.6
    assert claim(engine) == []
    [row] = engine.rows("select state, attempts, error from ragpg.jobs")
    assert row == {"state": "quarantined", "attempts": 3, "error": "failure 2"}


def test_quarantine_can_be_listed_retried_and_deleted(engine: Engine) -> None:
    jobs = put(engine, "a", "b", max_attempts=1)
    assert len(claim(engine)) + len(claim(engine)) == 2
    for job in jobs:
        engine.value("select ragpg.fail_job('w', %s, 'bad')", job)
    listed = engine.rows("select id, error from ragpg.jobs where state = 'quarantined' order by id")
    assert listed == [{"id": job, "error": "bad"} for job in jobs]
    assert engine.value("select ragpg.retry_jobs(job_ids => %s)", [jobs[0]]) == 1
    assert claim(engine) == ["a"]
    assert engine.value("select ragpg.delete_jobs(namespace => 'default')") == 0
    assert engine.value("select ragpg.delete_jobs(state => 'quarantined')") == 1
    assert states(engine) == {"a": "running"}
    with pytest.raises(psycopg.DatabaseError, match="no state"):
        engine.value("select ragpg.delete_jobs(state => 'bad')")


def test_a_new_text_ends_the_quarantine_of_its_source(engine: Engine) -> None:
    [job] = put(engine, "a", max_attempts=1)
    claim(engine)
    engine.value("select ragpg.fail_job('w', %s, 'bad')", job)
    put(engine, "a")
    assert states(engine) == {"a": "waiting"}


def test_a_lease_that_ran_out_is_another_workers(engine: Engine) -> None:
    [job] = put(engine, "a")
    assert claim(engine, "dead", lease="1 minute") == ["a"]
    assert claim(engine, "w") == []
    engine.rows("update ragpg.job set lease_until = now() - interval '1 second' returning 1")
    assert states(engine) == {"a": "lost"}
    assert claim(engine, "w") == ["a"]
    assert engine.rows("select ragpg.extend_jobs('dead', %s)", [job]) == []
    assert engine.value("select ragpg.finish_jobs('dead', %s, '{stored}')", [job]) == 0
    assert engine.value("select ragpg.fail_job('dead', %s, 'bad')", job) == "lost"
    assert engine.value("select ragpg.release_jobs('dead', %s)", [job]) == 0
    with pytest.raises(psycopg.DatabaseError, match="taken away") as raised:
        engine.value("select ragpg.hold_jobs('dead', %s)", [job])
    assert raised.value.sqlstate == "RG007"
    engine.rows("select ragpg.hold_jobs('w', %s)", [job])
    [row] = engine.rows("select attempts, error, worker from ragpg.jobs")
    assert row["attempts"] == 2
    assert row["error"] == "its worker dead stopped answering"


def test_who_kills_its_workers_ends_in_quarantine_but_not_who_got_somewhere(engine: Engine) -> None:
    [job] = put(engine, "a", max_attempts=2)
    for embedded, attempts in ((7, 0), (0, 1), (0, 2)):
        assert claim(engine) == ["a"]
        engine.rows("select ragpg.extend_jobs('w', %s, embedded => %s)", [job], embedded)
        engine.rows("update ragpg.job set lease_until = now() - interval '1 second' returning 1")
        # Another claim finds it; with nothing else to do it would take it at once.
        with engine.connection.transaction():
            claim(engine, "other")
            engine.rows("select ragpg.release_jobs('other', %s)", [job])
        assert engine.value("select attempts from ragpg.job") == attempts
    assert states(engine) == {"a": "quarantined"}


def test_jobs_given_back_are_as_if_never_taken(engine: Engine) -> None:
    [job] = put(engine, "a")
    claim(engine)
    assert engine.value("select ragpg.release_jobs('w', %s)", [job]) == 1
    [row] = engine.rows("select state, attempts, worker from ragpg.jobs")
    assert row == {"state": "waiting", "attempts": 0, "worker": None}
    claim(engine)
    engine.value("select ragpg.release_jobs('w', %s, '90 seconds', 'busy')", [job])
    [row] = engine.rows("select state, attempts, error from ragpg.jobs")
    assert row == {"state": "delayed", "attempts": 0, "error": "busy"}


def test_fresh_jobs_go_together_and_leave_something_for_others(engine: Engine) -> None:
    put(engine, *(f"s{n:02}" for n in range(33)))
    put(engine, "other", namespace="elsewhere")
    first = claim(engine, "w1", 16)
    assert first == ["s00", "s01", "s02", "s03", "s04"]
    assert claim(engine, "w2", 16) == ["s05", "s06", "s07", "s08"]
    engine.rows("update ragpg.job set state = 'done' where source like 's%' returning 1")
    assert claim(engine, "w1", 16) == ["other"]


def test_what_failed_before_goes_alone(engine: Engine) -> None:
    put(engine, *(f"s{n:02}" for n in range(40)))
    engine.rows("update ragpg.job set attempts = 1 where source = 's00' returning 1")
    assert claim(engine, "w1", 16) == ["s00"]
    assert len(claim(engine, "w2", 16)) > 1


def test_large_documents_go_alone(engine: Engine) -> None:
    put(engine, *(f"s{n:02}" for n in range(40)))
    engine.rows("update ragpg.job set size = 3000000 returning 1")
    assert claim(engine, "w1", 16) == ["s00"]


def test_files_are_for_workers_that_may_read_them(engine: Engine) -> None:
    engine.rows(
        "select ragpg.enqueue_jobs('default', "
        ' \'[{"source": "a", "kind": "file", "path": "/srv/docs/a", "root": "/srv/docs"}]\')'
    )
    assert claim(engine) == []
    assert claim(engine, folders=["/srv/doc", "/srv/docs/a"]) == []
    [row] = engine.rows("select * from ragpg.open_jobs('{/srv/doc}')")
    assert row == {"mine": False, "elsewhere": True}
    assert claim(engine, folders=["/srv/docs/"]) == ["a"]


@pytest.mark.parametrize(
    "job",
    ['{"source": " ", "content": "x"}', '{"content": "x"}', '{"source": "a"}',
     '{"source": "a", "kind": "file", "path": "/x"}', '{"source": "a", "kind": "drop"}'],
)  # fmt: skip
def test_a_job_that_cannot_be_read_is_refused_with_its_text(engine: Engine, job: str) -> None:
    with pytest.raises(psycopg.DatabaseError, match="cannot be read") as raised:
        engine.rows("select ragpg.enqueue_jobs('default', %s::jsonb)", f"[{job}]")
    assert raised.value.sqlstate == "RG005"


def test_many_workers_share_without_doubles(engine: Engine, database: str) -> None:
    put(engine, *(f"s{n:03}" for n in range(300)))
    taken: list[Sequence[str]] = []

    def take(name: str) -> None:
        with psycopg.connect(database, autocommit=True, row_factory=dict_row) as connection:
            mine = Engine(connection)
            while sources := claim(mine, name, 16):
                taken.append(sources)

    threads = [threading.Thread(target=take, args=(f"w{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sources = [source for part in taken for source in part]
    assert len(sources) == len(set(sources)) == 300


def test_a_transaction_that_holds_its_jobs_keeps_them_past_the_lease(
    engine: Engine, database: str
) -> None:
    [job] = put(engine, "a")
    claim(engine, "slow")
    engine.rows("update ragpg.job set lease_until = now() - interval '1 second' returning 1")
    with psycopg.connect(database, row_factory=dict_row) as other:
        Engine(other).rows("select ragpg.hold_jobs('slow', %s)", [job])
        assert claim(engine, "w") == []
        # Heartbeats do not wait for it.
        engine.connection.execute("set lock_timeout = '1s'")
        assert len(engine.rows("select ragpg.extend_jobs('slow', %s)", [job])) == 1


def test_done_jobs_keep_no_text_and_go_in_time(engine: Engine) -> None:
    jobs = put(engine, "a", "b")
    claim(engine)
    claim(engine)
    engine.rows("select ragpg.finish_jobs('w', %s, '{stored,empty}', '{2,0}', '{1,0}')", jobs)
    assert engine.value("select count(*) from ragpg.job where content is not null") == 0
    [row] = engine.rows("select done, percent::float8, chunks, embedded from ragpg.job_progress")
    assert row == {"done": 2, "percent": 100.0, "chunks": 2, "embedded": 1}
    assert engine.value("select ragpg.prune_jobs('1 day')") == 0
    engine.rows("update ragpg.job set finished_at = now() - interval '2 days' returning 1")
    assert engine.value("select ragpg.prune_jobs('1 day')") == 2


def test_enqueue_tells_who_listens(engine: Engine, database: str) -> None:
    with psycopg.connect(database, autocommit=True) as listener:
        listener.execute("listen ragpg_jobs")
        put(engine, "a")
        heard = [one.channel for one in listener.notifies(timeout=5, stop_after=1)]
    assert heard == ["ragpg_jobs"]


def test_a_namespace_goes_with_its_jobs(engine: Engine) -> None:
    put(engine, "a", namespace="n")
    assert engine.value("select ragpg.drop_namespace('n')") is True
    assert states(engine) == {}


def test_claims_go_through_the_index_of_jobs_that_wait(engine: Engine) -> None:
    engine.rows("select ragpg.create_namespace('default')")
    engine.connection.execute("""
        insert into ragpg.job (namespace_id, source, kind, content)
        select 1, 's' || n, 'text', 'x' from generate_series(1, 5000) as n""")
    engine.connection.execute("load 'auto_explain'")
    engine.connection.execute("""
        set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on;
        set auto_explain.log_analyze = on; set client_min_messages = log""")
    seen: list[str] = []
    engine.connection.add_notice_handler(lambda one: seen.append(one.message_primary or ""))
    # The statistics know of none of these rows.
    assert len(claim(engine, "w", 16)) == 16
    plans = "\n".join(seen)
    assert "Index Scan using job_ready on job" in plans
    assert "Index Scan using job_running on job" in plans
    assert "Seq Scan on job" not in plans
    assert "Sort Key: job.priority" not in plans
