"""Writes docs/plans.md: what Postgres does inside each arm, at the size of the benchmark corpus.

    python benchmarks/plans.py DSN FOLDER > docs/plans.md

The arms are functions, so EXPLAIN of a call shows nothing; auto_explain sees the statements
inside. Needs a superuser, as auto_explain does.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from pgvector import Vector
from pgvector.psycopg import register_vector
from psycopg.sql import SQL, Identifier
from vectors import StaticEmbedder

QUESTION = "how do I rename a column of a table without locking it"

INTRODUCTION = """# What Postgres does inside each arm

Plans of the statements inside the arms, over {chunks:,} chunks of Debian documentation with
{dimensions} dimensions (see [benchmarks](../benchmarks/README.md)), made by `benchmarks/plans.py`
with `auto_explain`. The query is "{question}",
`shared_buffers` was {shared_buffers}. Times are in the benchmarks, where many queries are measured;
here rows, buffers (pages of 8 kB) and the shape of the work are what to look at. Long literals
are cut to `…`."""


@dataclass(frozen=True, slots=True)
class Section:
    """A call, which of its inner statements to show (a part of their text), and what to see."""

    title: str
    call: str
    shown: tuple[str, ...]
    remark: str


SECTIONS = (
    Section(
        "Vector, no filter",
        "select * from ragpg.vector_arm(%(vector)s, %(ids)s, null, 50)",
        ("order by vectors.embedding <=>",),
        "One ordered scan of the HNSW index brings the nearest rows, and the namespace is checked"
        " on them afterwards. The cost is that of `ef_search`, whatever the size of the table.",
    ),
    Section(
        "Vector, a filter that half of the rows pass",
        "select * from ragpg.vector_arm(%(vector)s, %(ids)s, '{\"half\": 1}', 50)",
        ("from ragpg.chunk", "order by vectors.embedding <=>"),
        "The first statement counts what passes and stops at a thousand, which a sequential scan"
        " reaches within the first pages. The second walks the index in order of distance, looks"
        " each neighbour up in `chunk` and stops as soon as enough have passed.",
    ),
    Section(
        "Vector, a filter that one row in two hundred passes",
        "select * from ragpg.vector_arm(%(vector)s, %(ids)s, '{\"g200\": 17}', 50)",
        ("from ragpg.chunk", "offset 0"),
        "Here the metadata index brings all that pass, fewer than a thousand. Their vectors are"
        " read in one ordered pass over the primary key and compared one by one: nothing that"
        " passes can be missed.",
    ),
    Section(
        "Keyword",
        "select * from ragpg.keyword_arm(%(query)s, %(ids)s, null, 50)",
        ("ragpg.chunk_keyword",),
        "Each statement is one step of MaxScore: the GIN index brings the rows that hold the"
        " rarest words and are not scored yet, one inner product of sparse vectors scores each, and"
        " a top-N sort keeps 50. The common words never have their whole lists read: the last"
        " step asks only for combinations that can still reach the threshold.",
    ),
    Section(
        "Keyword, filtered",
        "select * from ragpg.keyword_arm(%(query)s, %(ids)s, '{\"g200\": 17}', 50)",
        ("ragpg.chunk_keyword",),
        "Equality in the filter is a lexeme too (`@g200=17`), so the GIN index intersects it with"
        " the words before any row is read. The condition on `chunk.metadata` rechecks the few"
        " rows that are left.",
    ),
    Section(
        "Metadata",
        "select * from ragpg.metadata_arm(%(ids)s, '{\"year\": 2010}', 50)",
        ("candidate.created_at desc",),
        "The recency index is read from its newest end and the filter applied to each of the first"
        " two thousand rows. A filter that is met often ends there; a rarer one takes a second"
        " statement over the metadata index.",
    ),
    Section(
        "Graph",
        "select * from ragpg.graph_arm(%(seeds)s, %(ids)s, null, 10)",
        ("with heard as", "with seed as materialized", "with step as"),
        "From the five best seeds: the first statement goes over what is named (mentions of each seed's"
        " chunk, topics of its document), the second over links. Both read a bounded number of rows for"
        " each, by index. The third sums what leads to the same document and opens a passage of it.",
    ),
    Section(
        "Sentences",
        "select * from ragpg.sentence_arm(%(vector)s, %(ids)s, %(candidates)s, 50)",
        ("with split as",),
        "Only the candidates of the other arms are looked at, each by the primary key: fifty short index"
        " scans over the sentences and fifty over the chunks, whatever the size of the tables. Here"
        " every chunk has three sentences, each with the vector of the chunk: the work is the same.",
    ),
)


def shortened(plan: str) -> str:
    """A plan without the long literals and columns that tell nothing."""
    plan = re.sub(r"'\[[^\]']{40,}\]'", "'[…]'", plan)
    plan = re.sub(r"'\{\d+:[^'}]{40,}\}/\d+'", "'{…}/536870912'", plan)
    plan = re.sub(r"'\{[^'}]{60,}\}'", "'{…}'", plan)
    plan = re.sub(r"  \(cost=[\d.]+ rows=(\d+) width=\d+\)", r"  (expected rows=\1)", plan)
    plan = re.sub(r"\n +Index Searches: 1(?=\n|$)", "", plan)
    kept: list[str] = []
    node = ""
    for line in plan.split("\n"):
        # A node's buffers contain those of the nodes under it: the scans' and the total say it all.
        if "Buffers:" in line and kept[1:] and "Scan" not in node:
            continue
        if "rows=" in line:
            node = line
        kept.append(line if len(line) <= 160 else line[:159] + "…")
    return "\n".join(kept)


def statements(diagnostics: list[str], shown: tuple[str, ...]) -> list[str]:
    """The plans, in running order, of those statements whose text contains one of `shown`."""
    found = []
    for message in diagnostics:
        text, _, plan = message.partition("\n")[2].partition("\n")
        while plan and not re.match(r"^(Aggregate|Limit|Sort|.*\(cost=)", plan):
            line, _, plan = plan.partition("\n")
            text += "\n" + line
        # Calls of other functions contain no plan worth showing.
        if any(part in text for part in shown) and "(cost=" in plan:
            found.append(shortened(plan))
    return found


def fill_sentences(connection: psycopg.Connection[Any], namespace: str) -> None:
    """Three sentences with the vector of their chunk for each, where there are none."""
    found = connection.execute(
        "select id, space_id from ragpg.namespace where name = %s", [namespace]
    ).fetchone()
    assert found is not None
    namespace_id, space = found
    connection.execute("select ragpg.create_sentence_space(%s)", [space])
    connection.execute(
        SQL(
            """insert into ragpg.{} (namespace_id, chunk_id, ordinal, start_char, end_char, embedding)
               select namespace_id, chunk_id, ordinal, 10 * ordinal, 10 * ordinal + 9, embedding
                 from ragpg.{}, generate_series(0, 2) as ordinal
                where namespace_id = %s and not exists (select from ragpg.{})"""
        ).format(*(Identifier(f"{one}_{space}") for one in ("sentence", "embedding", "sentence"))),
        [namespace_id],
    )
    connection.execute(SQL("vacuum analyze ragpg.{}").format(Identifier(f"sentence_{space}")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("dsn")
    parser.add_argument("folder", type=Path, help="the folder of corpus.py; holds the model too")
    parser.add_argument("--namespace", default="debdocs")
    options = parser.parse_args()
    with psycopg.connect(options.dsn, autocommit=True, prepare_threshold=None) as connection:
        register_vector(connection)
        parameters: dict[str, Any] = {
            "query": QUESTION,
            "vector": Vector(StaticEmbedder(options.folder).embed([QUESTION])[0]),
            "names": [options.namespace],
        }
        row = connection.execute(
            """select ragpg.namespace_ids(%(names)s), current_setting('shared_buffers'),
                      (select chunks from ragpg.namespaces where name = any (%(names)s)),
                      vector_dims(%(vector)s),
                      array(select chunk_id from ragpg.search(%(query)s, %(vector)s, %(names)s, k => 50))""",
            parameters,
        ).fetchone()
        assert row is not None
        parameters["ids"], buffers, chunks, dimensions, parameters["candidates"] = row
        parameters["seeds"] = parameters["candidates"][:10]
        fill_sentences(connection, options.namespace)
        print(
            INTRODUCTION.format(
                chunks=chunks, dimensions=dimensions, question=QUESTION, shared_buffers=buffers
            )
        )
        diagnostics: list[str] = []
        connection.add_notice_handler(lambda one: diagnostics.append(one.message_primary or ""))
        connection.execute("load 'auto_explain'")
        for section in SECTIONS:
            # Once for warm buffers, unseen.
            connection.execute(section.call.encode(), parameters)
            connection.execute(
                """select set_config(name, value, false) from (values
                     ('auto_explain.log_min_duration', '0'), ('auto_explain.log_analyze', 'on'),
                     ('auto_explain.log_buffers', 'on'), ('auto_explain.log_timing', 'off'),
                     ('auto_explain.log_nested_statements', 'on'),
                     ('client_min_messages', 'log')) as setting (name, value)"""
            )
            diagnostics.clear()
            connection.execute(section.call.encode(), parameters)
            seen = list(diagnostics)
            connection.execute("set auto_explain.log_min_duration = -1")
            connection.execute("reset client_min_messages")
            call = re.sub(r"%\((\w+)\)s", r":\1", section.call)
            print(f"\n## {section.title}\n\n{section.remark}\n\n```sql\n{call}\n```")
            for plan in statements(seen, section.shown):
                print(f"\n```text\n{plan}\n```")


if __name__ == "__main__":
    main()
