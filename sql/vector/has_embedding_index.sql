create or replace function ragpg.has_embedding_index(space_id integer)
returns boolean
language sql stable parallel safe
begin atomic
  select exists (
    select 1
      from pg_catalog.pg_index
      join pg_catalog.pg_class on pg_class.oid = pg_index.indexrelid
      join pg_catalog.pg_am on pg_am.oid = pg_class.relam
     where pg_index.indrelid = to_regclass('ragpg.embedding_' || space_id)
       and pg_am.amname = 'hnsw' and pg_index.indisvalid);
end;

comment on function ragpg.has_embedding_index(integer) is
$$Whether an embedding space has a usable HNSW index.

  select ragpg.has_embedding_index(1);$$;
