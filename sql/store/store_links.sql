-- The links of changed documents, and older links that were waiting for one of them to appear.
create or replace function ragpg.store_links(namespace_id integer, changed bigint[])
returns void
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := store_links.namespace_id;
begin
  delete from ragpg.link where link.namespace_id = owner and link.document_id = any (changed);
  insert into ragpg.link (namespace_id, document_id, target, anchor, target_document_id)
  select distinct owner, document.id, wanted.target, coalesce(wanted.anchor, ''), aim.id
    from pg_temp.ragpg_stage_document as staged
    join ragpg.document on document.namespace_id = owner and document.source = staged.source,
         jsonb_to_recordset(staged.links) as wanted (target text, anchor text)
    left join ragpg.document as aim on aim.namespace_id = owner and aim.source = wanted.target
   where document.id = any (changed) and wanted.target <> ''
     and octet_length(wanted.target) + octet_length(coalesce(wanted.anchor, '')) <= 2000
     and aim.id is distinct from document.id
   order by 2, 3, 4;
  update ragpg.link set target_document_id = aim.id
    from ragpg.document as aim
   where link.namespace_id = owner and link.target_document_id is null and link.target = aim.source
     and aim.namespace_id = owner and aim.id = any (changed) and aim.id <> link.document_id;
end $$;

comment on function ragpg.store_links(integer, bigint[]) is
$$Writes the links of staged documents; part of ragpg.store_staged().

  select ragpg.store_links(1, '{17}');$$;
