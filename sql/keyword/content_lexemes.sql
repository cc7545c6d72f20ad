create or replace function ragpg.content_lexemes(config regconfig, content text)
returns tsvector
language sql immutable parallel safe
return ragpg.lexemes(config, left(content, case
         when octet_length(content) <= 200000 then 200000
         -- As many characters as 200,000 bytes hold: a tsvector takes 1 MB.
         else (200000::bigint * length(content) / octet_length(content))::integer end));

comment on function ragpg.content_lexemes(regconfig, text) is
$$The search terms of a chunk's text, of its first 200,000 bytes; the second part of ragpg.keyword_row().

  select ragpg.content_lexemes('english', 'Run make.');$$;
