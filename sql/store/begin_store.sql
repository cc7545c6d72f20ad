-- The landing place of an ingest transaction, filled by COPY. It belongs to the session and is
-- emptied here and at commit, so a pooler that hands the session on hands on nothing.
create or replace function ragpg.begin_store()
returns void
language plpgsql
set search_path from current
set client_min_messages = warning
as $$
begin
  -- A large document is stored by one statement of minutes. Without this, that its client has died would
  -- be noticed at the end of it, and whoever takes over would wait as long.
  perform ragpg.end_with_client();
  create temporary table if not exists ragpg_stage_document (
    source       text collate "C" not null,
    title        text not null,
    format       text not null,
    content_hash bytea,
    fingerprint  bytea not null,
    metadata     jsonb not null,
    links        jsonb not null          -- [{"target": ..., "anchor": ...}]
  ) on commit delete rows;
  create temporary table if not exists ragpg_stage_chunk (
    source         text collate "C" not null,
    ordinal        integer not null,
    content        text not null,
    prefix         text not null,
    breadcrumb     text not null,
    start_char     integer,
    end_char       integer,
    start_line     integer,
    end_line       integer,
    page           integer,
    metadata       jsonb not null,
    content_hash   bytea not null,
    embedding_hash bytea
  ) on commit delete rows;
  -- A transaction may store several times.
  if exists (select 1 from pg_temp.ragpg_stage_document) or exists (select 1 from pg_temp.ragpg_stage_chunk) then
    truncate pg_temp.ragpg_stage_document, pg_temp.ragpg_stage_chunk;
  end if;
end $$;

comment on function ragpg.begin_store() is
$$Creates or empties the temporary tables that ragpg.store_staged() reads: ragpg_stage_document and
ragpg_stage_chunk, one row a document and one a chunk.

  begin; select ragpg.begin_store(); copy ragpg_stage_document from stdin; ...

Until the end of the transaction the server looks every 5 seconds whether its client is still there.$$;
