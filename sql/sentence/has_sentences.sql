create or replace function ragpg.has_sentences(namespace text)
returns boolean
language plpgsql stable
set search_path from current
as $$
declare
  owner integer := (ragpg.namespace_ids(array[has_sentences.namespace]))[1];
  space integer := (select namespace.space_id from ragpg.namespace where namespace.id = owner);
  found boolean := false;
begin
  if space is not null and to_regclass(format('ragpg.sentence_%s', space)) is not null then
    execute format('select exists (select from ragpg.sentence_%s as sentences where sentences.namespace_id = $1)', space)
      into found using owner;
  end if;
  return found;
end $$;

comment on function ragpg.has_sentences(text) is
$$Whether a namespace has sentence vectors in its embedding space; ingestion then keeps them complete.

  select ragpg.has_sentences('handbook');$$;
