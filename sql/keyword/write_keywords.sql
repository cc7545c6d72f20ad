-- Keeps ragpg.chunk_keyword equal to ragpg.chunk, a statement at a time. The lock is shared among
-- writers and keeps rebuild_keywords() out: it must neither miss a row nor write an old one.
create or replace function ragpg.write_keywords()
returns trigger
language plpgsql
set search_path from current
as $$
begin
  if tg_op = 'DELETE' then
    perform pg_advisory_xact_lock_shared(hashtext('ragpg.rebuild_keywords'), touched.namespace_id)
       from (select distinct removed.namespace_id from removed order by 1) as touched;
    delete from ragpg.chunk_keyword as keyword
     using removed
     where keyword.namespace_id = removed.namespace_id and keyword.chunk_id = removed.id;
  elsif tg_op = 'TRUNCATE' then
    delete from ragpg.chunk_keyword;
  elsif tg_op = 'INSERT' then
    perform pg_advisory_xact_lock_shared(hashtext('ragpg.rebuild_keywords'), touched.namespace_id)
       from (select distinct added.namespace_id from added order by 1) as touched;
    -- The average length is a constant of the namespace inside its vectors: some of the first chunks
    -- set it, rebuild_keywords() mends it when it has drifted. They are taken from all over, because a
    -- large document may begin with what is unlike the rest.
    update ragpg.namespace
       set average_length = first.length
      from (select sample.namespace_id,
                   greatest(avg(greatest((keyword.row).length, 1)), 1) as length
              from (select added.namespace_id, added.id,
                           row_number() over (partition by added.namespace_id order by added.id) as place,
                           count(*) over (partition by added.namespace_id) as total
                      from added
                     where exists (select 1 from ragpg.namespace
                                    where namespace.id = added.namespace_id
                                      and namespace.average_length is null)) as sample
              join added using (namespace_id, id)
              join ragpg.namespace on namespace.id = sample.namespace_id,
                   lateral (select ragpg.keyword_row(namespace.text_search_config::regconfig, added.breadcrumb,
                              concat_ws(E'\n', nullif(added.prefix, ''), added.content), '{}', 100) as row offset 0) as keyword
             where sample.place = 1
                or 200 * (sample.place - 1) / sample.total > 200 * (sample.place - 2) / sample.total
             group by sample.namespace_id) as first
     where namespace.id = first.namespace_id and namespace.average_length is null;
    -- Chunks in a row have one breadcrumb, which is analysed once.
    insert into ragpg.chunk_keyword (namespace_id, chunk_id, length, bm25, lexemes)
    with crumb as materialized (
      select one.namespace_id, one.breadcrumb, namespace.text_search_config::regconfig as config, namespace.average_length,
             ragpg.heading_lexemes(namespace.text_search_config::regconfig, one.breadcrumb) as lexemes
        from (select distinct added.namespace_id, added.breadcrumb from added) as one
        join ragpg.namespace on namespace.id = one.namespace_id
    )
    select added.namespace_id, added.id, keyword.length, keyword.bm25, keyword.lexemes
      from added
      join crumb using (namespace_id, breadcrumb),
           lateral ragpg.weighted_row(
             crumb.lexemes || ragpg.content_lexemes(crumb.config, concat_ws(E'\n', nullif(added.prefix, ''), added.content)),
             added.metadata, crumb.average_length) as keyword;
  else
    perform pg_advisory_xact_lock_shared(hashtext('ragpg.rebuild_keywords'), touched.namespace_id)
       from (select distinct changed.namespace_id from changed order by 1) as touched;
    update ragpg.chunk_keyword as target
       set length = keyword.length, bm25 = keyword.bm25, lexemes = keyword.lexemes
      from changed as latest
      join replaced as former using (namespace_id, id)
      join ragpg.namespace on namespace.id = latest.namespace_id,
           lateral ragpg.keyword_row(namespace.text_search_config::regconfig, latest.breadcrumb,
             concat_ws(E'\n', nullif(latest.prefix, ''), latest.content), latest.metadata,
             namespace.average_length) as keyword
     where target.namespace_id = latest.namespace_id and target.chunk_id = latest.id
       and (latest.breadcrumb, latest.prefix, latest.content, latest.metadata)
           is distinct from (former.breadcrumb, former.prefix, former.content, former.metadata);
  end if;
  return null;
end $$;

comment on function ragpg.write_keywords() is
$$Trigger on ragpg.chunk: writes the keyword rows of inserted, changed and deleted chunks.$$;

create or replace trigger write_keywords_insert after insert on ragpg.chunk
  referencing new table as added for each statement execute function ragpg.write_keywords();
create or replace trigger write_keywords_update after update on ragpg.chunk
  referencing old table as replaced new table as changed
  for each statement execute function ragpg.write_keywords();
create or replace trigger write_keywords_truncate after truncate on ragpg.chunk
  for each statement execute function ragpg.write_keywords();
create or replace trigger write_keywords_delete after delete on ragpg.chunk
  referencing old table as removed for each statement execute function ragpg.write_keywords();
