"""Faults that the doctor can mend by itself, as the catalog and the tables show them.

Nothing that ends one of them touches a document, a chunk or a vector that is in use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, text

from ragpg import sqlfiles
from ragpg.graph.analysis import STALE_SHARE, StaleGraph
from ragpg.ingest.forgetting import BATCH
from ragpg.settings import VECTOR_RETENTION
from ragpg.sqlfiles import DEFAULT_SCHEMA
from ragpg.vectors import INDEX_FROM

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: A table is analysed when more of it than this has changed, and at least so many rows.
CHANGED_SHARE, CHANGED_ROWS = 0.2, 1000
#: Log rows beyond which the weights of keyword search are folded.
LOG_ROWS = 5_000
#: Below so many documents nobody misses the analysis of a graph.
GRAPH_DOCUMENTS = 20
#: The average length of a namespace's chunks may drift by so much.
DRIFT = 0.25


@dataclass(frozen=True, slots=True)
class Fault:
    """Something to mend. `statements` do it, each in a transaction of its own; without them
    `space_id` wants its index built, `namespace` its vectors completed by an embedder, or `graph`,
    a namespace, its analysis. One that is `minor` is in the way of nothing yet."""

    name: str
    detail: str
    statements: tuple[str, ...] = ()
    space_id: int | None = None
    namespace: str | None = None
    graph: str | None = None
    minor: bool = False


def faults(
    connection: Connection,
    schema: str = DEFAULT_SCHEMA,
    *,
    retention: float = VECTOR_RETENTION,
    share: float = STALE_SHARE,
) -> Iterator[Fault]:
    """Every fault that can be mended, in the order in which to do so.

    retention  days that a cached vector may outlive its text, as in the settings
    share      of a namespace's documents that have to have changed for its graph to be analysed, 0
               to 1, as in [graph] of the configuration
    """
    schema = sqlfiles.check_schema(schema)
    yield from _orphans(connection, schema)
    yield from _claims(connection, schema)
    yield from _forgotten(connection, schema, retention)
    yield from _indexes(connection, schema)
    yield from _keywords(connection, schema)
    yield from _vectors(connection, schema)
    yield from _statistics(connection, schema)
    yield from _graphs(connection, schema, share)


def _rows(connection: Connection, sql: str, **values: Any) -> Iterable[tuple[Any, ...]]:
    return [tuple(row) for row in connection.execute(text(sql), values)]


def _orphans(connection: Connection, schema: str) -> Iterator[Fault]:
    """Tables of vectors whose space is gone."""
    for (name,) in _rows(
        connection,
        f"""select relname from pg_class
             where relnamespace = to_regnamespace(:schema) and relkind = 'r'
               and relname ~ '^(embedding|sentence)_[0-9]+$'
               and not exists (select from {schema}.embedding_space as space
                                where space.id::text = substring(relname from '[0-9]+$'))
             order by relname""",
        schema=schema,
    ):
        detail = f"table {schema}.{name} belongs to no embedding space"
        yield Fault("orphans", detail, (f"drop table {schema}.{name}",))


def _claims(connection: Connection, schema: str) -> Iterator[Fault]:
    """Promises to compute an embedding that nobody kept, and cached vectors of no space."""
    lapsed = (
        f"claim.expires_at < now() or not exists (select from {schema}.embedding_space as space"
        " where space.id = claim.space_id)"
    )
    [(count,)] = _rows(
        connection, f"select count(*) from {schema}.embedding_claim as claim where {lapsed}"
    )
    if count:
        statement = f"delete from {schema}.embedding_claim as claim where {lapsed}"
        yield Fault("claims", f"{count} claims on embeddings have lapsed", (statement,))
    gone = f"not exists (select from {schema}.embedding_space as space where space.id = space_id)"
    [(count,)] = _rows(
        connection,
        f"select count(*) from (select distinct space_id from {schema}.embedding_cache) as kept"
        f" where {gone}",
    )
    if count:
        statement = f"delete from {schema}.embedding_cache where {gone}"
        yield Fault("cache", f"cached vectors of {count} spaces that are gone", (statement,))


def _forgotten(connection: Connection, schema: str, retention: float) -> Iterator[Fault]:
    """Cached vectors of texts that are gone: those that nobody has noticed yet, and those that were
    noticed long ago."""
    [(is_there,)] = _rows(
        connection,
        "select to_regprocedure(:name) is not null",
        name=f"{schema}.unused_embeddings()",
    )
    if not is_there:
        # The schema waits for its migration, which the doctor says by itself.
        return
    seconds = retention * 86_400
    [(count, total)] = _rows(
        connection,
        f"""select count(*), (select count(*) from {schema}.embedding_cache)
              from {schema}.unused_embeddings() as unused
              left join {schema}.embedding_unused as noted using (space_id, hash)
             where noted.since is null or noted.since <= now() - make_interval(secs => :seconds)""",
        seconds=seconds,
    )
    if count:
        prune = f"{schema}.prune_embedding_cache(make_interval(secs => {seconds:f}), {BATCH})"
        statement = f"do $$ begin loop exit when {prune} < {BATCH}; commit; end loop; end $$"
        when = f"; they go {retention:g} days after this was noticed" if retention else ""
        yield Fault(
            "cache",
            f"{count} of {total} cached vectors are of texts that are gone{when}",
            (statement,),
            minor=bool(retention) and count <= max(CHANGED_ROWS, CHANGED_SHARE * total),
        )


def _indexes(connection: Connection, schema: str) -> Iterator[Fault]:
    for name, method, space_id in _rows(
        connection,
        """select format('%I.%I', nspname, class.relname), amname,
                  (substring(owner.relname from '^embedding_([0-9]+)$'))::integer
             from pg_index
             join pg_class as class on class.oid = indexrelid
             join pg_class as owner on owner.oid = indrelid
             join pg_namespace on pg_namespace.oid = class.relnamespace
             join pg_am on pg_am.oid = class.relam
            where nspname = :schema and not indisvalid
              and not exists (select from pg_stat_progress_create_index as building
                               where building.index_relid = indexrelid)
            order by 1""",
        schema=schema,
    ):
        if method == "hnsw" and space_id is not None:
            yield Fault("indexes", f"index {name} is invalid", space_id=space_id)
        else:
            statement = f"reindex index concurrently {name}"
            yield Fault("indexes", f"index {name} is invalid", (statement,))
    for (space_id,) in _rows(
        connection,
        f"""select space.id from {schema}.embedding_space as space
             where to_regclass('{schema}.embedding_' || space.id) is not null
               and space.dimensions <= case space.type when 'halfvec' then 4000 else 2000 end
               and not exists (select from pg_index
                                 join pg_class on pg_class.oid = indexrelid
                                 join pg_am on pg_am.oid = relam
                                where indrelid = to_regclass('{schema}.embedding_' || space.id)
                                  and amname = 'hnsw')
             order by space.id""",
    ):
        [(count,)] = _rows(
            connection,
            f"select count(*) from (select from {schema}.embedding_{space_id:d}"
            f" limit {INDEX_FROM + 1}) as probe",
        )
        if count > INDEX_FROM:
            detail = f"embedding space {space_id} has more than {INDEX_FROM} rows and no index"
            yield Fault("indexes", detail, space_id=space_id)


def _keywords(connection: Connection, schema: str) -> Iterator[Fault]:
    [(count,)] = _rows(
        connection,
        f"""select count(*) from {schema}.chunk
             where not exists (select from {schema}.chunk_keyword as keyword
                                where keyword.namespace_id = chunk.namespace_id
                                  and keyword.chunk_id = chunk.id)""",
    )
    if count:
        statement = f"""
            insert into {schema}.chunk_keyword (namespace_id, chunk_id, length, bm25, lexemes)
            select chunk.namespace_id, chunk.id, keyword.length, keyword.bm25, keyword.lexemes
              from {schema}.chunk
              join {schema}.namespace on namespace.id = chunk.namespace_id,
                   lateral {schema}.keyword_row(namespace.text_search_config::regconfig,
                     chunk.breadcrumb, concat_ws(E'\\n', nullif(chunk.prefix, ''), chunk.content),
                     chunk.metadata, coalesce(namespace.average_length, 100)) as keyword
            on conflict do nothing"""
        yield Fault("keywords", f"{count} chunks are not found by words", (statement,))
    [(count,)] = _rows(
        connection,
        f"select count(*) from (select from {schema}.keyword_log limit {LOG_ROWS + 1}) as log",
    )
    fold = f"""
        do $$ begin while {schema}.fold_statistics() > 0 loop null; end loop; end $$"""
    if count > LOG_ROWS:
        detail = f"more than {LOG_ROWS} changes wait to be folded into the weights of words"
        yield Fault("keywords", detail, (fold,))
    for (name,) in _rows(
        connection,
        f"""select namespace.name from {schema}.namespace
              join {schema}.namespace_statistics as kept on kept.namespace_id = namespace.id
             where kept.chunks > 0 and namespace.average_length > 0
               and abs(kept.length / kept.chunks / namespace.average_length - 1) > {DRIFT}
             order by 1""",
    ):
        quoted = name.replace("'", "''")
        statement = f"select {schema}.rebuild_keywords('{quoted}', {DRIFT})"
        detail = f"the average length in namespace {name!r} has drifted: its word weights are off"
        yield Fault("keywords", detail, (fold, statement, fold))


def _vectors(connection: Connection, schema: str) -> Iterator[Fault]:
    for name, namespace_id, space_id in _rows(
        connection,
        f"""select name, id, space_id from {schema}.namespace
             where to_regclass('{schema}.embedding_' || space_id) is not null order by name""",
    ):
        [(count,)] = _rows(
            connection,
            f"""select count(*) from {schema}.chunk
                 where namespace_id = :namespace_id
                   and not exists (select from {schema}.embedding_{space_id:d} as vectors
                                    where vectors.namespace_id = :namespace_id
                                      and vectors.chunk_id = chunk.id)""",
            namespace_id=namespace_id,
        )
        if count:
            detail = f"{count} chunks of namespace {name!r} have no vector"
            yield Fault("vectors", detail, namespace=name)


def _statistics(connection: Connection, schema: str) -> Iterator[Fault]:
    """Tables that the planner knows wrongly."""
    for (name,) in _rows(
        connection,
        """select format('%I.%I', schemaname, relname) from pg_stat_user_tables
            where schemaname = :schema
              and n_mod_since_analyze > greatest(:rows, :share * n_live_tup)
            order by 1""",
        schema=schema,
        rows=CHANGED_ROWS,
        share=CHANGED_SHARE,
    ):
        yield Fault("statistics", f"much of {name} has changed since ANALYZE", (f"analyze {name}",))


def _graphs(connection: Connection, schema: str, share: float) -> Iterator[Fault]:
    """Graphs of which shared terms, ranks and communities are those of other documents."""
    for row in _rows(
        connection,
        f"select namespace, documents, changed, analysed_at"
        f" from {schema}.stale_graphs(share => :share)"
        f" where greatest(documents, changed) >= {GRAPH_DOCUMENTS}",
        share=share,
    ):
        graph = StaleGraph(*row)
        yield Fault("graph", str(graph), graph=graph.namespace)
