"""The SQL that Python sends, each with the type of its rows: the only SQL text in the package.

It is written for schema ragpg; the connection puts another name in its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragpg.steps import Query

if TYPE_CHECKING:
    from datetime import date, datetime


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
class MemoryRow:
    """What the database knows of a memory beside its text. Times have a time zone."""

    namespace: str
    document_id: int
    remembered_at: datetime
    last_seen_at: datetime
    seen: int
    superseded_by: str | None
    superseded_at: datetime | None


@dataclass(frozen=True, slots=True)
class PassageFeedback:
    """What was learned of a passage. `expected` is how often anything shown at the same ranks would
    have been followed; `prior` is what its score is multiplied with, where `enabled`."""

    namespace: str
    source: str
    chunk_index: int
    shown: float
    followed: float
    expected: float
    rate: float
    expected_rate: float
    prior: float
    enabled: bool
    last_at: datetime
    content: str
    chunk_id: int


@dataclass(frozen=True, slots=True)
class UsageRow:
    """What models cost a namespace on a day (UTC). `item` is rag:<namespace>. `unpriced` requests
    have no known price: `cost_usd` is without them, and None where there are no others."""

    day: date
    namespace: str
    item: str
    category: str
    model: str
    requests: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    unpriced: int


@dataclass(frozen=True, slots=True)
class Stored:
    """What the database holds of a source: fingerprint and error of the last ingest, the path it
    was read from, which a text has not, and the hash of its bytes."""

    source: str
    fingerprint: bytes | None
    status: str
    error: str | None
    chunks: int
    path: str | None = None
    content_hash: bytes | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a document: stored, unchanged or empty."""

    source: str
    document_id: int
    outcome: str
    chunks: int
    new_chunks: int
    embedded: int


@dataclass(frozen=True, slots=True)
class Claim:
    """An embedding is cached, claimed (compute it) or busy (another worker computes it)."""

    hash: bytes
    state: str


@dataclass(frozen=True, slots=True)
class Unsplit:
    """A chunk whose sentences have no vectors yet."""

    chunk_id: int
    content: str


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


def _one(value: Any) -> Any:
    return value


def _row(*values: Any) -> tuple[Any, ...]:
    return values


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
    _row,
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
    _row,
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
    "select ragpg.create_namespace(%(namespace)s, %(kind)s, %(language)s)", _one
)

NAMESPACE_IDS = Query("select ragpg.namespace_ids(%(namespaces)s::text[])", _one, reads=True)

DROP_NAMESPACE = Query("select ragpg.drop_namespace(%(namespace)s)", _one)

CREATE_SPACE = Query("select ragpg.create_embedding_space(%(model)s, %(dimensions)s)", _one)

#: The first space of a namespace; where another worker was quicker, its choice stays.
FIRST_SPACE = Query(
    """
update ragpg.namespace set space_id = %(space_id)s
 where namespace.name = %(namespace)s and namespace.space_id is null
returning namespace.id
""",
    _one,
)

FINGERPRINTS = Query(
    """
select stored.source, stored.fingerprint, stored.status, stored.error, stored.chunks,
       document.metadata ->> '@path', document.content_hash
  from ragpg.fingerprints(%(namespace)s, %(sources)s) as stored
  left join (ragpg.document join ragpg.namespace on namespace.id = document.namespace_id)
    on namespace.name = %(namespace)s and document.source = stored.source
 order by stored.source
""",
    Stored,
    reads=True,
)

#: Where documents were read from; those that came as texts have no path.
FILES = Query(
    """
select document.source, document.metadata ->> '@path', document.content_hash
  from ragpg.document
 where document.namespace_id = %(namespace_id)s and document.metadata ? '@path'
 order by document.source
""",
    _row,
    reads=True,
)

#: Notes where unchanged documents are read from now. Locks in the order of sources, as writers do.
MOVE = Query(
    """
with moved as (
  select document.id, given.path
    from ragpg.document
    join unnest(%(sources)s::text[], %(paths)s::text[]) as given (source, path)
      on given.source = document.source
   where document.namespace_id = %(namespace_id)s
   order by document.source
     for no key update of document
)
update ragpg.document
   set metadata = jsonb_set(document.metadata, '{@path}', to_jsonb(moved.path))
  from moved
 where document.namespace_id = %(namespace_id)s and document.id = moved.id
returning document.source
""",
    _one,
)

CLAIM = Query(
    """
select hash, state
  from ragpg.claim_embeddings(%(space_id)s, %(hashes)s, make_interval(secs => %(ttl)s))
""",
    Claim,
)

CACHE = Query("select ragpg.cache_embeddings(%(space_id)s, %(hashes)s, %(embeddings)s)", _one)

RELEASE = Query("select ragpg.release_embeddings(%(space_id)s, %(hashes)s)", _one)

#: None for a role that may not: its administrator has somebody else do so.
PRUNE_CACHE = Query(
    """
select case when pg_catalog.has_function_privilege(
                   'ragpg.prune_embedding_cache(interval, integer)', 'execute')
            then ragpg.prune_embedding_cache(make_interval(secs => %(seconds)s), %(k)s) end
""",
    _one,
)

BEGIN_STORE = Query("select ragpg.begin_store()", _one)

STORE_STAGED = Query(
    """
select source, document_id, outcome, chunks, new_chunks, embedded
  from ragpg.store_staged(%(namespace_id)s)
""",
    Written,
)

MARK_FAILED = Query("select ragpg.mark_failed(%(namespace)s, %(source)s, %(reason)s)", _one)

NOTE_MEMORY = Query(
    "select ragpg.note_memory(%(namespace)s, %(source)s, %(key)s, %(supersedes)s)", _one
)

SUPERSEDE_MEMORIES: Query[Any] = Query(
    "select * from ragpg.supersede_memories(%(namespace)s, %(source)s, %(others)s::text[])", _one
)

#: Current memories that tell of the same states, whatever words they use.
MEMORIES_WITH_STATE: Query[Any] = Query(
    """
select source, content
  from ragpg.memories
 where namespace = %(namespace)s and superseded_by is null and source <> %(source)s
   and exists (select 1 from unnest(%(states)s::text[]) as state
                where metadata @> jsonb_build_object('@states', jsonb_build_array(state)))
 order by last_seen_at desc, source
 limit 100
""",
    _row,
    reads=True,
)

MEMORIES_OF: Query[Any] = Query(
    """
select namespace, document_id, remembered_at, last_seen_at, seen, superseded_by, superseded_at
  from ragpg.memories
 where namespace = any(%(namespaces)s::text[]) and document_id = any(%(documents)s::bigint[])
    """,
    MemoryRow,
    reads=True,
)

#: Rows as JSON text, as those of a search.
DOCUMENT_CHUNKS = Query(
    """
select row_to_json(found)::text
  from ragpg.document_chunks(%(namespace)s, %(sources)s, %(filter)s, %(k)s) as found
 order by found.rank
""",
    _one,
    reads=True,
)

RECORD_FEEDBACK = Query("select ragpg.record_feedback(%(events)s)", _one)

SEARCH_VERSION: Query[Any] = Query(
    "select version, caller from ragpg.search_version(%(namespaces)s)", _row, reads=True
)

RECORD_USAGE = Query("select ragpg.record_usage(%(events)s)", _one)

RESET_USAGE = Query("select ragpg.reset_usage(%(namespace)s, %(before)s)", _one)

USAGE_SUMMARY: Query[Any] = Query(
    """
select day, namespace, item, category, model, requests, input_tokens, output_tokens,
       cost_usd::float8, unpriced
  from ragpg.usage_summary
 where (%(namespace)s::text is null or namespace = %(namespace)s)
   and (%(since)s::date is null or day >= %(since)s)
 order by day desc, namespace collate "C", category, model
""",
    UsageRow,
    reads=True,
)

RESET_FEEDBACK = Query("select ragpg.reset_feedback(%(namespace)s, %(sources)s)", _one)

SET_FEEDBACK = Query("select ragpg.set_feedback(%(namespace)s, %(enabled)s)", _one)

FEEDBACK_SUMMARY: Query[Any] = Query(
    """
select namespace, source, chunk_index, shown::float8, followed::float8, expected::float8,
       rate::float8, expected_rate::float8, prior::float8, enabled, last_at, content, chunk_id
  from ragpg.feedback_summary
 where namespace = %(namespace)s
 order by abs(prior - 1) desc, source, chunk_index
 limit %(k)s
""",
    PassageFeedback,
    reads=True,
)

DELETE = Query("select ragpg.delete_documents(%(namespace)s, %(sources)s)", _one)

FOLD = Query("select ragpg.fold_statistics()", _one)

#: A chunk's average length is a constant of the namespace; small namespaces can afford to be exact.
REBUILD = Query(
    """
select ragpg.rebuild_keywords(%(namespace)s, case
         when namespace_statistics.chunks <= 5000 then 0.05 else 0.25 end)
  from ragpg.namespace
  join ragpg.namespace_statistics on namespace_statistics.namespace_id = namespace.id
 where namespace.name = %(namespace)s
""",
    _one,
)

KEEPS_SENTENCES = Query("select ragpg.keeps_sentences(%(namespace)s)", _one, reads=True)
KEEP_SENTENCES = Query("select ragpg.keep_sentences(%(namespace)s)", _one)

SENTENCE_SCORES = Query(
    """
select chunk_id, best, runner_up
  from ragpg.sentence_scores(%(embedding)s, %(namespaces)s, %(chunk_ids)s, %(model)s)
""",
    SentenceScore,
    reads=True,
)

CHUNKS_WITHOUT_SENTENCES = Query(
    """
select chunk_id, content
  from ragpg.chunks_without_sentences(%(namespace)s, %(after)s, %(k)s)
""",
    Unsplit,
    reads=True,
)

STORE_SENTENCES = Query(
    """
select ragpg.store_sentences(
  %(namespace)s, %(chunk_ids)s, %(ordinals)s, %(starts)s, %(ends)s, %(embeddings)s)
""",
    _one,
)

#: Vectors of the cache by hash; evaluations keep those of their queries there.
CACHED_VECTORS = Query(
    """
select hash, embedding::real[]
  from ragpg.embedding_cache
 where space_id = %(space_id)s and hash = any (%(hashes)s)
""",
    _row,
    reads=True,
)


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


KNOWN_ITEMS = Query(
    """
select source, chunk_id, start_char, end_char, content, terms, documents
  from ragpg.known_items(%(namespace)s, items => %(items)s, seed => %(seed)s)
""",
    KnownItem,
    reads=True,
)
