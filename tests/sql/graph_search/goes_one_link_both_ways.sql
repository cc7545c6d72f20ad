begin;
select ragpg.create_namespace('n');
insert into ragpg.document (namespace_id, source) select id, s from ragpg.namespace, unnest('{a,b,c,d}'::text[]) as s where name = 'n';
insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)
select namespace_id, id, 0, source, 'x' from ragpg.document;
insert into ragpg.link (namespace_id, document_id, target)
select f.namespace_id, f.id, t.source from ragpg.document f join ragpg.document t on (f.source, t.source) in (('a', 'b'), ('c', 'a'), ('b', 'd'));
do $$ begin
  assert (select array_agg(source order by rank) from ragpg.graph_search(
    array(select id from ragpg.chunk where content = 'a'), '{n}')) = '{b,c}';
end $$;
rollback;
