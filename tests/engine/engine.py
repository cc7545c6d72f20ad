"""The SQL engine without the Python client: documents in, function calls out."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import psycopg

Row = dict[str, Any]


class Engine:
    """A database with the schema, and the few statements that the tests need."""

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self.connection = connection

    def rows(self, query: str, *arguments: Any) -> list[Row]:
        return self.connection.execute(query.encode(), arguments or None).fetchall()

    def value(self, query: str, *arguments: Any) -> Any:
        [row] = self.rows(query, *arguments)
        [value] = row.values()
        return value

    def add(
        self,
        documents: Mapping[str, str],
        *,
        namespace: str = "default",
        metadata: Mapping[str, Mapping[str, Any]] | None = None,
        vectors: Mapping[str, Sequence[float] | None] | None = None,
        language: str = "english",
        title: str = "",
        links: Mapping[str, Sequence[str]] | None = None,
        fingerprint: str | None = None,
    ) -> None:
        """One chunk a document, through the staging tables, in one transaction."""
        lengths = {len(vector) for vector in (vectors or {}).values() if vector}
        space = None
        if lengths:
            space = self.value("select ragpg.create_embedding_space('test', %s)", max(lengths))
        owner = self.value(
            "select ragpg.create_namespace(%s, language => %s, space_id => %s)",
            namespace,
            language,
            space,
        )
        given = {source: vector for source, vector in (vectors or {}).items() if vector}
        if given:
            self.value(
                f"select ragpg.cache_embeddings(%s, %s, {array_of_vectors(given.values())})",
                space,
                [digest(source) for source in given],
            )
        with self.connection.transaction(), self.connection.cursor() as cursor:
            cursor.execute("select ragpg.begin_store()")
            with cursor.copy("copy ragpg_stage_document from stdin") as copy:
                for source in documents:
                    fields = json.dumps((metadata or {}).get(source, {}))
                    aims = json.dumps([{"target": aim} for aim in (links or {}).get(source, ())])
                    copy.write_row(
                        (source, title, "text", None, digest(fingerprint or source), fields, aims)
                    )
            with cursor.copy("copy ragpg_stage_chunk from stdin") as copy:
                for source, text in documents.items():
                    fields = json.dumps((metadata or {}).get(source, {}))
                    hashed = digest(source) if source in given else None
                    copy.write_row(
                        (
                            source,
                            0,
                            text,
                            "",
                            title,
                            0,
                            len(text),
                            1,
                            1,
                            None,
                            fields,
                            digest(text),
                            hashed,
                        )
                    )
            cursor.execute("select count(*) from ragpg.store_staged(%s)", (owner,))
        self.value("select ragpg.fold_statistics()")

    def keyword(self, query: str, **options: Any) -> list[str]:
        return self.search(query, arms=["keyword"], **options)

    def search(
        self,
        query: str,
        *,
        vector: Sequence[float] | None = None,
        namespaces: Sequence[str] = ("default",),
        filter: Any = None,
        k: int = 10,
        arms: Any = None,
        fusion: Any = None,
        probes: Any = None,
    ) -> list[str]:
        """Sources, best first."""
        return [
            row["source"]
            for row in self.hits(
                query,
                vector=vector,
                namespaces=namespaces,
                filter=filter,
                k=k,
                arms=arms,
                fusion=fusion,
                probes=probes,
            )
        ]

    def hits(
        self,
        query: str,
        *,
        vector: Sequence[float] | None = None,
        namespaces: Sequence[str] = ("default",),
        filter: Any = None,
        k: int = 10,
        arms: Any = None,
        fusion: Any = None,
        probes: Any = None,
    ) -> list[Row]:
        return self.rows(
            "select * from ragpg.search(%s, %s, %s, %s, %s, %s, fusion => %s, probes => %s)",
            query,
            None if vector is None else json.dumps(list(vector)),
            list(namespaces),
            None if filter is None else json.dumps(filter),
            k,
            None if arms is None else json.dumps(arms),
            None if fusion is None else json.dumps(fusion),
            None if probes is None else json.dumps(probes),
        )

    def matching(self, filter: Any, namespace: str = "default") -> set[str]:
        """Sources of all chunks that pass a filter."""
        return {
            row["source"]
            for row in self.rows(
                "select source from ragpg.metadata_search(%s, %s, 1000)",
                json.dumps(filter),
                [namespace],
            )
        }

    def wrong_statistics(self) -> list[Row]:
        """Document frequencies and totals that differ from a count of what is stored."""
        return self.rows("""
            with truth as (
              select namespace_id, word.lexeme, count(*) as documents
                from ragpg.chunk_keyword, unnest(lexemes) as word
               where word.lexeme !~ '^[@^]' group by 1, 2)
            select namespace_id, lexeme, truth.documents, kept.documents as kept
              from truth full join ragpg.lexeme_statistics as kept using (namespace_id, lexeme)
             where coalesce(truth.documents, 0) <> coalesce(kept.documents, 0)
             union all
            select namespace_id, null, truth.chunks, kept.chunks
              from (select namespace_id, count(*) as chunks from ragpg.chunk group by 1) as truth
              full join ragpg.namespace_statistics as kept using (namespace_id)
             where coalesce(truth.chunks, 0) <> coalesce(kept.chunks, 0)""")


def digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def array_of_vectors(vectors: Any) -> str:
    """A literal: the vector type may live in any schema, so its array cannot be bound by name."""
    items = ",".join('"' + json.dumps(list(vector)) + '"' for vector in vectors)
    return f"'{{{items}}}'"
