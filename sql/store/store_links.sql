-- The links of changed documents. A target is a name and may appear later, or never.
create or replace function ragpg.store_links(namespace_id integer, changed bigint[])
returns void
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := store_links.namespace_id;
begin
  perform ragpg.refuse_nulls(jsonb_build_object('namespace_id', store_links.namespace_id));
  if to_regclass('pg_temp.ragpg_stage_document') is null then
    raise exception 'nothing is staged' using errcode = 'RG005',
      hint = 'Call ragpg.begin_store() in this transaction, and copy the documents.';
  end if;
  delete from ragpg.link where link.namespace_id = owner and link.document_id = any (changed);
  insert into ragpg.link (namespace_id, document_id, target, anchor)
  select distinct owner, document.id, wanted.target, coalesce(wanted.anchor, '')
    from pg_temp.ragpg_stage_document as staged
    join ragpg.document on document.namespace_id = owner and document.source = staged.source,
         jsonb_to_recordset(staged.links) as wanted (target text, anchor text)
   where document.id = any (changed) and wanted.target not in ('', staged.source)
     and octet_length(wanted.target) + octet_length(coalesce(wanted.anchor, '')) <= 2000
   order by 2, 3, 4;
end $$;

comment on function ragpg.store_links(integer, bigint[]) is
$$Writes the links of staged documents; part of ragpg.store_staged().

  select ragpg.store_links(1, '{17}');$$;
