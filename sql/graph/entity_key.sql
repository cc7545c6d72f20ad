-- The name as names are compared: one spelling, small letters, and where a name is made of words,
-- the words alone. Names with other signs in them keep every sign: C++ is not C. Long names end in
-- their digest, because an index holds 2,704 bytes.
create or replace function ragpg.entity_key(name text)
returns text
language sql immutable strict parallel safe
begin atomic
  select case when octet_length(plain.key) <= 400 then plain.key
              else left(plain.key, 60) || '#' || md5(plain.key) end
    from (select trim(regexp_replace(
                   case when folded.name ~ '^[[:alnum:][:space:].,()’''-]*[[:alnum:]][[:alnum:][:space:].,()’''-]*$'
                        then regexp_replace(folded.name, '[^[:alnum:]]+', ' ', 'g') else folded.name end,
                   '[[:space:]]+', ' ', 'g')) as key
            from (select lower(ragpg.fold_text(name) collate pg_c_utf8) as name offset 0) as folded
          offset 0) as plain;
end;

comment on function ragpg.entity_key(text) is
$$The key by which an entity is known: two names with one key are one entity.

  select ragpg.entity_key('John F. Kennedy');  -- john f kennedy

Empty for a blank name, which is no name.$$;
