-- A lexeme in the notation of tsquery, whatever characters it holds.
create or replace function ragpg.quote_lexeme(lexeme text)
returns text
language sql immutable strict parallel safe
return '''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''';

comment on function ragpg.quote_lexeme(text) is
$$A lexeme quoted for tsquery.

  select ragpg.quote_lexeme('it''s')::tsquery;$$;
