create or replace function ragpg.phrase_words(key text)
returns text[]
language sql immutable strict parallel safe
return string_to_array(trim(regexp_replace(key collate "C", '[^a-z0-9]+', ' ', 'g')), ' ');

comment on function ragpg.phrase_words(text) is
$$The words of a key that are of ASCII letters and digits, which is how texts are searched for it.

  select ragpg.phrase_words('gtk_window: the api');  -- {gtk,window,the,api}$$;
