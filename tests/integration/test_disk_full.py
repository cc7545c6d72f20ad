"""The server runs out of room in the middle of an ingest."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.errors import DiskFull
from ragpg.jobs.options import WorkOptions
from ragpg.jobs.queue import Queue
from ragpg.jobs.worker import work
from ragpg.testing import HashEmbedder

from .doubles import contents

if TYPE_CHECKING:
    import psycopg

    Database = psycopg.Connection[Any]

TEXTS = [(f"{number:02}.md", f"What document {number} says. " * 9) for number in range(40)]
#: Room for the documents of the first group and some of the second.
FULL = """
create function full_disk() returns trigger language plpgsql as $$
begin
  if (select count(*) from ragpg.chunk) > 35 then
    raise exception 'could not extend file "base/5/16397": No space left on device'
      using errcode = 'disk_full', hint = 'Check free disk space.';
  end if;
  return null;
end $$;
create trigger full_disk after insert on ragpg.chunk for each row execute function full_disk();
"""


def test_a_full_disk_is_named_and_the_next_run_completes(database: str, db: Database) -> None:
    with ragpg.connect(database, embedder=HashEmbedder(8)) as rag:
        rag.ingest(texts=TEXTS[:30])
        db.execute(FULL)
        with pytest.raises(DiskFull, match=r"no room left.*could not extend file") as caught:
            rag.ingest(texts=TEXTS)
        assert "run it again" in str(caught.value.hint)
        assert caught.value.sqlstate == "53100"
        assert rag.search("what document 7 says").hits
        assert set(contents(db)) == {source for source, _ in TEXTS[:30]}, "none is half-written"
        db.execute("drop trigger full_disk on ragpg.chunk")
        report = rag.ingest(texts=TEXTS)
        assert (report.count("unchanged"), report.count("stored")) == (30, 10)
        assert sum(file.embedded for file in report.files) == 0, "they were in the cache"


def test_a_worker_waits_for_room_without_counting_attempts(database: str, db: Database) -> None:
    notes: list[str] = []
    stop = threading.Event()

    def noted(text: str) -> None:
        notes.append(text)
        if "no room left" in text:
            db.execute("drop trigger if exists full_disk on ragpg.chunk")

    with ragpg.connect(database, embedder=HashEmbedder(8)) as rag:
        Queue(rag).enqueue(texts=TEXTS)
        db.execute(FULL)
        work(rag, WorkOptions(drain=True, poll=0.1), stop=stop, on_note=noted)
        assert any("no room left" in note for note in notes), notes
        assert {(job.state, job.attempts) for job in Queue(rag).jobs()} == {("done", 1)}
        assert set(contents(db)) == {source for source, _ in TEXTS}
