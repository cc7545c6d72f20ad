begin;
select ragpg.create_namespace('n');
insert into ragpg.document (namespace_id, source) select id, s from ragpg.namespace, unnest('{a,b}'::text[]) as s where name = 'n';
-- "one two" and "two three" overlap, two line ends stand before "four", far behind comes "five".
insert into ragpg.chunk (namespace_id, document_id, ordinal, content, start_char, end_char, start_line, end_line, content_hash)
select document.namespace_id, document.id, c.*
  from ragpg.document, (values (0, 'one two', 0, 7, 1, 1, 'x'::bytea), (1, 'two three', 4, 13, 1, 1, 'y'), (2, 'four', 15, 19, 3, 3, 'z'),
    (3, 'five', 90, 94, 9, 9, 'w')) as c
 where document.source = 'a';
do $$
declare
  chunks bigint[] := array(select id from ragpg.chunk order by ordinal);
  hits ragpg.hit[];
  wide ragpg.hit;
begin
  assert (select array_agg(distance order by distance) from ragpg.neighbors('n', chunks[2])) = '{-1,0,1}';
  hits := array(select hit from ragpg.hits(array[
    row('x', (select namespace_id from ragpg.chunk limit 1), chunks[2], 1, 0.9, null, 1)::ragpg.arm_hit,
    row('x', (select namespace_id from ragpg.chunk limit 1), chunks[1], 2, 0.5, null, 1)::ragpg.arm_hit,
    row('x', (select namespace_id from ragpg.chunk limit 1), chunks[4], 3, 0.1, null, 1)::ragpg.arm_hit]) as hit);
  assert cardinality(hits) = 3;
  assert (select count(*) from ragpg.expand_context(hits, 1)) = 2;
  select * into wide from ragpg.expand_context(hits, 1) limit 1;
  assert (wide).content = E'one two three\n\nfour', (wide).content;
  assert ((wide).start_char, (wide).end_char, (wide).start_line, (wide).end_line, (wide).chunk_id, (wide).score)
    = (0, 19, 1, 3, chunks[2], 0.9);
  -- Radius 0 joins what adjoins and adds nothing.
  assert (select array_agg(content order by rank) from ragpg.expand_context(hits, 0)) = '{one two three,five}';
  -- A document that changed meanwhile: the hit stays as it was found.
  update ragpg.document set version = 2 where source = 'a';
  assert (select array_agg(content order by rank) from ragpg.expand_context(hits, 1)) = '{two three,one two,five}';
end $$;
rollback;
