"""Any history of a namespace ends where a fresh load of its last state ends."""

from __future__ import annotations

import hashlib
import itertools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .engine import array_of_vectors, digest

if TYPE_CHECKING:
    from .engine import Engine

SOURCES = ["a", "b", "c", "ü"]
PARAGRAPHS = ["red apples", "green pears", "the C++ guide", "数据库", "running runs", "x"]
#: Texts that have no vector, as after a refusal of the model.
REFUSED = {"x"}


@dataclass(frozen=True)
class Text:
    """A document of the tests: paragraphs are chunks."""

    paragraphs: tuple[str, ...]
    breadcrumb: str
    year: int
    links: tuple[str, ...]


texts = st.builds(
    Text,
    st.lists(st.sampled_from(PARAGRAPHS), max_size=5).map(tuple),
    st.sampled_from(["", "Fruit > Red"]),
    st.sampled_from([1, 2]),
    st.lists(st.sampled_from([*SOURCES, "elsewhere"]), max_size=2, unique=True).map(tuple),
)
changes = st.lists(
    st.dictionaries(st.sampled_from(SOURCES), texts, min_size=1, max_size=3)
    | st.lists(st.sampled_from(SOURCES), max_size=2)
    | st.just("drop"),
    min_size=1,
    max_size=7,
)
numbers = itertools.count()


def store(engine: Engine, namespace: str, documents: dict[str, Text], space: int) -> None:
    owner = engine.value("select ragpg.create_namespace(%s, space_id => %s)", namespace, space)
    with engine.connection.transaction(), engine.connection.cursor() as cursor:
        cursor.execute("select ragpg.begin_store()")
        with cursor.copy("copy ragpg_stage_document from stdin") as copy:
            for source, text in documents.items():
                links = json.dumps([{"target": aim} for aim in text.links])
                mark = digest(repr(text))
                copy.write_row((source, source.upper(), "text", None, mark, "{}", links))
        with cursor.copy("copy ragpg_stage_chunk from stdin") as copy:
            for source, text in documents.items():
                start = 0
                for ordinal, part in enumerate(text.paragraphs):
                    place = (start, start + len(part), ordinal + 1, ordinal + 1, None)
                    fields = json.dumps({"year": text.year})
                    key = digest(text.breadcrumb + part)
                    copy.write_row(
                        (
                            source,
                            ordinal,
                            part,
                            "",
                            text.breadcrumb,
                            *place,
                            fields,
                            digest(part),
                            key,
                        )
                    )
                    start += len(part) + 2
        cursor.execute("select * from ragpg.store_staged(%s)", (owner,))


def state(engine: Engine, namespace: str) -> list[Any]:
    """All that is stored, but for ids and times."""
    engine.value("select count(*) from (select ragpg.rebuild_keywords(%s)) as done", namespace)
    while engine.value("select ragpg.fold_statistics()") > 0:
        pass
    return [
        engine.rows(query, namespace)
        for query in (
            """select source, title, status, error, document.metadata,
                      (select array_agg(target order by target) from ragpg.link
                        where link.document_id = document.id) as links
                 from ragpg.document join ragpg.namespace on namespace.id = namespace_id
                where name = %s order by source""",
            """select source, ordinal, content, breadcrumb, start_char, end_char, start_line, end_line,
                      chunk.metadata, embedding::text, length, bm25::text, lexemes::text
                 from ragpg.chunk join ragpg.namespace on namespace.id = namespace_id
                 join ragpg.document on document.id = document_id
                 left join ragpg.embedding_1 as vectors on vectors.chunk_id = chunk.id
                 left join ragpg.chunk_keyword as keyword on keyword.chunk_id = chunk.id
                where name = %s order by source, ordinal""",
            """select lexeme, documents from ragpg.lexeme_statistics
                 join ragpg.namespace on namespace.id = namespace_id where name = %s order by 1""",
            """select chunks, round(length) as length from ragpg.namespace_statistics
                 join ragpg.namespace on namespace.id = namespace_id
                where name = %s and chunks > 0""",
        )
    ]


def identities(engine: Engine, namespace: str) -> dict[tuple[Any, ...], int]:
    return {
        (row["document_id"], row["content"], row["copy"]): row["id"]
        for row in engine.rows(
            """select chunk.id, document_id, content,
                      row_number() over (partition by document_id, content order by ordinal) as copy
                 from ragpg.chunk join ragpg.namespace on namespace.id = namespace_id
                where name = %s""",
            namespace,
        )
    }


@settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(history=changes)
def test_every_history_ends_like_a_fresh_load(engine: Engine, history: list[Any]) -> None:
    space = engine.value("select ragpg.create_embedding_space('test', 3)")
    keys = [
        digest(breadcrumb + part)
        for breadcrumb in ("", "Fruit > Red")
        for part in PARAGRAPHS
        if part not in REFUSED
    ]
    vectors = array_of_vectors(
        [byte / 256 + 0.1 for byte in hashlib.sha256(key).digest()[:3]] for key in keys
    )
    engine.value(f"select ragpg.cache_embeddings(%s, %s, {vectors})", space, keys)
    number = next(numbers)
    lived, fresh = f"lived {number}", f"fresh {number}"
    engine.value("select ragpg.create_namespace(%s, space_id => %s)", lived, space)
    expected: dict[str, Text] = {}
    for change in history:
        before = identities(engine, lived)
        if change == "drop":
            assert engine.value("select ragpg.drop_namespace(%s)", lived) is True
            engine.value("select ragpg.create_namespace(%s, space_id => %s)", lived, space)
            expected = {}
        elif isinstance(change, list):
            gone = engine.value("select ragpg.delete_documents(%s, %s)", lived, change)
            assert gone == len({source for source in change if expected.pop(source, None)})
        else:
            store(engine, lived, change, space)
            expected |= change
        after = identities(engine, lived)
        assert {key: before[key] for key in before.keys() & after.keys()} == {
            key: after[key] for key in before.keys() & after.keys()
        }
    store(engine, fresh, expected, space)
    assert state(engine, lived) == state(engine, fresh)
    assert engine.wrong_statistics() == []
    for name in (lived, fresh):
        engine.value("select ragpg.drop_namespace(%s)", name)
    for table in (
        "chunk",
        "chunk_keyword",
        "embedding_1",
        "link",
        "lexeme_statistics",
        "keyword_log",
    ):
        assert engine.value(f"select count(*) from ragpg.{table}") == 0, table
