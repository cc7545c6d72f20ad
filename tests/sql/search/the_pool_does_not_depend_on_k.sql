begin;
select ragpg.create_namespace('n');
insert into ragpg.document (namespace_id, source) select id, 'x' from ragpg.namespace where name = 'n';
insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)
select namespace_id, id, n, 'apple ' || repeat('pear ', n), 'x' from ragpg.document, generate_series(0, 80) as n;
select ragpg.fold_statistics();
do $$ begin
  assert (select array_agg(chunk_id order by rank) from ragpg.search('apple', namespaces => '{n}', k => 5))
    = (select (array_agg(chunk_id order by rank))[:5] from ragpg.search('apple', namespaces => '{n}', k => 40));
  assert (select count(*) from ragpg.search('apple', namespaces => '{n}', k => 200)) = 81, 'k widens the pool';
end $$;
rollback;
