begin;
select ragpg.create_namespace('known');
insert into ragpg.document (namespace_id, source)
select id, source from ragpg.namespace, unnest('{pump,copy-1,copy-2,short}'::text[]) as source where name = 'known';
insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash, start_char, end_char)
select document.namespace_id, document.id, 0, given.content, sha256(given.content::bytea), 0, length(given.content)
  from ragpg.document
  join (values
         ('pump', 'The gasket of the pump was replaced, and replaced again, after the storm had flooded every workshop of the harbour and its office.'),
         ('copy-1', 'Copied boilerplate that stands in more than one place of this small corpus, and which nobody can be expected to find by its words.'),
         ('copy-2', 'Copied boilerplate that stands in more than one place of this small corpus, and which nobody can be expected to find by its words.'),
         ('short', 'Short.')) as given (source, content) on given.source = document.source;
do $$
declare
  found record;
begin
  select * into strict found from ragpg.known_items('known');
  assert found.source = 'pump', found.source;
  assert found.terms[1] = 'replaced', 'the word that occurs twice comes first: ' || found.terms::text;
  assert not found.terms && '{the,and,of,was}', 'stop words tell nothing: ' || found.terms::text;
  assert cardinality(found.terms) = cardinality(found.documents);
  assert substr(found.content, found.start_char + 1, 10) = 'The gasket';
  assert (select count(*) from ragpg.known_items('known', seed => 7)) = 1;
end $$;
rollback;
