-- Where a lexeme lives in a BM25 vector. hashtext() keeps its values across major versions: hash
-- indexes and hash partitions that pg_upgrade carries over depend on it.
create or replace function ragpg.lexeme_slot(lexeme text)
returns integer
language sql immutable strict parallel safe
return (hashtext(lexeme) & 536870911) + 1;

comment on function ragpg.lexeme_slot(text) is
$$Index of a lexeme in a BM25 sparse vector, 1 to 2^29.

  select ragpg.lexeme_slot('postgr');$$;
