begin;
select ragpg.create_namespace('shelf');
insert into ragpg.document (namespace_id, source)
select id, source from ragpg.namespace, unnest('{b,a,c}'::text[]) as source where name = 'shelf';
insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash, metadata)
select document.namespace_id, document.id, part, format('%s%s', document.source, part), sha256(document.source::bytea),
       jsonb_build_object('part', part)
  from ragpg.document, generate_series(1, 0, -1) as part;
do $$
declare
  own text[];
begin
  select array_agg(content order by rank) into own from ragpg.document_chunks('shelf');
  assert own = '{a0,a1,b0,b1,c0,c1}', own::text;
  select array_agg(content order by rank) into own from ragpg.document_chunks('shelf', '{c,a,nobody}');
  assert own = '{a0,a1,c0,c1}', own::text;
  select array_agg(content order by rank) into own from ragpg.document_chunks('shelf', filter => '{"part": 1}', k => 2);
  assert own = '{a1,b1}', own::text;
  assert not exists (select from ragpg.document_chunks('shelf', '{}')), 'nothing named, nothing read';
  begin
    perform ragpg.document_chunks('nowhere');
    raise exception 'not refused';
  exception when sqlstate 'RG001' then null; end;
  begin
    perform ragpg.document_chunks('shelf', filter => '{"part": {"is": 1}}');
    raise exception 'not refused';
  exception when sqlstate 'RG003' then null; end;
end $$;
rollback;
