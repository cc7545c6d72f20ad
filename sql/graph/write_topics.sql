-- Keeps topics equal to the titles of documents, and links to the documents that there are, a
-- statement at a time. Foreign keys take the topics of deleted documents, and the ends of links.
create or replace function ragpg.write_topics()
returns trigger
language plpgsql
set search_path from current
as $$
declare
  part record;
begin
  if tg_op = 'INSERT' then
    for part in
      select added.namespace_id, array_agg(added.id order by added.source) as documents, array_agg(added.path) as paths
        from added group by 1 order by 1
    loop
      perform ragpg.store_topics(part.namespace_id, part.documents);
      perform ragpg.resolve_links(part.namespace_id, paths => part.paths);
    end loop;
  elsif tg_op = 'DELETE' then
    for part in
      select removed.namespace_id, array_agg(distinct removed.title) as titles, array_agg(removed.path) as paths
        from removed join ragpg.namespace on namespace.id = removed.namespace_id group by 1 order by 1
    loop
      perform ragpg.forget_topics(part.namespace_id, part.titles);
      perform ragpg.resolve_links(part.namespace_id, paths => part.paths);
    end loop;
  else
    for part in
      select latest.namespace_id, array_agg(latest.id order by latest.source) as documents, array_agg(distinct former.title) as titles
        from changed as latest join replaced as former using (namespace_id, id)
       where latest.title <> former.title
       group by 1 order by 1
    loop
      delete from ragpg.topic
       where topic.namespace_id = part.namespace_id and topic.document_id = any (part.documents);
      delete from ragpg.mention using ragpg.chunk
       where chunk.namespace_id = part.namespace_id and chunk.document_id = any (part.documents)
         and mention.namespace_id = part.namespace_id and mention.chunk_id = chunk.id and mention.origin = 'titles';
      perform ragpg.store_topics(part.namespace_id, part.documents);
      -- What was its own title may be another's, and the other way round.
      perform ragpg.find_titles(part.namespace_id, chunks => array(
        select chunk.id from ragpg.chunk
         where chunk.namespace_id = part.namespace_id and chunk.document_id = any (part.documents)));
      perform ragpg.forget_topics(part.namespace_id, part.titles);
    end loop;
    for part in
      select latest.namespace_id, array_agg(latest.path) || array_agg(former.path) as paths
        from changed as latest join replaced as former using (namespace_id, id)
       where latest.source <> former.source
       group by 1 order by 1
    loop
      perform ragpg.resolve_links(part.namespace_id, paths => part.paths);
    end loop;
  end if;
  return null;
end $$;

comment on function ragpg.write_topics() is
$$Trigger on ragpg.document: keeps topics and resolved links in step with titles and sources.$$;

create or replace trigger write_topics_insert after insert on ragpg.document
  referencing new table as added for each statement execute function ragpg.write_topics();
create or replace trigger write_topics_update after update on ragpg.document
  referencing old table as replaced new table as changed
  for each statement execute function ragpg.write_topics();
create or replace trigger write_topics_delete after delete on ragpg.document
  referencing old table as removed for each statement execute function ragpg.write_topics();
