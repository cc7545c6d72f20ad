-- A term joins at most max_chunks documents, so the work grows with the corpus and not with its
-- square. A document keeps its heaviest edges, as long as either end wants them.
create or replace function ragpg.write_shared_terms(
  namespace_id integer, min_shared integer default 2, degree integer default 10, max_chunks integer default 50)
returns bigint
language plpgsql
set search_path from current
-- As in ragpg.salient_terms(): whole tables are joined here, analysed or not.
set enable_nestloop = off
as $$
#variable_conflict use_column
declare
  owner integer := write_shared_terms.namespace_id;
  written bigint;
begin
  delete from ragpg.edge where edge.namespace_id = owner and edge.kind = 'terms';
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
  insert into ragpg.edge (namespace_id, source, target, kind, weight)
  select owner, ranked.source, ranked.target, 'terms', ranked.weight from ranked
   where ranked.from_source <= write_shared_terms.degree or ranked.from_target <= write_shared_terms.degree
   order by 2, 3;
  get diagnostics written = row_count;
  return written;
end $$;

comment on function ragpg.write_shared_terms(integer, integer, integer, integer) is
$$Joins documents that share rare terms, anew; returns how many edges there are.

  select ragpg.write_shared_terms(1);

min_shared  so many terms at least
degree      so many edges a document, heaviest first; more only where the other end wants one
max_chunks  see ragpg.salient_terms()$$;
