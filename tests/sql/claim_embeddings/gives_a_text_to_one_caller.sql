begin;
do $$
declare space integer := ragpg.create_embedding_space('claims', 2);
begin
  assert (select state from ragpg.claim_embeddings(space, array['a'::bytea])) = 'claimed';
  assert (select state from ragpg.claim_embeddings(space, array['a'::bytea])) = 'busy';
  perform ragpg.cache_embeddings(space, array['a'::bytea], '{"[1,2]"}');
  assert (select state from ragpg.claim_embeddings(space, array['a'::bytea])) = 'cached';
  assert (select state from ragpg.claim_embeddings(space, array['b'::bytea], '-1 second')) = 'claimed';
  assert (select state from ragpg.claim_embeddings(space, array['b'::bytea])) = 'claimed', 'a lapsed claim';
  begin
    perform ragpg.cache_embeddings(space, array['c'::bytea], '{"[1,2,3]"}');
    raise exception 'not refused';
  exception when sqlstate 'RG002' then null; end;
end $$;
rollback;
