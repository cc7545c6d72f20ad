"""The SQL that Python sends, each with the type of its rows: the only SQL text in the package, with
queries_store, queries_learned, queries_spaces and the queries of a room of its own.

It is written for schema ragpg; the connection puts another name in its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ragpg.steps import Query, all_columns, one_column


@dataclass(frozen=True, slots=True)
class Install:
    """The installed code."""

    version: str
    digest: str


@dataclass(frozen=True, slots=True)
class NamespaceInfo:
    """A namespace: its language, its embedding model (None without one), and counts."""

    name: str
    kind: str
    language: str
    model: str | None
    dimensions: int | None
    documents: int
    failed: int
    chunks: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class NamespaceRow:
    """What an ingest must know of its namespace."""

    id: int
    space_id: int | None
    model: str | None
    dimensions: int | None
    language: str = "english"


@dataclass(frozen=True, slots=True)
class SentenceScore:
    """Cosines of a query with the best and the second best sentence of a chunk."""

    chunk_id: int
    best: float
    runner_up: float


@dataclass(frozen=True, slots=True)
class Run:
    """Text of neighbouring chunks; `places` count the chunks asked for from 1, `ids` are all."""

    places: list[int]
    ids: list[int]
    content: str
    start_line: int
    end_line: int
    start_char: int
    end_char: int
    page: int | None


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A sampled chunk with its most telling words, best first, and how many chunks have each."""

    source: str
    chunk_id: int
    start_char: int | None
    end_char: int | None
    content: str
    terms: list[str]
    documents: list[int]


INSTALL = Query("select version, digest from ragpg.install", Install, reads=True)

#: hits, report and spaces as JSON text: reading it does not depend on what a caller's connection
#: makes of jsonb. spaces come along so that a wrong model is noticed without another round trip,
#: and priors, what feedback says of the hits, so that the learning loop costs none.
SEARCH = Query(
    """
select found.hits::text, found.report::text,
       (select json_agg(distinct jsonb_build_array(space.model, space.dimensions))
          from ragpg.namespace
          join ragpg.embedding_space as space on space.id = namespace.space_id
         where namespace.name = any (%(namespaces)s))::text,
       (select json_object_agg(known.chunk_id, known.prior)
          from ragpg.feedback_priors(%(namespaces)s, array(
                 select (hit ->> 'chunk_id')::bigint
                   from jsonb_array_elements(found.hits) as hit)) as known
         where %(prior)s)::text
  from ragpg.search_run(%(query)s, embedding => %(embedding)s, namespaces => %(namespaces)s,
         filter => %(filter)s, k => %(k)s, arms => %(arms)s, rrf_k => %(rrf_k)s,
         budget_ms => %(budget_ms)s, fusion => %(fusion)s, probes => %(probes)s) as found
""",
    all_columns,
    reads=True,
)

#: Chunks joined with their neighbours; places count the given chunks from 1.
STITCH = Query(
    """
select places, ids, content, start_line, end_line, start_char, end_char, page
  from ragpg.stitch_chunks(%(namespaces)s, %(chunk_ids)s, %(versions)s, %(radius)s)
""",
    Run,
    reads=True,
)

#: Pairs of the given chunks, counted from 1, and their cosines: three arrays in one row.
SIMILARITIES = Query(
    """
select array_agg(first), array_agg(second), array_agg(similarity)
  from ragpg.similarities(%(namespaces)s, %(chunk_ids)s)
""",
    all_columns,
    reads=True,
)

NAMESPACES = Query(
    """
select name, kind, language, model, dimensions, documents, failed, chunks, created_at
  from ragpg.namespaces
 order by name
""",
    NamespaceInfo,
    reads=True,
)

NAMESPACE = Query(
    """
select namespace.id, namespace.space_id, embedding_space.model, embedding_space.dimensions,
       namespace.text_search_config
  from ragpg.namespace
  left join ragpg.embedding_space on embedding_space.id = namespace.space_id
 where namespace.name = %(namespace)s and ragpg.may_use_namespace(namespace.id)
""",
    NamespaceRow,
    reads=True,
)

CREATE_NAMESPACE = Query(
    "select ragpg.create_namespace(%(namespace)s, %(kind)s, %(language)s)", one_column
)

NAMESPACE_IDS = Query("select ragpg.namespace_ids(%(namespaces)s::text[])", one_column, reads=True)

DROP_NAMESPACE = Query("select ragpg.drop_namespace(%(namespace)s)", one_column)

#: Rows as JSON text, as those of a search.
DOCUMENT_CHUNKS = Query(
    """
select row_to_json(found)::text
  from ragpg.document_chunks(%(namespace)s, %(sources)s, %(filter)s, %(k)s) as found
 order by found.rank
""",
    one_column,
    reads=True,
)

SEARCH_VERSION: Query[Any] = Query(
    "select version, caller from ragpg.search_version(%(namespaces)s)", all_columns, reads=True
)

SENTENCE_SCORES = Query(
    """
select chunk_id, best, runner_up
  from ragpg.sentence_scores(%(embedding)s, %(namespaces)s, %(chunk_ids)s, %(model)s)
""",
    SentenceScore,
    reads=True,
)

#: Vectors of the cache by hash; evaluations keep those of their queries there.
CACHED_VECTORS = Query(
    """
select hash, embedding::real[]
  from ragpg.embedding_cache
 where space_id = %(space_id)s and hash = any (%(hashes)s)
""",
    all_columns,
    reads=True,
)

KNOWN_ITEMS = Query(
    """
select source, chunk_id, start_char, end_char, content, terms, documents
  from ragpg.known_items(%(namespace)s, items => %(items)s, seed => %(seed)s)
""",
    KnownItem,
    reads=True,
)
