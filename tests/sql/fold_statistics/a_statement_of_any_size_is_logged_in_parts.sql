begin;
select ragpg.create_namespace('n');
insert into ragpg.document (namespace_id, source) select id, 'x' from ragpg.namespace where name = 'n';
insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)
select namespace_id, id, n, 'apple', 'x' from ragpg.document, generate_series(1, 5000) as n;
do $$ begin
  assert (select count(*) from ragpg.keyword_log) = 3, 'parts';
  assert (select max(chunks) from ragpg.keyword_log) <= 2000;
  assert ragpg.fold_statistics(max_chunks => 1) = 1, 'one part at least';
  assert ragpg.fold_statistics() = 2;
  assert ragpg.fold_statistics() = 0;
  assert (select documents from ragpg.lexeme_statistics where lexeme = 'appl') = 5000;
end $$;
rollback;
