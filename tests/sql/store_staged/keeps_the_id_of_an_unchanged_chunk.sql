begin;
select ragpg.create_namespace('n');
select ragpg.begin_store();
insert into ragpg_stage_document values ('d', '', 'text', 'x', 'v1', '{}', '[]');
insert into ragpg_stage_chunk (source, ordinal, content, prefix, breadcrumb, metadata, content_hash)
values ('d', 0, 'first', '', '', '{}', 'a'), ('d', 1, 'second', '', '', '{}', 'b');
create temp table before on commit drop as select * from ragpg.store_staged((select id from ragpg.namespace where name = 'n'));
create temp table ids on commit drop as select content, id from ragpg.chunk;
truncate ragpg_stage_document, ragpg_stage_chunk;
-- The two swap places, one is new between them.
insert into ragpg_stage_document values ('d', '', 'text', 'x', 'v2', '{}', '[]');
insert into ragpg_stage_chunk (source, ordinal, content, prefix, breadcrumb, metadata, content_hash)
values ('d', 0, 'second', '', '', '{}', 'b'), ('d', 1, 'new', '', '', '{}', 'c'), ('d', 2, 'first', '', '', '{}', 'a');
create temp table after on commit drop as select * from ragpg.store_staged((select id from ragpg.namespace where name = 'n'));
do $$ begin
  assert (select (outcome, chunks, new_chunks) = ('stored', 3, 1) from after);
  assert (select array_agg(content order by ordinal) from ragpg.chunk) = '{second,new,first}';
  assert not exists (select 1 from ids join ragpg.chunk using (content) where ids.id <> chunk.id);
  assert (select version from ragpg.document) = 2;
end $$;
rollback;
