-- For the roles ragpg_reader and ragpg_writer, where an administrator has created them. Functions
-- that run with the owner's rights, because they make tables and indexes or prune what all share,
-- are for writers only.
do $$
begin
  revoke execute on function ragpg.create_embedding_space(text, integer, text),
                             ragpg.create_embedding_index(integer, integer, integer),
                             ragpg.drop_embedding_space(text, integer),
                             ragpg.create_sentence_space(integer),
                             ragpg.prune_embedding_cache(interval, integer) from public;
  if exists (select 1 from pg_catalog.pg_roles where pg_roles.rolname = 'ragpg_reader') then
    grant usage on schema ragpg to ragpg_reader;
    grant select on all tables in schema ragpg to ragpg_reader;
    grant execute on all functions in schema ragpg to ragpg_reader;
    revoke execute on function ragpg.create_embedding_space(text, integer, text),
                               ragpg.create_embedding_index(integer, integer, integer),
                               ragpg.drop_embedding_space(text, integer),
                               ragpg.create_sentence_space(integer),
                               ragpg.prune_embedding_cache(interval, integer) from ragpg_reader;
    -- Vectors of all tenants by the hash of their text: no search reads them, and much of a text can
    -- be guessed from its vector.
    revoke select on ragpg.embedding_cache, ragpg.embedding_claim, ragpg.embedding_unused from ragpg_reader;
  end if;
  if exists (select 1 from pg_catalog.pg_roles where pg_roles.rolname = 'ragpg_writer') then
    grant usage on schema ragpg to ragpg_writer;
    grant select, insert, update, delete on all tables in schema ragpg to ragpg_writer;
    -- What is in the cache stays as it is: a writer cannot spoil the vectors of others.
    revoke update, delete on ragpg.embedding_cache from ragpg_writer;
    revoke insert, update, delete on ragpg.install, ragpg.embedding_space, ragpg.namespace_access, ragpg.namespace_write from ragpg_writer;
    if to_regclass('ragpg.alembic_version') is not null then
      revoke insert, update, delete on ragpg.alembic_version from ragpg_writer;
    end if;
    grant execute on all functions in schema ragpg to ragpg_writer;
  end if;
end $$;
