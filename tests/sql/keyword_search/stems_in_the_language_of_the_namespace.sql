begin;
select ragpg.create_namespace('de', language => 'german');
insert into ragpg.document (namespace_id, source) select id, 'x' from ragpg.namespace where name = 'de';
insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)
select namespace_id, id, 0, 'Die Häuser am Fluss', 'x' from ragpg.document;
select ragpg.fold_statistics();
do $$ begin
  assert (select count(*) from ragpg.keyword_search('Haus', '{de}')) = 1;
  assert (select count(*) from ragpg.keyword_search('die am', '{de}')) = 0, 'stop words';
end $$;
rollback;
