-- Changed and new documents, and those that are gone. By version and not by time: what a transaction
-- from before the analysis brings after it is older and yet new.
create or replace function ragpg.graph_changes(namespace_id integer)
returns table (documents bigint, changed bigint, analysed_at timestamptz)
language sql stable
begin atomic
  select counted.documents, counted.changed + greatest(coalesce(state.documents, 0) - counted.ranked, 0), state.analysed_at
    from (select graph_changes.namespace_id as id) as space
    left join ragpg.graph_state as state on state.namespace_id = space.id
   cross join lateral (
     select count(*) as documents,
            count(*) filter (where state.analysed_at is null or rank.version is distinct from document.version) as changed,
            count(rank.version) as ranked
       from ragpg.document
       left join ragpg.document_rank as rank on rank.namespace_id = document.namespace_id and rank.document_id = document.id
      where document.namespace_id = space.id) as counted;
end;

comment on function ragpg.graph_changes(integer) is
$$How many documents a namespace has, how many are new, changed or gone since its analysis, and when
that was.

  select * from ragpg.graph_changes(1);$$;
