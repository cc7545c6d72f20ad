-- Words whose punctuation is their meaning: C++, C#, .NET, -O2, --dry-run, 5.6.1.
create or replace function ragpg.special_words(value text)
returns tsvector
language sql immutable strict parallel safe
begin atomic
  select coalesce(array_to_tsvector(array_agg(distinct lower(found.match[1] collate pg_c_utf8))), ''::tsvector)
    from regexp_matches(
           value collate pg_c_utf8,
           '(?:^|(?<=[^[:alnum:]]))([A-Za-z](?:\+\+|#)(?![[:alnum:]])|(?<![[:alnum:].)\]])\.[A-Za-z][A-Za-z0-9]+|(?<![[:alnum:]-])--?[A-Za-z][A-Za-z0-9-]*|[0-9]+(?:\.[0-9]+){2,}(?![[:alnum:]]))',
           'g') as found (match)
   -- Longer than a lexeme can be; keyword search keeps no word above 200 bytes.
   where octet_length(found.match[1]) <= 200;
end;

comment on function ragpg.special_words(text) is
$$Words that are found as typed, punctuation included: C++, F#, .NET, -O2, --dry-run, 5.6.1.

  select ragpg.special_words('gcc -O2 for C++');  -- '-o2' 'c++'$$;
