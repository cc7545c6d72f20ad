-- Identifiers cut into their words: camelCase, snake_case, paths and versions. The collation says
-- what a letter is: that of a database may know ASCII alone, and then words of all other scripts
-- would be taken for punctuation.
create or replace function ragpg.split_words(value text)
returns text
language sql immutable strict parallel safe
return regexp_replace(
  regexp_replace(
    regexp_replace(value collate pg_c_utf8, '([a-z0-9])([A-Z])', '\1 \2', 'g'),
    '([A-Z]+)([A-Z][a-z])', '\1 \2', 'g'),
  '[^[:alnum:]]+', ' ', 'g');

comment on function ragpg.split_words(text) is
$$Identifiers, paths and versions cut into their words.

  select ragpg.split_words('getUserById in /etc/nginx/nginx.conf');  -- get User By Id in etc nginx nginx conf$$;
