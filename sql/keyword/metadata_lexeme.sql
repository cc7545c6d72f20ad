-- Numbers lose their scale: 10 and 10.0 are equal and must meet.
create or replace function ragpg.metadata_lexeme(key text, value jsonb)
returns text
language sql immutable strict parallel safe
return '@' || left(key, 60) || '='
       || left(case jsonb_typeof(value) when 'number' then trim_scale((value #>> '{}')::numeric)::text
               else value #>> '{}' end, 120);

comment on function ragpg.metadata_lexeme(text, jsonb) is
$$The lexeme of one scalar of metadata.

  select ragpg.metadata_lexeme('year', '2024.0');  -- @year=2024$$;
