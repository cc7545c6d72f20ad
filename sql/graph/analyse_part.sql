-- In parts, so that who analyses beside an ingest holds its locks for seconds: each part computes, then
-- locks the documents that it writes of, which keeps others from deleting them until it ends. One
-- session of all is at a namespace; who finds another there, also between two parts, leaves it to that.
create or replace function ragpg.analyse_part(
  namespace text, part text, since timestamptz default now(), details jsonb default '{}')
returns jsonb
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := (ragpg.namespace_ids(array[analyse_part.namespace]))[1];
  made jsonb := coalesce(analyse_part.details, '{}');
  began timestamptz := coalesce(analyse_part.since, now());
  ids bigint[];
  versions integer[];
begin
  if not pg_try_advisory_xact_lock(hashtext('ragpg.analyse_graph'), owner) then
    return null;
  end if;
  case part
    when 'names' then
      -- What all parts have seen at least: a document that changes from here on, or is changed already
      -- by a transaction that has yet to end, is for the next analysis.
      select array_agg(document.id), array_agg(document.version) into ids, versions
        from ragpg.document
        left join ragpg.document_rank as rank on rank.namespace_id = owner and rank.document_id = document.id
       where document.namespace_id = owner and document.version is distinct from rank.noted;
      perform ragpg.fold_statistics();
      perform ragpg.find_waiting(owner);
      perform ragpg.remove_orphans(owner);
      perform ragpg.resolve_links(owner);
      perform ragpg.note_versions(owner, ids, versions);
    when 'terms' then
      made := made || jsonb_build_object('shared_terms', ragpg.write_shared_terms(owner));
    when 'pagerank' then
      made := made || jsonb_build_object('documents', ragpg.write_pagerank(owner));
    when 'communities' then
      made := made || jsonb_build_object(
        'communities', ragpg.write_communities(owner),
        'seconds', round(extract(epoch from clock_timestamp() - began), 3));
      update ragpg.document_rank as rank set version = rank.noted
       where rank.namespace_id = owner and rank.version is distinct from rank.noted;
      insert into ragpg.graph_state as kept (namespace_id, analysed_at, documents, details)
      select owner, began, count(rank.version), made
        from ragpg.document_rank as rank where rank.namespace_id = owner
      on conflict (namespace_id) do update
         set analysed_at = excluded.analysed_at, documents = excluded.documents, details = excluded.details;
    else
      raise exception 'an analysis has no part %', part using errcode = 'RG005',
        hint = 'Parts are names, terms, pagerank and communities, in this order.';
  end case;
  return made;
end $$;

comment on function ragpg.analyse_part(text, text, timestamptz, jsonb) is
$$One part of the analysis of a namespace; returns the details so far, or null where another session
is at it.

  select ragpg.analyse_part('default', 'names');

part     names, terms, pagerank, communities: each in a transaction of its own, in this order
since    when the analysis began: what has changed later is for the next one
details  what the part before has returned

ragpg.analyse_graph() does all of it in one transaction.$$;
