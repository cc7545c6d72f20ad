begin;
select ragpg.create_namespace('n');
select ragpg.begin_store();
insert into ragpg_stage_document values ('d', '', 'text', 'x', 'v1', '{}', '[]');
insert into ragpg_stage_chunk (source, ordinal, content, prefix, breadcrumb, metadata, content_hash) values ('d', 0, 'first', '', '', '{}', 'a');
create temp table once on commit drop as select * from ragpg.store_staged((select id from ragpg.namespace where name = 'n'));
create temp table twice on commit drop as select * from ragpg.store_staged((select id from ragpg.namespace where name = 'n'));
do $$ begin
  assert (select outcome from twice) = 'unchanged';
  assert (select version from ragpg.document) = 1;
end $$;
rollback;
