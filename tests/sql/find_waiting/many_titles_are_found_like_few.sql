begin;
do $$
declare
  owner constant integer := ragpg.create_namespace('many');
  few constant integer := 7;
begin
  insert into ragpg.document (namespace_id, source, title)
  select owner, 'd' || n, (array['The Mill', 'Node.js', 'Żółw', 'gtk_window', 'Большой театр', 'C++ and Go', 'new york times book review of books'])[1 + n % few] || ' ' || n
    from generate_series(1, 350) as n;
  insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)
  select document.namespace_id, other.id, row_number() over (partition by other.id order by document.id), 'See ' || document.title || ', and more.', ''
    from ragpg.document
    join ragpg.document as other on other.namespace_id = owner and other.id % 20 = 0
   where document.namespace_id = owner;
  create temporary table found on commit drop as select chunk_id, entity_id from ragpg.mention where namespace_id = owner;
  assert (select count(distinct entity_id) from found) > 350, 'every title is found in a new chunk';

  delete from ragpg.mention where namespace_id = owner;
  perform ragpg.find_mentions(owner, array(select entity_id from ragpg.phrase where namespace_id = owner));
  assert not exists (select chunk_id, entity_id from ragpg.mention where namespace_id = owner except select * from found);
  assert (select count(*) from ragpg.mention where namespace_id = owner) = (select count(*) from found), 'a title finds the same chunks';

  delete from ragpg.mention where namespace_id = owner;
  perform ragpg.find_few_titles(owner, array(select id from ragpg.chunk where namespace_id = owner),
                                array(select entity_id from ragpg.phrase where namespace_id = owner));
  assert not exists (select chunk_id, entity_id from ragpg.mention where namespace_id = owner except select * from found);
  assert (select count(*) from ragpg.mention where namespace_id = owner) = (select count(*) from found), 'few titles find the same chunks';

  delete from ragpg.mention where namespace_id = owner;
  update ragpg.phrase set waits = true where namespace_id = owner;
  assert ragpg.find_waiting(owner) = (select count(*) from found), 'so do titles that have waited';
end $$;
rollback;
