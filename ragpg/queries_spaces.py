"""The SQL that Python sends about embedding spaces; see ragpg.queries."""

from __future__ import annotations

from dataclasses import dataclass

from ragpg.steps import Query, all_columns, one_column


@dataclass(frozen=True, slots=True)
class SpaceInfo:
    """An embedding space of a namespace. `state` is active (it is searched), building or former;
    `missing` chunks have no vector in it."""

    space_id: int
    model: str
    dimensions: int
    state: str
    chunks: int
    vectors: int
    missing: int
    indexed: bool


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A chunk without a vector, with what is embedded of it."""

    chunk_id: int
    breadcrumb: str
    content: str


@dataclass(frozen=True, slots=True)
class IndexState:
    """The index of a space: valid, building, none or impossible. Counts end at 20,001."""

    state: str
    vectors: int
    others: int


SPACES = Query(
    """
select space_id, model, dimensions, state, chunks, vectors, missing, indexed
  from ragpg.embedding_spaces(%(namespace)s)
""",
    SpaceInfo,
    reads=True,
)

#: The spaces that an ingest fills beside the one that is searched.
KEPT_SPACES = Query(
    """
select kept.space_id, space.model, space.dimensions
  from ragpg.namespace_space as kept
  join ragpg.embedding_space as space on space.id = kept.space_id
 where kept.namespace_id = %(namespace_id)s
 order by kept.space_id
""",
    all_columns,
    reads=True,
)

#: Models that documents of a namespace may have been stored with.
FORMER_MODELS = Query(
    """
select pair ->> 0, (pair ->> 1)::integer
  from ragpg.namespace
 cross join jsonb_array_elements(coalesce(settings -> 'former_models', '[]')) as pair
 where namespace.id = %(namespace_id)s
""",
    all_columns,
    reads=True,
)

BEGIN_REEMBEDDING = Query("select ragpg.begin_reembedding(%(namespace)s, %(space_id)s)", one_column)

CHUNKS_WITHOUT_VECTORS = Query(
    """
select chunk_id, breadcrumb, content
  from ragpg.chunks_without_vectors(%(namespace)s, %(space_id)s, %(after)s, %(k)s)
""",
    Unembedded,
    reads=True,
)

STORE_VECTORS = Query(
    "select ragpg.store_vectors(%(namespace)s, %(space_id)s, %(chunk_ids)s, %(hashes)s)", one_column
)

SWITCH_SPACE = Query(
    "select ragpg.switch_embedding_space(%(namespace)s, %(space_id)s, %(missing)s)", one_column
)

DROP_SPACE = Query("select ragpg.drop_embedding_space(%(namespace)s, %(space_id)s)", one_column)

#: The state of a space's index, how many vectors there are, and how many are other namespaces'.
INDEX_STATE = Query(
    "select state, vectors, others from ragpg.embedding_index_state(%(space_id)s, %(namespace)s)",
    IndexState,
    reads=True,
)

INDEX_SPACE = Query("select ragpg.create_embedding_index(%(space_id)s)", one_column)
