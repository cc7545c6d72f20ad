-- A term joins at most max_chunks documents, so the work grows with the corpus and not with its
-- square. A document keeps its heaviest edges, as long as either end wants them. What takes long is
-- done before anything is locked: who deletes waits for the writing only.
create or replace function ragpg.write_shared_terms(
  namespace_id integer, min_shared integer default 2, degree integer default 10, max_chunks integer default 50)
returns bigint
language plpgsql
set search_path from current
-- As in ragpg.salient_terms(): whole tables are joined here, analysed or not.
set enable_nestloop = off
set client_min_messages = warning
as $$
#variable_conflict use_column
declare
  owner integer := write_shared_terms.namespace_id;
  written bigint;
begin
  drop table if exists pg_temp.ragpg_shared;
  create temporary table ragpg_shared on commit drop as
  with term as materialized (
    select * from ragpg.salient_terms(owner, max_chunks => write_shared_terms.max_chunks)
  ), pair as (
    select low.document_id as source, high.document_id as target, sum(least(low.weight, high.weight)) as weight
      from term as low
      join term as high on high.term = low.term and high.document_id > low.document_id
     group by 1, 2
    having count(*) >= write_shared_terms.min_shared
  ), ranked as (
    select pair.*, row_number() over (partition by pair.source order by pair.weight desc, pair.target) as from_source,
           row_number() over (partition by pair.target order by pair.weight desc, pair.source) as from_target
      from pair
  )
  select ranked.source, ranked.target, ranked.weight from ranked
   where ranked.from_source <= write_shared_terms.degree or ranked.from_target <= write_shared_terms.degree;
  analyze pg_temp.ragpg_shared;
  -- In the order in which those who delete lock: the namespace, then documents by source; also those
  -- whose edges go, because a deleted document takes its edges with it.
  perform from ragpg.namespace where namespace.id = owner for key share;
  perform from ragpg.document
   where document.namespace_id = owner
     and document.id in (select shared.source from pg_temp.ragpg_shared as shared
                          union
                         select shared.target from pg_temp.ragpg_shared as shared
                          union
                         select edge.source from ragpg.edge where edge.namespace_id = owner and edge.kind = 'terms'
                          union
                         select edge.target from ragpg.edge where edge.namespace_id = owner and edge.kind = 'terms')
   order by document.source for key share;
  delete from ragpg.edge where edge.namespace_id = owner and edge.kind = 'terms';
  insert into ragpg.edge (namespace_id, source, target, kind, weight)
  select owner, shared.source, shared.target, 'terms', shared.weight
    from pg_temp.ragpg_shared as shared
    join ragpg.document as low on low.namespace_id = owner and low.id = shared.source
    join ragpg.document as high on high.namespace_id = owner and high.id = shared.target
   order by 2, 3;
  get diagnostics written = row_count;
  drop table pg_temp.ragpg_shared;
  return written;
end $$;

comment on function ragpg.write_shared_terms(integer, integer, integer, integer) is
$$Joins documents that share rare terms, anew; returns how many edges there are.

  select ragpg.write_shared_terms(1);

min_shared  so many terms at least
degree      so many edges a document, heaviest first; more only where the other end wants one
max_chunks  see ragpg.salient_terms()$$;
