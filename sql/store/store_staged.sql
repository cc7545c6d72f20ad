-- Documents become what was staged, each wholly or not at all. A chunk is the same chunk while its
-- document, text and occurrence are the same: it keeps its id, vector and history when it moves.
-- Documents are taken in the order of their sources, so that two writers never wait in a circle.
create or replace function ragpg.store_staged(namespace_id integer)
returns table (source text, document_id bigint, outcome text, chunks integer, new_chunks integer, embedded integer)
language plpgsql
set search_path from current
set client_min_messages = warning
as $$
#variable_conflict use_column
declare
  owner integer := store_staged.namespace_id;
  changed bigint[];
begin
  perform ragpg.refuse_nulls(jsonb_build_object('namespace_id', store_staged.namespace_id));
  perform ragpg.check_access(array[store_staged.namespace_id]);
  if to_regclass('pg_temp.ragpg_stage_document') is null then
    raise exception 'nothing is staged' using errcode = 'RG005',
      hint = 'Call ragpg.begin_store() in this transaction, and copy the documents.';
  end if;
  -- Statistics are folded between such transactions: in this one it would hold up every other folder, and
  -- whoever drops a namespace, until its end.
  perform ragpg.renew_plans();
  -- A change of the embedding space waits for us, and we for it.
  perform pg_advisory_xact_lock_shared(hashtext('ragpg.namespace_space'), owner);

  -- Unchanged documents are locked and left alone; new and changed ones come back.
  with written as (
    insert into ragpg.document as stored (namespace_id, source, title, format, content_hash, fingerprint, metadata, status)
    select owner, staged.source, staged.title, staged.format, staged.content_hash, staged.fingerprint, staged.metadata,
           case when exists (select 1 from pg_temp.ragpg_stage_chunk as piece where piece.source = staged.source)
                then 'ready' else 'empty' end
      from pg_temp.ragpg_stage_document as staged
     order by staged.source
    on conflict on constraint document_namespace_id_source_key do update
       set title = excluded.title, format = excluded.format, content_hash = excluded.content_hash,
           fingerprint = excluded.fingerprint, metadata = excluded.metadata, status = excluded.status,
           version = stored.version + 1, error = null, updated_at = now()
     where stored.fingerprint is distinct from excluded.fingerprint or stored.error is not null
    returning stored.id
  )
  select coalesce(array_agg(written.id), '{}') into changed from written;

  create temporary table if not exists ragpg_stage_plan (
    chunk_id bigint, is_new boolean, reembed boolean, embedded boolean, document_id bigint,
    source text collate "C", ordinal integer
  ) on commit delete rows;
  truncate pg_temp.ragpg_stage_plan;

  -- The n-th chunk of a text meets the n-th chunk of that text of before.
  insert into pg_temp.ragpg_stage_plan (chunk_id, is_new, reembed, document_id, source, ordinal)
  select old.id, old.id is null, old.embedding_hash is distinct from new.embedding_hash, new.document_id, new.source, new.ordinal
    from (select document.id as document_id, piece.*,
                 row_number() over (partition by document.id, piece.content_hash order by piece.ordinal) as occurrence
            from pg_temp.ragpg_stage_chunk as piece
            join ragpg.document on document.namespace_id = owner and document.source = piece.source
           where document.id = any (changed)) as new
    left join (select chunk.id, chunk.document_id, chunk.content_hash, chunk.embedding_hash,
                      row_number() over (partition by chunk.document_id, chunk.content_hash order by chunk.ordinal) as occurrence
                 from ragpg.chunk
                where chunk.namespace_id = owner and chunk.document_id = any (changed)) as old
      on (old.document_id, old.content_hash, old.occurrence) = (new.document_id, new.content_hash, new.occurrence);

  delete from ragpg.chunk as gone
   where gone.namespace_id = owner and gone.document_id = any (changed)
     and not exists (select 1 from pg_temp.ragpg_stage_plan as plan where plan.chunk_id = gone.id);
  -- Out of the way first: two chunks may swap places.
  update ragpg.chunk as moved set ordinal = moved.ordinal + 1000000000
    from pg_temp.ragpg_stage_plan as plan
   where moved.namespace_id = owner and moved.id = plan.chunk_id and moved.ordinal <> plan.ordinal;
  update ragpg.chunk as kept
     set ordinal = piece.ordinal, prefix = piece.prefix, breadcrumb = piece.breadcrumb,
         start_char = piece.start_char, end_char = piece.end_char, start_line = piece.start_line,
         end_line = piece.end_line, page = piece.page, metadata = piece.metadata,
         embedding_hash = piece.embedding_hash
    from pg_temp.ragpg_stage_plan as plan
    join pg_temp.ragpg_stage_chunk as piece using (source, ordinal)
   where kept.namespace_id = owner and kept.id = plan.chunk_id
     and (kept.ordinal, kept.prefix, kept.breadcrumb, kept.start_char, kept.end_char, kept.start_line, kept.end_line,
          kept.page, kept.metadata, kept.embedding_hash)
         is distinct from (piece.ordinal, piece.prefix, piece.breadcrumb, piece.start_char, piece.end_char, piece.start_line,
          piece.end_line, piece.page, piece.metadata, piece.embedding_hash);
  with added as (
    insert into ragpg.chunk (namespace_id, document_id, ordinal, content, prefix, breadcrumb, start_char, end_char,
                             start_line, end_line, page, metadata, content_hash, embedding_hash)
    select owner, plan.document_id, piece.ordinal, piece.content, piece.prefix, piece.breadcrumb, piece.start_char,
           piece.end_char, piece.start_line, piece.end_line, piece.page, piece.metadata, piece.content_hash, piece.embedding_hash
      from pg_temp.ragpg_stage_plan as plan
      join pg_temp.ragpg_stage_chunk as piece using (source, ordinal)
     where plan.is_new
     order by plan.source, plan.ordinal
    returning chunk.id, chunk.document_id, chunk.ordinal
  )
  update pg_temp.ragpg_stage_plan as plan set chunk_id = added.id
    from added
   where plan.document_id = added.document_id and plan.ordinal = added.ordinal;

  perform ragpg.write_staged_vectors(owner);
  perform ragpg.store_links(owner, changed);

  -- Counted from what was staged: an unchanged document has the chunks that it would get. One
  -- grouping and no join, because temporary tables have no statistics to plan joins by.
  return query
  select counted.source, counted.document_id,
         case when not counted.document_id = any (changed) then 'unchanged'
              when counted.chunks = 0 then 'empty' else 'stored' end,
         counted.chunks, counted.added, counted.embedded
    from (select part.source, sum(part.chunks)::integer as chunks, sum(part.added)::integer as added,
                 sum(part.embedded)::integer as embedded,
                 (select document.id from ragpg.document
                   where document.namespace_id = owner and document.source = part.source) as document_id
            from (select staged.source, 0 as chunks, 0 as added, 0 as embedded
                    from pg_temp.ragpg_stage_document as staged
                   union all
                  select piece.source, 1, 0, 0 from pg_temp.ragpg_stage_chunk as piece
                   union all
                  select plan.source, 0, plan.is_new::integer, coalesce(plan.embedded, false)::integer
                    from pg_temp.ragpg_stage_plan as plan) as part
           group by part.source) as counted
   order by counted.source;
end $$;

comment on function ragpg.store_staged(integer) is
$$Writes the staged documents and their chunks in this transaction; see ragpg.begin_store().

  select * from ragpg.store_staged(ragpg.create_namespace('handbook'));

Returns a row per document: stored, unchanged or empty, with its chunks, and of a stored one how
many of them are new and how many have a vector. Vectors come from ragpg.embedding_cache by embedding_hash.$$;
