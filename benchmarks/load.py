"""Loads the benchmark corpus into a database that has the ragpg schema.

    python benchmarks/load.py DSN FOLDER [--namespace debdocs] [--file corpus.jsonl.gz]

FOLDER is the one of corpus.py. Vectors go into the embedding cache, documents through the store
in batches of a thousand chunks, then statistics, keyword rows and the HNSW index are brought up
to date. Prints what each step took.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import time
from contextlib import contextmanager
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from pgvector import Vector
from pgvector.psycopg import register_vector
from psycopg.types.json import Jsonb
from vectors import DIMENSIONS, MODEL, StaticEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

BATCH = 1000
DOCUMENT_COLUMNS = "source, title, format, content_hash, fingerprint, metadata, links"
CHUNK_COLUMNS = (
    "source, ordinal, content, prefix, breadcrumb, metadata, content_hash, embedding_hash"
)

Row = dict[str, Any]


def read_corpus(file: Path) -> Iterator[Row]:
    """The lines of a file of corpus.py."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def embedded_text(row: Row) -> str:
    """What the vector of a chunk is computed from."""
    return f"{row['breadcrumb']}\n{row['content']}"


def digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


@contextmanager
def step(name: str) -> Iterator[None]:
    started = time.monotonic()
    yield
    print(f"{name:24} {time.monotonic() - started:8.1f} s", flush=True)


def cache_vectors(connection: psycopg.Connection, file: Path, space: int) -> None:
    """Puts the vector of every chunk into the embedding cache."""
    embedder = StaticEmbedder(file.parent)
    rows = read_corpus(file)
    with connection.cursor() as cursor:
        cursor.execute("create temporary table staged (hash bytea, embedding vector)")
        while batch := list(islice(rows, 4096)):
            texts = [embedded_text(row) for row in batch]
            with (
                connection.transaction(),
                cursor.copy("copy staged from stdin (format binary)") as copy,
            ):
                copy.set_types(["bytea", "vector"])
                for text, vector in zip(texts, embedder.embed(texts), strict=True):
                    copy.write_row((digest(text), Vector(vector)))
            cursor.execute(
                """insert into ragpg.embedding_cache (space_id, hash, embedding)
                   select %s, hash, embedding from staged on conflict do nothing""",
                (space,),
            )
            cursor.execute("truncate staged")


def stage(cursor: psycopg.Cursor, documents: list[list[Row]]) -> None:
    """Fills the staging tables of ragpg.begin_store()."""
    with cursor.copy(
        f"copy ragpg_stage_document ({DOCUMENT_COLUMNS}) from stdin (format binary)"
    ) as copy:
        copy.set_types(["text", "text", "text", "bytea", "bytea", "jsonb", "jsonb"])
        for rows in documents:
            first = rows[0]
            print_of_it = digest("".join(embedded_text(row) for row in rows))
            links = [{"target": target, "anchor": ""} for target in first.get("links", [])]
            copy.write_row(
                (
                    *(first["source"], first["title"], "html", print_of_it, print_of_it),
                    *(Jsonb({}), Jsonb(links)),
                )
            )
    with cursor.copy(
        f"copy ragpg_stage_chunk ({CHUNK_COLUMNS}) from stdin (format binary)"
    ) as copy:
        copy.set_types(["text", "int4", "text", "text", "text", "jsonb", "bytea", "bytea"])
        for row in (row for rows in documents for row in rows):
            copy.write_row(
                (
                    *(row["source"], row["ordinal"], row["content"], "", row["breadcrumb"]),
                    *(Jsonb(row["metadata"]), digest(row["content"]), digest(embedded_text(row))),
                )
            )


def store(connection: psycopg.Connection, file: Path, namespace: int) -> None:
    """Stores the corpus, a thousand chunks and their documents a transaction."""
    held: list[list[Row]] = []
    size = 0

    def flush() -> None:
        with connection.transaction(), connection.cursor() as cursor:
            cursor.execute("select ragpg.begin_store()")
            stage(cursor, held)
            cursor.execute("select * from ragpg.store_staged(%s)", (namespace,))

    for _, rows in groupby(read_corpus(file), key=itemgetter("source")):
        held.append(list(rows))
        size += len(held[-1])
        if size >= BATCH:
            flush()
            held, size = [], 0
    if held:
        flush()


def fold(connection: psycopg.Connection) -> None:
    """Merges the keyword log until nothing is left."""
    while connection.execute("select ragpg.fold_statistics()").fetchone() not in ((0,), (-1,)):
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("dsn")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--namespace", default="debdocs")
    parser.add_argument("--file", default="corpus.jsonl.gz", help="in FOLDER")
    options = parser.parse_args()
    file = options.folder / options.file
    with psycopg.connect(options.dsn, autocommit=True) as connection:
        register_vector(connection)
        created = connection.execute(
            "select ragpg.create_embedding_space(%s, %s)", (MODEL, DIMENSIONS)
        ).fetchone()
        assert created is not None
        space = created[0]
        made = connection.execute(
            "select ragpg.create_namespace(%s, space_id => %s)", (options.namespace, space)
        ).fetchone()
        assert made is not None
        with step("vectors to the cache"):
            cache_vectors(connection, file, space)
        connection.execute("analyze ragpg.embedding_cache")
        with step("documents to the store"):
            store(connection, file, made[0])
        with step("fold statistics"):
            fold(connection)
        with step("rebuild keywords"):
            connection.execute("select ragpg.rebuild_keywords(%s, 0.05)", (options.namespace,))
            fold(connection)
        with step("flush keyword index"):
            connection.execute("select gin_clean_pending_list('ragpg.chunk_keyword_lexemes')")
            connection.execute("select gin_clean_pending_list('ragpg.chunk_metadata')")
        with step("vacuum analyze"):
            connection.execute("vacuum analyze")
        with step("vector index"):
            connection.execute("set maintenance_work_mem = '2GB'")
            connection.execute("set max_parallel_maintenance_workers = 1")
            connection.execute("select ragpg.create_embedding_index(%s)", (space,))


if __name__ == "__main__":
    main()
