-- Plain string search, because to compile a pattern for every name takes a hundred times as long. A
-- single word must be written with a capital or a digit, or belong to a script without capitals:
-- "refund" is no name where "Refund" is a title.
create or replace function ragpg.is_named(folded text, key text)
returns boolean
language plpgsql immutable strict parallel safe
as $$
declare
  rest text := folded collate pg_c_utf8;
  size constant integer := length(key);
  before text := ' ';
  place integer;
begin
  if size = 0 then
    return false;
  end if;
  if strpos(key, ' ') = 0 and key ~ '[[:lower:]]' collate pg_c_utf8 then
    rest := replace(rest, key, E'\x01');
  end if;
  rest := lower(rest collate pg_c_utf8);
  for attempt in 1..2 loop
    loop
      place := strpos(rest, key);
      exit when place = 0;
      if substr(rest, place + size, 1) !~ '[[:alnum:]]'
         and (case when place = 1 then before else substr(rest, place - 1, 1) end) !~ '[[:alnum:]]' then
        return true;
      end if;
      before := substr(rest, place + size - 1, 1);
      rest := substr(rest, place + size);
    end loop;
    exit when attempt = 2 or strpos(key, ' ') = 0 or key ~ '[^[:alnum:] ]' collate pg_c_utf8;
    -- Once more with blanks for what may stand between the words of a name.
    rest := lower(folded collate pg_c_utf8);
    rest := replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
      rest, E'\n', ' '), E'\t', ' '), '.', ' '), ',', ' '), '-', ' '), '''', ' '), '’', ' '), '(', ' '), ')', ' '), '  ', ' '), '  ', ' ');
    before := ' ';
  end loop;
  return false;
end $$;

comment on function ragpg.is_named(text, text) is
$$Whether a text names the entity of a key: whole words, in a row.

  select ragpg.is_named(ragpg.fold_text('Ask John F. Kennedy.'), 'john f kennedy');  -- true$$;
