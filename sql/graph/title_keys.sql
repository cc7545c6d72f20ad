-- What others may call a document by its title: without a remark in brackets, without an article.
-- Longer titles are sentences, which nobody quotes.
create or replace function ragpg.title_keys(title text)
returns setof text
language sql immutable strict parallel safe
begin atomic
  select key from (
  select distinct ragpg.entity_key(variant.name) as key
    from (select regexp_replace(left(title, 300), '\s*\([^()]*\)', '', 'g') as name offset 0) as plain,
         lateral (values (plain.name), (regexp_replace(plain.name, '^\s*(?:the|a|an)\s+', '', 'i'))) as variant (name)
   where octet_length(variant.name) <= 120 and variant.name ~ '[[:alnum:]]{2}' and variant.name !~ '(?:\s\S+){8}'
  ) as named
   -- A sign that stands alone, as in "Guide > Install", is no part of a name.
   where key !~ '(^| )[^[:alnum:]& ]+( |$)' collate pg_c_utf8;
end;

comment on function ragpg.title_keys(text) is
$$The keys of the entities that a document of this title is about.

  select ragpg.title_keys('The Birds (film)');  -- birds, the birds$$;
