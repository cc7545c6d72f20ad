"""What ingestion costs beside the plainest way to fill the same tables: COPY of finished rows.

    python benchmarks/ingest_speed.py DSN FOLDER [--chunks 20000] [--base 20000] [--check]

DSN names any database of a server where databases may be created; three are, and dropped. All
hold the same base with all indexes. A slice of documents is then ingested into one through the
library (load, chunk, embed by hashing, stage, analyse, store, statistics), and the rows that
come of it are copied in binary into the same tables of another, chunk, keyword row, vector and
document, with the trigger on chunks off as their keyword rows are given. Slices take turns, so
that a noisy minute falls on both. --check exits with 1 when ingestion is below 60 % of COPY.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from load import read_corpus
from measure import percentile, table
from psycopg import sql
from psycopg.conninfo import make_conninfo

import ragpg
from ragpg import migrate
from ragpg.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMESPACE = "bench"
SLICES = 10
TARGET = 0.60
# Parents first; what ingestion writes besides (statistics, embedding cache) is its own expense.
TABLES = ("document", "chunk", "chunk_keyword", "embedding")


@dataclass(frozen=True, slots=True)
class Slice:
    """Finished rows of some documents, by table, as COPY ... (format binary) wrote them."""

    chunks: int
    rows: dict[str, bytes]


def documents(folder: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Pages of the corpus as Markdown texts, each with the number of its chunks there."""
    for source, rows in groupby(read_corpus(folder / "corpus.jsonl.gz"), key=itemgetter("source")):
        parts: list[str] = []
        heading = ""
        size = 0
        for row in rows:
            size += 1
            if row["breadcrumb"] != heading:
                heading = row["breadcrumb"]
                parts.append(f"## {heading.split(' > ')[-1]}")
            parts.append(row["content"])
        yield (
            size,
            {
                "source": source,
                "title": row["title"],
                "text": "\n\n".join(parts),
                "format": "markdown",
            },
        )


def share(folder: Path, sizes: list[int]) -> list[list[dict[str, Any]]]:
    """Documents dealt into parts of about these many chunks, every part of all packages."""
    parts: list[list[dict[str, Any]]] = [[] for _ in sizes]
    left = list(sizes)
    stride = max(1, 200_000 // sum(sizes))
    for number, (size, document) in enumerate(documents(folder)):
        if number % stride:
            continue
        fullest = max(range(len(left)), key=lambda place: left[place] / sizes[place])
        if left[fullest] <= 0:
            break
        parts[fullest].append(document)
        left[fullest] -= size
    return parts


@contextmanager
def databases(dsn: str, names: list[str]) -> Iterator[None]:
    """Drops these databases before and after."""
    with psycopg.connect(dsn, autocommit=True) as admin:

        def drop() -> None:
            for name in names:
                admin.execute(
                    sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name))
                )

        drop()
        try:
            yield
        finally:
            drop()


def create(dsn: str, name: str, template: str | None = None) -> str:
    """Makes a database, empty or as a copy; returns its DSN."""
    with psycopg.connect(dsn, autocommit=True) as admin:
        statement = sql.SQL("create database {}").format(sql.Identifier(name))
        if template:
            statement += sql.SQL(" template {}").format(sql.Identifier(template))
        admin.execute(statement)
    return make_conninfo(dsn, dbname=name)


def ingest(dsn: str, part: list[dict[str, Any]]) -> int:
    """Ingests documents; returns how many chunks that made."""
    with ragpg.connect(dsn, embedder=HashEmbedder()) as rag:
        report = rag.ingest(texts=part, namespace=NAMESPACE)
    failed = [file for file in report.files if file.status == "failed"]
    if failed:
        raise SystemExit(f"{failed[0].source} failed: {failed[0].reason}")
    return sum(file.chunks for file in report.files)


def columns(connection: psycopg.Connection, name: str) -> sql.Composed:
    """The columns of a table, for COPY."""
    rows = connection.execute(
        """select attname from pg_attribute where attrelid = %s::regclass
              and attnum > 0 and not attisdropped and attgenerated = '' order by attnum""",
        (f"ragpg.{name}",),
    ).fetchall()
    return sql.SQL(", ").join(sql.Identifier(row[0]) for row in rows)


def table_name(connection: psycopg.Connection, name: str) -> str:
    """The table of a kind of rows; vectors lie in that of the namespace's space."""
    if name != "embedding":
        return name
    row = connection.execute(
        "select space_id from ragpg.namespace where name = %s", (NAMESPACE,)
    ).fetchone()
    assert row is not None
    return f"embedding_{row[0]}"


def export(connection: psycopg.Connection, first_chunk: int, first_document: int) -> Slice:
    """The rows of the chunks and documents from these ids on."""
    count = connection.execute(
        "select count(*) from ragpg.chunk where id >= %s", (first_chunk,)
    ).fetchone()
    assert count is not None
    found: dict[str, bytes] = {}
    for name in TABLES:
        target = table_name(connection, name)
        key = "id" if name in ("document", "chunk") else "chunk_id"
        first = first_document if name == "document" else first_chunk
        statement = sql.SQL(
            "copy (select {} from {} where {} >= {} order by {}) to stdout (format binary)"
        ).format(
            columns(connection, target),
            sql.Identifier("ragpg", target),
            sql.Identifier(key),
            sql.Literal(first),
            sql.Identifier(key),
        )
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            found[name] = b"".join(bytes(block) for block in copy)
    return Slice(count[0], found)


def next_ids(connection: psycopg.Connection) -> tuple[int, int]:
    """The ids that the next chunk and the next document get at the earliest."""
    row = connection.execute(
        """select coalesce((select max(id) from ragpg.chunk), 0) + 1,
                  coalesce((select max(id) from ragpg.document), 0) + 1"""
    ).fetchone()
    assert row is not None
    return row[0], row[1]


def copy_rows(connection: psycopg.Connection, part: Slice) -> None:
    """COPY of finished rows, one transaction."""
    with connection.transaction(), connection.cursor() as cursor:
        for name in TABLES:
            target = table_name(connection, name)
            statement = sql.SQL("copy {} ({}) from stdin (format binary)").format(
                sql.Identifier("ragpg", target), columns(connection, target)
            )
            with cursor.copy(statement) as copy:
                for start in range(0, len(part.rows[name]), 1 << 18):
                    copy.write(part.rows[name][start : start + (1 << 18)])


def prepare_base(dsn: str, part: list[dict[str, Any]]) -> None:
    """Schema, base documents, and the vector index whatever the size."""
    migrate.upgrade(dsn)
    ingest(dsn, part)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("set maintenance_work_mem = '1GB'")
        connection.execute(
            "select ragpg.create_embedding_index(space_id) from ragpg.namespace where name = %s",
            (NAMESPACE,),
        )
        connection.execute("vacuum analyze")


def finished(dsn: str, parts: list[list[dict[str, Any]]]) -> list[Slice]:
    """The rows that ingestion makes of each part."""
    made = []
    with psycopg.connect(dsn, autocommit=True) as connection:
        for part in parts:
            first_chunk, first_document = next_ids(connection)
            ingest(dsn, part)
            made.append(export(connection, first_chunk, first_document))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("dsn")
    parser.add_argument("folder", type=Path, help="the folder of corpus.py")
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--base", type=int, default=20_000)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    sizes = [options.base, *([options.chunks // SLICES] * SLICES)]
    base, *parts = share(options.folder, sizes)
    names = [f"ragpg_bench_{name}" for name in ("base", "rows", "copied", "ingested")]
    with databases(options.dsn, names):
        prepare_base(create(options.dsn, names[0]), base)
        slices = finished(create(options.dsn, names[1], names[0]), parts)
        copied = create(options.dsn, names[2], names[0])
        ingested = create(options.dsn, names[3], names[0])
        rows: list[list[str | float | int]] = []
        with psycopg.connect(copied, autocommit=True) as connection:
            connection.execute("alter table ragpg.chunk disable trigger user")
            for part, ready in zip(parts, slices, strict=True):
                started = time.monotonic()
                copy_rows(connection, ready)
                raw = time.monotonic() - started
                started = time.monotonic()
                chunks = ingest(ingested, part)
                whole = time.monotonic() - started
                assert chunks == ready.chunks, (chunks, ready.chunks)
                rows.append([chunks, chunks / raw, chunks / whole, raw / whole])
    total = sum(int(row[0]) for row in rows)
    raw_rate = total / sum(int(row[0]) / float(row[1]) for row in rows)
    rate = total / sum(int(row[0]) / float(row[2]) for row in rows)
    rows.append(["all", raw_rate, rate, rate / raw_rate])
    median = percentile([float(row[3]) for row in rows[:-1]], 50)
    rows.append(["median", "", "", median])
    print(table(["chunks", "COPY, chunks/s", "ingest, chunks/s", "ratio"], rows))
    passed = rate / raw_rate >= TARGET
    print(f"\ntarget: ingest at least {TARGET} of COPY: {passed}")
    sys.exit(1 if options.check and not passed else 0)


if __name__ == "__main__":
    main()
