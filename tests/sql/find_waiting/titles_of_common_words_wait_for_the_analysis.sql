begin;
select ragpg.create_namespace('common');
insert into ragpg.document (namespace_id, source) select id, 'story' from ragpg.namespace where name = 'common';
insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)
select namespace_id, id, n, 'Then the Old Mill turned, as old mills do, ' || n || ' times.', ''
  from ragpg.document, generate_series(1, 260) as n;
select ragpg.fold_statistics();
insert into ragpg.document (namespace_id, source, title)
select namespace_id, given.title, given.title from ragpg.document, (values ('The Old Mill'), ('90 times')) as given (title);
do $$ begin
  assert (select titles_waiting from ragpg.graph_status('{common}')) = 2, 'with its article and without';
  assert (select count(*) from ragpg.mention) = 1, 'rare titles do not wait';
end $$;
-- What comes later asks for it at once.
insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)
select namespace_id, id, 0, 'An Old Mill.', '' from ragpg.document where source = 'story';
do $$ begin
  assert (select count(*) from ragpg.mention) = 2;
  perform ragpg.analyse_graph('common');
  assert (select count(*) from ragpg.mention) = 1 + 261 + 260, 'the article is written in all but the last';
  assert (select titles_waiting from ragpg.graph_status('{common}')) = 0;
end $$;
rollback;
