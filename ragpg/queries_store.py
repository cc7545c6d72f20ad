"""The SQL of an ingest, each with the type of its rows; see `ragpg.queries`."""

from __future__ import annotations

from dataclasses import dataclass

from ragpg.steps import Query, all_columns, one_column


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


CREATE_SPACE = Query("select ragpg.create_embedding_space(%(model)s, %(dimensions)s)", one_column)

#: The first space of a namespace; where another worker was quicker, its choice stays.
FIRST_SPACE = Query(
    """
update ragpg.namespace set space_id = %(space_id)s
 where namespace.name = %(namespace)s and namespace.space_id is null
returning namespace.id
""",
    one_column,
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
    all_columns,
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
    one_column,
)

CLAIM = Query(
    """
select hash, state
  from ragpg.claim_embeddings(%(space_id)s, %(hashes)s, make_interval(secs => %(ttl)s))
""",
    Claim,
)

CACHE = Query("select ragpg.cache_embeddings(%(space_id)s, %(hashes)s, %(embeddings)s)", one_column)

RELEASE = Query("select ragpg.release_embeddings(%(space_id)s, %(hashes)s)", one_column)

#: None for a role that may not: its administrator has somebody else do so.
PRUNE_CACHE = Query(
    """
select case when pg_catalog.has_function_privilege(
                   'ragpg.prune_embedding_cache(interval, integer)', 'execute')
            then ragpg.prune_embedding_cache(make_interval(secs => %(seconds)s), %(k)s) end
""",
    one_column,
)

BEGIN_STORE = Query("select ragpg.begin_store()", one_column)

STORE_STAGED = Query(
    """
select source, document_id, outcome, chunks, new_chunks, embedded
  from ragpg.store_staged(%(namespace_id)s)
""",
    Written,
)

MARK_FAILED = Query("select ragpg.mark_failed(%(namespace)s, %(source)s, %(reason)s)", one_column)

DELETE = Query("select ragpg.delete_documents(%(namespace)s, %(sources)s)", one_column)

FOLD = Query("select ragpg.fold_statistics()", one_column)

#: A chunk's average length is a constant of the namespace; small namespaces can afford to be exact.
REBUILD = Query(
    """
select ragpg.rebuild_keywords(%(namespace)s, case
         when namespace_statistics.chunks <= 5000 then 0.05 else 0.25 end)
  from ragpg.namespace
  join ragpg.namespace_statistics on namespace_statistics.namespace_id = namespace.id
 where namespace.name = %(namespace)s
""",
    one_column,
)

KEEPS_SENTENCES = Query("select ragpg.keeps_sentences(%(namespace)s)", one_column, reads=True)

KEEP_SENTENCES = Query("select ragpg.keep_sentences(%(namespace)s)", one_column)

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
    one_column,
)
