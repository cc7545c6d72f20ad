begin;
select ragpg.create_namespace('n', space_id => ragpg.create_embedding_space('similarity test', 2));
insert into ragpg.document (namespace_id, source) select id, 'a' from ragpg.namespace where name = 'n';
insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)
select namespace_id, id, o, 'text', 'x' from ragpg.document, generate_series(0, 3) as o;
do $$
declare
  chunks bigint[] := array(select id from ragpg.chunk order by ordinal);
  found jsonb;
begin
  -- The fourth chunk has no vector; lengths do not matter.
  execute format('insert into ragpg.embedding_%s (namespace_id, chunk_id, embedding)
    select namespace_id, id, (array[''[3,0]'', ''[1,0]'', ''[0,2]''])[ordinal + 1]::halfvec from ragpg.chunk where ordinal < 3',
    (select space_id from ragpg.namespace where name = 'n'));
  select jsonb_agg(jsonb_build_array(first, second, round(similarity::numeric, 2)) order by first, second) into found
    from ragpg.similarities(array_fill('n'::text, array[4]), chunks);
  assert found = '[[1,2,1.00],[1,3,0.00],[2,3,0.00]]', found::text;
  assert not exists (select 1 from ragpg.similarities('{nowhere,n}', '{1,2}'));
end $$;
rollback;
