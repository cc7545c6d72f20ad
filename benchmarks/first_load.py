"""How fast an empty namespace is filled: live index or index after, beside COPY and other libraries.

    python benchmarks/first_load.py DSN FOLDER [--chunks 20000] [--systems after,live,copy,...]

DSN names any database of a server where databases may be created; FOLDER is the one of corpus.py.
Every system gets the same chunks with the same vectors, which are ready, and ends with an HNSW index
of m 16 and ef_construction 128 and an index for words:

after      ragpg, the vector index built after the rows (what `auto` does)
live       ragpg, the vector index there from the start
copy       COPY in binary of the finished rows into ragpg's tables, then the index
langchain  langchain-postgres, PGVectorStore with hybrid search, indexes after (pip install)
llamaindex llama-index-vector-stores-postgres with hybrid search (it makes its indexes first)
plain      COPY of text and vector into one table with a GIN index of words, then the HNSW index

Prints seconds, chunks a second, seconds of the part after the rows are in, and seconds of CPU of
client and server: those are what can be compared where a machine has other things to do. The
server's are of all its processes, so give it to this alone.
"""

from __future__ import annotations

import argparse
import os
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import psycopg
from ingest_speed import NAMESPACE, copy_rows, create, databases, export, share
from measure import table
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg.conninfo import conninfo_to_dict
from vectors import DIMENSIONS, MODEL, StaticEmbedder

import ragpg
from ragpg import migrate
from ragpg.vector_index import build_index, memory_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ingest_speed import Slice

SYSTEMS = ("after", "live", "copy", "plain", "langchain", "llamaindex")
BATCH = 1000


class Ready:
    """An embedder whose vectors are there already, after a text was seen once."""

    model, dimensions = MODEL, DIMENSIONS

    def __init__(self, folder: Path) -> None:
        self.static = StaticEmbedder(folder)
        self.known: dict[str, list[float]] = {}

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        new = [text for text in texts if text not in self.known]
        if new:
            vectors = self.static.embed(new).tolist()
            self.known.update(zip(new, vectors, strict=True))
        return [self.known[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


@dataclass(frozen=True, slots=True)
class Load:
    """What is loaded: pages for ragpg, their chunks with vectors for others, and finished rows."""

    pages: list[dict[str, Any]]
    chunks: list[tuple[str, list[float]]]
    rows: Slice
    embedder: Ready


class Server:
    """CPU time of a server on this machine: of its first process, and of all that it has had."""

    def __init__(self, dsn: str) -> None:
        with psycopg.connect(dsn) as connection:
            backend = connection.info.backend_pid
        self.first = int(_stat(backend)[1])

    def cpu(self) -> float:
        """Seconds so far."""
        total = sum(int(value) for value in _stat(self.first)[11:15])
        for place in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = _stat(int(place.parent.name))
            except OSError:
                continue
            if int(fields[1]) == self.first:
                total += sum(int(value) for value in fields[11:13])
        return total / os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    """The fields of a process after its name, which may hold blanks."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def prepare(dsn: str, folder: Path, count: int) -> Load:
    """Ingest once to know chunks, vectors and rows."""
    embedder = Ready(folder)
    [pages] = share(folder, [count])
    place = create(dsn, "ragpg_bench_rows")
    migrate.upgrade(place)
    with ragpg.connect(place, embedder=embedder) as rag:
        report = rag.ingest(texts=pages, namespace=NAMESPACE)
        assert report.ok
    with psycopg.connect(place) as connection:
        rows = export(connection, 1, 1)
        contents = connection.execute(
            "select case when btrim(breadcrumb) = '' then '' else breadcrumb || E'\\n' end"
            " || prefix || content from ragpg.chunk order by id"
        ).fetchall()
    chunks = [(text, embedder.known[text]) for (text,) in contents]
    return Load(pages, chunks, rows, embedder)


def with_ragpg(place: str, load: Load, policy: str) -> tuple[float, float]:
    """Seconds of the whole, and of the index where it comes after."""
    migrate.upgrade(place)
    with ragpg.connect(place, embedder=load.embedder) as rag:
        rag.namespaces()
        began = time.monotonic()
        report = rag.ingest(texts=load.pages, namespace=NAMESPACE, index=policy)  # type: ignore[arg-type]
        whole = time.monotonic() - began
    built = [note for note in report.notes if note.startswith("built the vector index")]
    return whole, float(built[0].split()[-2]) if built else 0.0


def with_copy(place: str, load: Load) -> tuple[float, float]:
    """Finished rows into the tables of ragpg, with their secondary indexes, then the HNSW index."""
    migrate.upgrade(place)
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute("select ragpg.create_namespace(%s)", (NAMESPACE,))
        connection.execute(
            "update ragpg.namespace set space_id = ragpg.create_embedding_space(%s, %s)"
            " where name = %s", (MODEL, DIMENSIONS, NAMESPACE),
        )  # fmt: skip
        connection.execute("alter table ragpg.chunk disable trigger user")
        began = time.monotonic()
        copy_rows(connection, load.rows)
        copied = time.monotonic()
        build_index(place, 1)
        return time.monotonic() - began, time.monotonic() - copied


def with_plain(place: str, load: Load) -> tuple[float, float]:
    """The least that a hybrid search needs: one table, words and vectors indexed."""
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute("create extension vector")
        register_vector(connection)
        connection.execute(
            f"create table item (id bigint primary key, content text, embedding halfvec({DIMENSIONS}),"
            " words tsvector generated always as (to_tsvector('english', content)) stored)"
        )
        began = time.monotonic()
        with connection.cursor() as cursor, cursor.copy(
            "copy item (id, content, embedding) from stdin (format binary)"
        ) as copy:  # fmt: skip
            copy.set_types(["int8", "text", "halfvec"])
            for number, (text, vector) in enumerate(load.chunks):
                copy.write_row([number, text, HalfVector(vector)])
        copied = time.monotonic()
        memory = max(memory_for(len(load.chunks), DIMENSIONS) // 1024, 65536)
        connection.execute(f"set maintenance_work_mem = {memory}")
        connection.execute("create index on item using gin (words)")
        connection.execute(
            "create index on item using hnsw (embedding halfvec_cosine_ops)"
            " with (m = 16, ef_construction = 128)"
        )
        return time.monotonic() - began, time.monotonic() - copied


def with_langchain(place: str, load: Load) -> tuple[float, float]:
    """PGVectorStore with hybrid search, as its manual shows it: rows first, then both indexes."""
    from langchain_core.embeddings import Embeddings
    from langchain_postgres import PGEngine, PGVectorStore
    from langchain_postgres.v2.hybrid_search_config import HybridSearchConfig
    from langchain_postgres.v2.indexes import HNSWIndex

    class Model(Embeddings):  # type: ignore[misc]
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return load.embedder.embed_documents(texts)

        def embed_query(self, text: str) -> list[float]:
            return load.embedder.embed_query(text)

    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute("create extension vector")
    engine = PGEngine.from_connection_string(_url(place, "postgresql+psycopg"))
    hybrid = HybridSearchConfig(tsv_column="words", tsv_lang="pg_catalog.english")
    engine.init_vectorstore_table("item", DIMENSIONS, hybrid_search_config=hybrid)
    store = PGVectorStore.create_sync(engine, Model(), "item", hybrid_search_config=hybrid)
    began = time.monotonic()
    for start in range(0, len(load.chunks), BATCH):
        part = load.chunks[start : start + BATCH]
        store.add_embeddings(
            [text for text, _ in part],
            [vector for _, vector in part],
            ids=[str(uuid.uuid4()) for _ in part],
        )
    stored = time.monotonic()
    store.apply_hybrid_search_index()
    store.apply_vector_index(HNSWIndex(m=16, ef_construction=128))
    return time.monotonic() - began, time.monotonic() - stored


def with_llamaindex(place: str, load: Load) -> tuple[float, float]:
    """PGVectorStore with hybrid search: it makes its tables and indexes at the first use."""
    from llama_index.core.schema import TextNode
    from llama_index.vector_stores.postgres import PGVectorStore

    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute("create extension vector")
    store = PGVectorStore(
        connection_string=_url(place, "postgresql+psycopg2"),
        async_connection_string=_url(place, "postgresql+asyncpg"),
        table_name="item", schema_name="public", hybrid_search=True,
        text_search_config="english", embed_dim=DIMENSIONS,
        hnsw_kwargs={"hnsw_m": 16, "hnsw_ef_construction": 128, "hnsw_ef_search": 100,
                     "hnsw_dist_method": "vector_cosine_ops"},
    )  # fmt: skip
    began = time.monotonic()
    for start in range(0, len(load.chunks), BATCH):
        part = load.chunks[start : start + BATCH]
        store.add([TextNode(text=text, embedding=vector) for text, vector in part])
    return time.monotonic() - began, 0.0


def _url(place: str, driver: str) -> str:
    parts = conninfo_to_dict(place)
    folder = quote(str(parts["host"]), safe="")
    return f"{driver}://{parts['user']}@/{parts['dbname']}?host={folder}&port={parts.get('port', 5432)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("dsn")
    parser.add_argument("folder", type=Path, help="the folder of corpus.py")
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--systems", default="after,live,copy,plain")
    options = parser.parse_args()
    work: dict[str, Callable[[str, Load], tuple[float, float]]] = {
        "after": lambda place, load: with_ragpg(place, load, "after"),
        "live": lambda place, load: with_ragpg(place, load, "live"),
        "copy": with_copy,
        "plain": with_plain,
        "langchain": with_langchain,
        "llamaindex": with_llamaindex,
    }
    wanted = options.systems.split(",")
    names = ["ragpg_bench_rows", *(f"ragpg_bench_{name}" for name in wanted)]
    rows: list[list[str | float | int]] = []
    server = Server(options.dsn)
    with databases(options.dsn, names):
        load = prepare(options.dsn, options.folder, options.chunks)
        count = len(load.chunks)
        for name in wanted:
            place = create(options.dsn, f"ragpg_bench_{name}")
            before = time.process_time(), server.cpu()
            whole, after = work[name](place, load)
            client, backend = time.process_time() - before[0], server.cpu() - before[1]
            rows.append([name, count, whole, count / whole, after, client, backend])
            print(rows[-1], flush=True)
            with psycopg.connect(options.dsn, autocommit=True) as admin:
                admin.execute(f"drop database ragpg_bench_{name} with (force)")
    print(
        table(
            [
                "system",
                "chunks",
                "seconds",
                "chunks/s",
                "of which after",
                "client CPU",
                "server CPU",
            ],
            rows,
        )
    )


if __name__ == "__main__":
    main()
