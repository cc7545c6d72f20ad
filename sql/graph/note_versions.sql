-- Documents are locked in the order in which those who delete lock; what they have deleted is left out.
create or replace function ragpg.note_versions(namespace_id integer, documents bigint[], versions integer[])
returns void
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := note_versions.namespace_id;
  standing bigint[];
begin
  perform from ragpg.namespace where namespace.id = owner for key share;
  standing := array(select document.id from ragpg.document
                     where document.namespace_id = owner and document.id = any (documents)
                     order by document.source for key share);
  insert into ragpg.document_rank as kept (namespace_id, document_id, noted)
  select owner, seen.id, seen.version
    from unnest(documents, versions) as seen (id, version)
    -- A sub-select is hashed, an array is not.
   where seen.id in (select still.id from unnest(standing) as still (id))
   order by seen.id
  on conflict on constraint document_rank_pkey do update set noted = excluded.noted;
end $$;

comment on function ragpg.note_versions(integer, bigint[], integer[]) is
$$Notes the versions of documents that an analysis works with, from when it began.

  select ragpg.note_versions(1, '{17,18}', '{1,4}');

When the analysis has come to its end they are those that ragpg.graph_changes() compares with.$$;
