begin;
select ragpg.create_namespace('n');
insert into ragpg.document (namespace_id, source) select id, 'x' from ragpg.namespace where name = 'n';
insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)
select namespace_id, id, n, 'apple pear' || n, 'x' from ragpg.document, generate_series(0, 9) as n;
update ragpg.chunk set content = 'plum' where ordinal < 3;
delete from ragpg.chunk where ordinal > 6;
select ragpg.fold_statistics();
do $$ begin
  assert (select documents from ragpg.lexeme_statistics where lexeme = 'appl') = 4;
  assert (select documents from ragpg.lexeme_statistics where lexeme = 'plum') = 3;
  assert (select chunks from ragpg.namespace_statistics) = 7;
end $$;
rollback;
