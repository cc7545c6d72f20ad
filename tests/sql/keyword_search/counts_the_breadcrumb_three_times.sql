begin;
select ragpg.create_namespace('n');
insert into ragpg.document (namespace_id, source) select id, 'x' from ragpg.namespace where name = 'n';
insert into ragpg.chunk (namespace_id, document_id, ordinal, breadcrumb, content, content_hash)
select namespace_id, id, n, crumb, body, n::text::bytea from ragpg.document,
  (values (0, 'Other', 'install the thing here now'), (1, 'Install', 'the thing and one other word')) as given (n, crumb, body);
select ragpg.fold_statistics();
do $$ begin
  assert (select chunk_index from ragpg.keyword_search('install', '{n}') limit 1) = 1;
end $$;
rollback;
