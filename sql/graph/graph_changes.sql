-- Changed and new documents, and those that are gone. What a transaction from before the analysis has
-- brought while that ran is older and yet new: it has no rank.
create or replace function ragpg.graph_changes(namespace_id integer)
returns table (documents bigint, changed bigint, analysed_at timestamptz)
language sql stable
begin atomic
  select counted.documents, counted.changed + greatest(coalesce(state.documents, 0) - counted.ranked, 0), state.analysed_at
    from (select graph_changes.namespace_id as id) as space
    left join ragpg.graph_state as state on state.namespace_id = space.id
   cross join lateral (
     select count(*) as documents,
            count(*) filter (where state.analysed_at is null or document.updated_at > state.analysed_at
                                or rank.pagerank is null or rank.pagerank = 0) as changed,
            count(*) filter (where rank.pagerank > 0) as ranked
       from ragpg.document
       left join ragpg.document_rank as rank on rank.namespace_id = document.namespace_id and rank.document_id = document.id
      where document.namespace_id = space.id) as counted;
end;

comment on function ragpg.graph_changes(integer) is
$$How many documents a namespace has, how many are new, changed or gone since its analysis, and when
that was.

  select * from ragpg.graph_changes(1);$$;
