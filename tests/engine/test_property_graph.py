"""After any sequence of operations the graph equals the one built from scratch."""

from __future__ import annotations

import hashlib
import itertools
import json
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from .engine import Engine

SOURCES = ["a.md", "B.md", "docs/a.md", "docs/guide/index.md", "site/docs/b.html", "guide.rst"]
TITLES = ["", "Orion", "The Orion", "Falcon Nine", "Falcon (bird)", "Delta-V", "Orion", "C++ notes"]
TEXTS = [
    "Orion flies. An orion does not.",
    "The Falcon-Nine of Delta V; Falcon nine and C++ Notes.",
    "Nothing here.",
    "Orion meets the Falcon, near Orion's belt.",
    "falcon nine, delta v, falcon",
]
AIMS = ["a", "b.md", "docs/B", "docs/guide/", "guide", "a.md", "guide/index.html", "none.md"]

documents = st.fixed_dictionaries(
    {
        "title": st.sampled_from(TITLES),
        "chunks": st.lists(st.sampled_from(TEXTS), max_size=3),
        "links": st.lists(st.sampled_from(AIMS), max_size=3, unique=True),
    }
)
operations = st.lists(
    st.one_of(
        st.tuples(
            st.just("store"),
            st.dictionaries(st.sampled_from(SOURCES), documents, min_size=1, max_size=3),
        ),
        st.tuples(st.just("delete"), st.lists(st.sampled_from(SOURCES), min_size=1, max_size=3)),
        st.tuples(st.just("move"), st.tuples(st.sampled_from(SOURCES), st.sampled_from(SOURCES))),
        st.tuples(st.just("read"), st.none()),
    ),
    min_size=1,
    max_size=6,
)


#: What an extractor says of a text: its words among these, and each related to the next.
NAMES = ("Orion", "Falcon", "belt", "falcon nine", "notes")


def read(engine: Engine, namespace: str) -> None:
    """An extractor reads every chunk, in an order that is none of the texts'."""
    rows = engine.rows(
        """select chunk.id, content from ragpg.chunk
            where namespace_id = (ragpg.namespace_ids(array[%s]))[1] order by md5(chunk.id::text)""",
        namespace,
    )
    named = {row["id"]: [name for name in NAMES if name in row["content"]] for row in rows}
    engine.value(
        "select ragpg.store_extracted(%s, 'reader', %s, %s, %s)",
        namespace,
        [*named],
        json.dumps(
            [{"chunk_id": id, "name": name} for id, names in named.items() for name in names]
        ),
        json.dumps(
            [
                {"chunk_id": id, "source": one, "kind": "meets", "target": other}
                for id, names in named.items()
                for one, other in itertools.pairwise(names)
            ]
        ),
    )


def digest(value: Any) -> bytes:
    return hashlib.blake2b(json.dumps(value).encode(), digest_size=16).digest()


def store(engine: Engine, owner: int, given_documents: dict[str, dict[str, Any]]) -> None:
    with engine.connection.transaction(), engine.connection.cursor() as cursor:
        cursor.execute("select ragpg.begin_store()")
        with cursor.copy("copy ragpg_stage_document from stdin") as copy:
            for source, one in given_documents.items():
                links = json.dumps([{"target": aim, "anchor": ""} for aim in one["links"]])
                copy.write_row((source, one["title"], "text", None, digest(one), "{}", links))
        with cursor.copy("copy ragpg_stage_chunk from stdin") as copy:
            for source, one in given_documents.items():
                for ordinal, text in enumerate(one["chunks"]):
                    copy.write_row(
                        (source, ordinal, text, "", "", 0, 1, 1, 1, None, "{}", digest(text), None)
                    )
        cursor.execute("select count(*) from ragpg.store_staged(%s)", (owner,))


def graph(engine: Engine, owner: int) -> dict[str, list[Any]]:
    """Everything of the graph, without ids that depend on the order of arrival."""
    queries = {
        "entities": "select key from ragpg.entity where namespace_id = %s order by 1",
        "topics": """
            select source, key from ragpg.topic join ragpg.entity on entity.id = entity_id
              join ragpg.document on document.id = document_id where topic.namespace_id = %s order by 1, 2""",
        "phrases": """
            select key, anchor, run, waits, query::text from ragpg.phrase join ragpg.entity on entity.id = entity_id
             where phrase.namespace_id = %s order by 1""",
        "mentions": """
            select source, ordinal, key, origin, weight from ragpg.mention join ragpg.entity on entity.id = entity_id
              join ragpg.chunk on chunk.id = chunk_id join ragpg.document on document.id = document_id
             where mention.namespace_id = %s order by 1, 2, 3, 4""",
        "relations": """
            select document.source, ordinal, one.key, relation.kind, other.key as other, relation.weight from ragpg.relation
              join ragpg.entity as one on one.id = relation.source join ragpg.entity as other on other.id = relation.target
              join ragpg.chunk on chunk.id = chunk_id join ragpg.document on document.id = document_id
             where relation.namespace_id = %s order by 1, 2, 3, 4, 5""",
        "links": """
            select document.source, target, matches, aim.source as aim from ragpg.link
              join ragpg.document on document.id = document_id left join ragpg.document as aim on aim.id = target_id
             where link.namespace_id = %s order by 1, 2""",
    }
    return {
        name: [tuple(row.values()) for row in engine.rows(query, owner)]
        for name, query in queries.items()
    }


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(operations)
def test_the_graph_equals_the_one_built_from_scratch(engine: Engine, steps: list[Any]) -> None:
    engine.value("select ragpg.drop_namespace('play')")
    owner = engine.value("select ragpg.create_namespace('play')")
    final: dict[str, dict[str, Any]] = {}
    for kind, what in steps:
        if kind == "store":
            store(engine, owner, what)
            final |= what
        elif kind == "delete":
            engine.value("select ragpg.delete_documents('play', %s)", what)
            final = {source: one for source, one in final.items() if source not in what}
        elif kind == "read":
            read(engine, "play")
        else:
            old, new = what
            if old in final and new not in final:
                engine.connection.execute(
                    "update ragpg.document set source = %s where namespace_id = %s and source = %s",
                    (new, owner, old),
                )
                final[new] = final.pop(old)
    # Nothing is left of what the extractor said of texts that are gone.
    read(engine, "play")
    kept = graph(engine, owner)

    engine.value("select count(*) from (select ragpg.rebuild_graph('play')) as done")
    assert graph(engine, owner) == kept, "rebuilt in place"

    engine.value("select ragpg.drop_namespace('fresh')")
    fresh = engine.value("select ragpg.create_namespace('fresh')")
    if final:
        store(engine, fresh, dict(sorted(final.items())))
    read(engine, "fresh")
    # A moved document keeps the links that it had, among them one to its new self; one to its old
    # self was never stored.
    moved = any(kind == "move" for kind, _ in steps)
    anew = graph(engine, fresh)
    if moved:
        for one in (kept, anew):
            one["links"] = [row for row in one["links"] if row[0] not in (row[1], row[3])]
    assert anew == kept, "stored anew"
