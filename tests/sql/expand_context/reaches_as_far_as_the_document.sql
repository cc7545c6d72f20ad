begin;
select ragpg.create_namespace('wide');
do $$
declare
  owner integer;
begin
  select id into owner from ragpg.namespace where name = 'wide';
  insert into ragpg.document (namespace_id, source, content_hash) values (owner, 'a.md', '\x00');
  insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash, start_char, end_char, start_line, end_line)
    select owner, document.id, place, 'abc ', decode(md5(place::text), 'hex'), place * 4, place * 4 + 4, 1, 1
      from ragpg.document, generate_series(0, 3) as place where document.namespace_id = owner;
  assert (select length(run.content) from ragpg.chunk,
            lateral ragpg.stitch_chunks('{wide}', array[chunk.id], radius => 2147483647) as run
           where chunk.namespace_id = owner and chunk.ordinal = 1) = 16;
  assert (select count(*) from ragpg.chunk, lateral ragpg.neighbors('wide', chunk.id, radius => 2147483647)
           where chunk.namespace_id = owner and chunk.ordinal = 1) = 4;
end $$;
rollback;
