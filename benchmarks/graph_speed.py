"""Expansion in a large graph (filled by a superuser), and what ingestion pays for the graph as the corpus grows.

    python -m benchmarks.graph_speed --dsn postgresql:///scratch --documents 100000 --links 1000000
    python -m benchmarks.graph_speed --dsn postgresql:///scratch --growth 4000,12000,40000
    python -m benchmarks.graph_speed --dsn postgresql:///scratch --growth 500,1000,5000 --corpus FOLDER

The first makes a namespace `graph-speed` with a skewed graph (a few hubs have most links) and times
one and two steps from ten seeds. The second loads documents of generated text, whose titles the
texts mention, or those of --corpus (a judged set, or a tree of .md, .rst and .txt files), with the
graph's triggers off and on, and shows the cost from size to size.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import itertools
import json
import posixpath
import random
import re
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


#: Source, title, text and targets of links.
Document = tuple[str, str, str, list[str]]
NAMESPACE = "graph-speed"
TRIGGERS = {
    "document": ("write_topics_insert", "write_topics_update"),
    "chunk": ("write_mentions_insert", "write_mentions_update"),
    "link": ("write_links_insert",),
}
SYLLABLES = re.findall("..", "kalomirentavorsinubeldragonhaijopelquistoulwexyanzor")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--links", type=int, default=1_000_000)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--growth", help="sizes, as in 4000,12000,40000")
    parser.add_argument("--corpus", type=Path, help="documents for --growth: a folder, see above")
    options = parser.parse_args()
    with psycopg.connect(options.dsn, autocommit=True) as connection:
        if options.growth:
            sizes = [int(size) for size in options.growth.split(",")]
            source = corpus(sizes[-1]) if options.corpus is None else real(options.corpus)
            growth(connection, sizes, list(itertools.islice(source, sizes[-1])))
        else:
            owner = make(connection, options.documents, options.links)
            expansion(connection, owner, options.documents, options.seeds)
        connection.execute("select ragpg.drop_namespace(%s)", (NAMESPACE,))


def make(connection: psycopg.Connection[Any], documents: int, links: int) -> int:
    """A graph whose targets are skewed: the cube of a uniform draw. By arithmetic, without a join: the
    tables have no statistics yet, and joins planned without took minutes."""
    connection.execute("select ragpg.drop_namespace(%s)", (NAMESPACE,))
    owner: int = connection.execute("select ragpg.create_namespace(%s)", (NAMESPACE,)).fetchone()[0]  # type: ignore[index]
    with connection.transaction():
        # Two foreign keys a link, asked one by one, take longer than to store it.
        connection.execute("set local session_replication_role = replica")
        connection.execute(
            "insert into ragpg.document (namespace_id, source)"
            " select %s, 'd' || n from generate_series(1, %s) as n order by n",
            (owner, documents),
        )
        connection.execute(
            "insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)"
            " select namespace_id, id, 0, source, 'x' from ragpg.document where namespace_id = %s"
            " order by id",
            (owner,),
        )
        connection.execute(
            """
            insert into ragpg.link (namespace_id, document_id, target, target_id, matches)
            select %(owner)s, first.id + pair.near, 'd' || 1 + pair.far, first.id + pair.far, 1
              from (select min(id) as id from ragpg.document where namespace_id = %(owner)s) as first,
                   (select floor(random() * %(documents)s)::integer as near,
                           floor(power(random(), 3) * %(documents)s)::integer as far
                      from generate_series(1, %(links)s)) as pair
             where pair.near <> pair.far
             order by 2, 3  -- as the indexes have them
            on conflict do nothing
            """,
            {"owner": owner, "documents": documents, "links": links},
        )
    connection.execute("vacuum analyze")
    return owner


def expansion(
    connection: psycopg.Connection[Any], owner: int, documents: int, seeds: int, rounds: int = 60
) -> None:
    rng = random.Random(5)
    first = connection.execute(
        "select min(id), max(id) from ragpg.document where namespace_id = %s", (owner,)
    ).fetchone()
    chunk = connection.execute(
        "select min(id) from ragpg.chunk where namespace_id = %s", (owner,)
    ).fetchone()
    assert first is not None
    assert chunk is not None
    statements = {
        "walk, 1 step": "select count(*) from ragpg.personalized_pagerank(%(owner)s, %(ids)s, hops => 1)",
        "walk, 2 steps": "select count(*) from ragpg.personalized_pagerank(%(owner)s, %(ids)s, hops => 2)",
        "arm, 1 hop": "select count(*) from ragpg.graph_arm(%(chunks)s, array[%(owner)s], null, 10)",
        "arm, 2 hops": "select count(*) from ragpg.graph_arm(%(chunks)s, array[%(owner)s], null, 10, hops => 2)",
    }
    print(
        f"{documents:,} documents, {seeds} seeds, {rounds} rounds: ms p50 / p95, CPU of the server"
    )
    for name, statement in statements.items():
        spent, worked = [], []
        for turn in range(rounds + 5):
            places = [rng.randrange(documents) for _ in range(seeds)]
            cpu, began = cpu_ms(connection), time.perf_counter()
            connection.execute(
                statement,
                {
                    "owner": owner,
                    "ids": [first[0] + place for place in places],
                    "chunks": [chunk[0] + place for place in places],
                },
            ).fetchall()
            if turn >= 5:
                spent.append((time.perf_counter() - began) * 1000)
                worked.append(cpu_ms(connection) - cpu)
        spent.sort()
        worked.sort()
        print(
            f"  {name:14} {statistics.median(spent):6.2f} / {spent[int(len(spent) * 0.95)]:.2f}"
            f"   {statistics.median(worked):6.2f} / {worked[int(len(worked) * 0.95)]:.2f}"
        )


def growth(
    connection: psycopg.Connection[Any], sizes: Sequence[int], documents: Sequence[Document]
) -> None:
    """One load with the graph's triggers off and one with them on, timed from size to size: where
    a step is not linear, a document costs more the more there are."""
    connection.execute("set track_functions = pl")
    sizes = [size for size in sizes if size < len(documents)] + [len(documents)]
    spent = {
        mode: load(connection, documents, sizes, steps=mode == "enable")
        for mode in ("disable", "enable")
    }
    print("documents     ms off      ms on  ratio  (CPU of the server for a document)")
    for size, off, on in zip(sizes, spent["disable"], spent["enable"], strict=True):
        print(f"{size:9,} {off:10.2f} {on:10.2f} {on / off:6.2f}")
    for table in ("mention", "link", "topic"):
        row = connection.execute(
            f"select count(*) from ragpg.{table}"
            " where namespace_id = any (ragpg.namespace_ids(%s))".encode(),
            ([NAMESPACE],),
        ).fetchone()
        print(f"{table}s: {row[0]:,}" if row else "")


def switch(connection: psycopg.Connection[Any], mode: str) -> None:
    for table, triggers in TRIGGERS.items():
        for trigger in triggers:
            connection.execute(f"alter table ragpg.{table} {mode} trigger {trigger}".encode())


def real(folder: Path) -> Iterator[Document]:
    """The documents of a judged set (corpus.jsonl.gz, or corpus.jsonl), else the text files below a
    folder, with their first heading or line as title."""
    for name, opened in (("corpus.jsonl.gz", gzip.open), ("corpus.jsonl", open)):
        if (folder / name).exists():
            with opened(folder / name, "rt", encoding="utf-8") as lines:
                for line in lines:
                    one = json.loads(line)
                    yield str(one.get("_id", one.get("id"))), one.get("title", ""), one["text"], []
            return
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".md", ".rst", ".txt") and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace").replace("\0", "")
            title = next((line.strip("# ") for line in text.splitlines() if line.strip("# =")), "")
            targets = [
                posixpath.normpath((path.parent.relative_to(folder) / target).as_posix())
                for target in re.findall(r"\]\(([^)#:\s]+)", text)
            ]
            yield path.relative_to(folder).as_posix(), title[:300], text[:8000], targets


def corpus(size: int) -> Iterator[Document]:
    """Source, title, text and links of documents. Words are as frequent as in a language (Zipf),
    also those of titles, so some titles are of common words alone; a text names three titles of
    others, and links to three documents and two pages elsewhere."""
    rng = random.Random(11)
    words = list(
        dict.fromkeys(
            "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(1, 4))) for _ in range(40_000)
        )
    )
    weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(1, len(words) + 1)))
    titles = [
        " ".join(rng.choices(words, cum_weights=weights, k=rng.randint(1, 4))).title()
        for _ in range(size)
    ]
    for number, title in enumerate(titles):
        text = rng.choices(words, cum_weights=weights, k=110)
        near = [int(rng.random() ** 2 * size) for _ in range(3)]
        for place in near:
            text.insert(rng.randrange(len(text)), titles[place])
        targets = [f"part{place % 50}/page{place}.md" for place in near]
        targets += [f"https://example.org/{number}/{turn}" for turn in range(2)]
        yield f"part{number % 50}/page{number}.md", title, " ".join(text), targets


def load(
    connection: psycopg.Connection[Any],
    documents: Sequence[Document],
    sizes: Sequence[int],
    *,
    steps: bool,
) -> list[float]:
    """Milliseconds of CPU a document, up to each size; with `steps` those of functions are shown."""
    switch(connection, "enable" if steps else "disable")
    connection.execute("select ragpg.drop_namespace(%s)", (NAMESPACE,))
    owner = connection.execute("select ragpg.create_namespace(%s)", (NAMESPACE,)).fetchone()
    spent = []
    try:
        for begin, end in itertools.pairwise([0, *sizes]):
            before = functions(connection)
            cpu = cpu_ms(connection)
            for at in range(begin, end, 64):
                store(connection, owner, documents[at : min(at + 64, end)])
            spent.append((cpu_ms(connection) - cpu) / (end - begin))
            after = functions(connection)
            parts = {
                name: (after[name] - before.get(name, 0)) / (end - begin) for name in sorted(after)
            }
            if steps:
                slow = sorted(parts, key=parts.__getitem__, reverse=True)[:9]
                print(f"to {end:,}: " + ", ".join(f"{name} {parts[name]:.2f}" for name in slow))
            connection.execute("select ragpg.fold_statistics(1000000)")
            connection.execute("vacuum analyze")
    finally:
        switch(connection, "enable")
    return spent


def store(connection: psycopg.Connection[Any], owner: Any, part: Sequence[Any]) -> None:
    with connection.transaction(), connection.cursor() as cursor:
        cursor.execute("select ragpg.begin_store()")
        with cursor.copy("copy ragpg_stage_document from stdin") as copy:
            for source, title, text, targets in part:
                mark = hashlib.md5(text.encode(), usedforsecurity=False).digest()
                links = json.dumps([{"target": target, "anchor": ""} for target in targets])
                copy.write_row((source, title, "text", None, mark, "{}", links))
        with cursor.copy("copy ragpg_stage_chunk from stdin") as copy:
            for source, title, text, _ in part:
                mark = hashlib.md5(text.encode(), usedforsecurity=False).digest()
                copy.write_row(
                    (source, 0, text, "", title, 0, len(text), 1, 1, None, "{}", mark, None)
                )
        cursor.execute("select count(*) from ragpg.store_staged(%s)", owner)


def functions(connection: psycopg.Connection[Any]) -> dict[str, float]:
    """Milliseconds that functions have taken themselves, by name."""
    rows = connection.execute(
        "select funcname, sum(self_time) from pg_stat_user_functions where schemaname = 'ragpg'"
        " group by 1, (select pg_stat_force_next_flush()) is null"
    )
    return {name: float(spent) for name, spent in rows}


def cpu_ms(connection: psycopg.Connection[Any]) -> float:
    """CPU of the connection's server process; wall time where the server is elsewhere."""
    account = Path(f"/proc/{connection.info.backend_pid}/schedstat")
    if connection.info.host.startswith("/") and account.exists():
        return int(account.read_text().split()[0]) / 1e6
    return time.perf_counter() * 1000


if __name__ == "__main__":
    main()
