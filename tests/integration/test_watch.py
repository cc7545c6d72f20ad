"""Watching folders: after every change the index equals the disk, and stays what it was meanwhile."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

import ragpg
from ragpg.config.folders import Folder
from ragpg.config.read import read_config
from ragpg.errors import ConfigError
from ragpg.settings import Settings
from ragpg.watch import watch

from .doubles import CountingEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Database = psycopg.Connection[Any]

DEADLINE = 60.0
SETTLE = 0.1


def stored(db: Database, namespace: str = "default") -> dict[str, str]:
    """Texts by source."""
    rows = db.execute(
        "select document.source, string_agg(chunk.content, '|' order by chunk.ordinal)"
        "  from ragpg.document join ragpg.namespace on namespace.id = document.namespace_id"
        "  left join ragpg.chunk on chunk.namespace_id = document.namespace_id"
        "   and chunk.document_id = document.id"
        " where namespace.name = %s group by 1",
        [namespace],
    ).fetchall()
    return dict(rows)


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.02)


@contextmanager
def watching(
    rag: ragpg.Client, *folders: Folder, notes: list[str] | None = None, rescan: float = 900.0
) -> Iterator[threading.Event]:
    stop = threading.Event()
    errors: list[BaseException] = []

    def run() -> None:
        try:
            watch(
                rag,
                folders,
                stop=stop,
                debounce=SETTLE,
                rescan=rescan,
                on_note=None if notes is None else notes.append,
            )
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield stop
    finally:
        stop.set()
        thread.join(DEADLINE)
        assert not thread.is_alive()
    assert not errors


@pytest.mark.case("SY-08")
def test_a_watched_folder_is_mirrored_however_files_are_saved_sy_08(
    database: str, db: Database, tmp_path: Path
) -> None:
    docs, aside = tmp_path / "docs", tmp_path / "aside"
    docs.mkdir()
    notes = docs / "notes.md"
    notes.write_text("version one")
    with ragpg.connect(database) as rag, watching(rag, Folder(str(docs))):
        until(lambda: stored(db) == {"notes.md": "version one"})
        seen: list[set[str]] = []
        looking = threading.Event()

        def look() -> None:
            with psycopg.connect(database, autocommit=True) as other:
                while not looking.is_set():
                    seen.append(set(stored(other)))

        watcher = threading.Thread(target=look)
        watcher.start()
        (docs / "notes.md.tmp").write_text("version two")
        (docs / "notes.md.tmp").rename(notes)
        until(lambda: stored(db) == {"notes.md": "version two"})
        notes.unlink()
        time.sleep(0.03)
        notes.write_text("version three")
        until(lambda: stored(db) == {"notes.md": "version three"})
        looking.set()
        watcher.join()
        # Neither the temporary name nor a gap was ever to be seen.
        assert all(names == {"notes.md"} for names in seen)
        notes.rename(aside)
        until(lambda: stored(db) == {})
        aside.rename(notes)
        until(lambda: stored(db) == {"notes.md": "version three"})


def test_folders_go_to_their_namespaces(database: str, db: Database, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "README.md").write_text(f"about {name}")
        (tmp_path / name / "draft.txt").write_text("no")
    text = (
        '[[folder]]\npath = "one"\nnamespace = "first"\nexclude = ["draft*"]\n'
        'metadata = {team = "dock"}\n[[folder]]\npath = "two"\ninclude = ["*.md"]\n'
    )
    (tmp_path / "ragpg.toml").write_text(text)
    embedder = CountingEmbedder()
    with (
        ragpg.connect(database, embedder=embedder) as rag,
        watching(rag, *read_config(tmp_path / "ragpg.toml", {}).folder),
    ):
        until(lambda: stored(db, "first") == {"README.md": "about one"})
        until(lambda: stored(db) == {"README.md": "about two"})
        asked = len(embedder.texts)
        (tmp_path / "one" / "README.md").rename(tmp_path / "one" / "deep" / "README.md")
        until(lambda: stored(db, "first") == {"deep/README.md": "about one"})
        assert len(embedder.texts) == asked
        # A whole folder comes, and goes.
        (tmp_path / "two" / "draft.txt").write_text("still no")
        shutil.copytree(tmp_path / "one" / "deep", tmp_path / "two" / "copied")
        until(lambda: len(stored(db)) == 2)
        shutil.rmtree(tmp_path / "two" / "copied")
        until(lambda: stored(db) == {"README.md": "about two"})
        assert rag.search("dock", namespace="first", filter={"team": "dock"}).hits


@pytest.mark.case("OP-03")
def test_links_out_of_a_watched_folder_are_not_followed_op_03(
    database: str, db: Database, tmp_path: Path
) -> None:
    docs, outside = tmp_path / "docs", tmp_path / "outside"
    docs.mkdir()
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    (docs / "a.md").write_text("open")
    with ragpg.connect(database) as rag, watching(rag, Folder(str(docs))):
        until(lambda: stored(db) == {"a.md": "open"})
        (docs / "link.md").symlink_to(outside / "secret.md")
        (docs / "dir").symlink_to(outside)
        (docs / ".hidden.md").write_text("hidden")
        (outside / "secret.md").write_text("secret again")
        (docs / "b.md").write_text("also open")
        until(lambda: "b.md" in stored(db))
        assert stored(db) == {"a.md": "open", "b.md": "also open"}


def test_a_lost_database_is_waited_for(
    server: str, database: str, db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragpg.watch.FIRST_PAUSE", 0.2)
    path = tmp_path / "a.md"
    path.write_text("before")
    name = sql.Identifier(str(psycopg.conninfo.conninfo_to_dict(database)["dbname"]))
    notes: list[str] = []
    # Otherwise a call waits 30 s for a connection.
    settings = Settings(pool_timeout=1)
    with (
        ragpg.connect(database, settings=settings) as rag,
        psycopg.connect(server, autocommit=True) as admin,
        watching(rag, Folder(str(tmp_path)), notes=notes),
    ):
        until(lambda: stored(db) == {"a.md": "before"})
        admin.execute(sql.SQL("alter database {} allow_connections false").format(name))
        admin.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s"
            " and pid <> pg_backend_pid()",
            [name._obj[0]],
        )
        path.write_text("while it was away")
        until(lambda: any("trying again" in note for note in notes))
        admin.execute(sql.SQL("alter database {} allow_connections true").format(name))
        with psycopg.connect(database, autocommit=True) as again:
            until(lambda: stored(again) == {"a.md": "while it was away"})


def test_a_folder_that_is_not_there_loses_nothing(
    database: str, db: Database, tmp_path: Path
) -> None:
    docs, away = tmp_path / "docs", tmp_path / "away"
    docs.mkdir()
    for name in ("a", "b"):
        (docs / f"{name}.md").write_text(name)
    notes: list[str] = []
    with ragpg.connect(database) as rag, watching(rag, Folder(str(docs)), notes=notes):
        until(lambda: len(stored(db)) == 2)
        docs.rename(away)
        until(lambda: any("is not there" in note for note in notes))
        # An empty folder in its place looks like a disk that is not mounted.
        docs.mkdir()
        until(lambda: any("refusing to prune" in note for note in notes))
        assert len(stored(db)) == 2
        docs.rmdir()
        (away / "b.md").write_text("new")
        away.rename(docs)
        until(lambda: stored(db) == {"a.md": "a", "b.md": "new"})


def test_what_the_system_does_not_tell_is_found_by_looking(
    database: str, db: Database, tmp_path: Path
) -> None:
    embedder = CountingEmbedder()
    embedder.down = True
    (tmp_path / "a.md").write_text("text")
    with ragpg.connect(database, embedder=embedder) as rag, watching(rag, Folder(str(tmp_path))):
        until(lambda: embedder.requests > 0)
        assert stored(db).get("a.md") is None
        # A failed file is tried again without having changed.
        embedder.down = False
        until(lambda: stored(db) == {"a.md": "text"})


def test_the_command_stops_cleanly(database: str, db: Database, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one")
    command = [sys.executable, "-m", "ragpg.cli.main", "watch", str(tmp_path), "--embedder", "none"]
    process = subprocess.Popen(
        command,
        env={**os.environ, "RAGPG_DSN": database},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until(lambda: stored(db) == {"a.md": "one"})
        (tmp_path / "b.md").write_text("two")
        until(lambda: stored(db) == {"a.md": "one", "b.md": "two"})
        process.send_signal(signal.SIGTERM)
        out, error = process.communicate(timeout=DEADLINE)
    finally:
        process.kill()
    assert process.returncode == 0, error
    assert "default: OK b.md (1 chunk, 0 cached)" in out
    assert error.rstrip().endswith("stopped")


def test_two_folders_do_not_share_a_namespace(database: str, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with ragpg.connect(database) as rag:
        with pytest.raises(ConfigError, match="would both be mirrored into 'x'"):
            watch(
                rag,
                [Folder(str(tmp_path / "a"), "x"), Folder(str(tmp_path / "b"), "x")],
                stop=threading.Event(),
            )
        with pytest.raises(ConfigError, match="no folder"):
            watch(rag, [Folder(str(tmp_path / "c"))], stop=threading.Event())


def test_it_ends_when_nobody_reads_what_it_tells(database: str, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one")

    def told(*_: object) -> None:
        raise BrokenPipeError

    with ragpg.connect(database) as rag, pytest.raises(BrokenPipeError):
        watch(rag, [Folder(str(tmp_path))], stop=threading.Event(), on_file=told)
