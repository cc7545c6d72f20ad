-- Each identifier once more as one word, without its punctuation, so that the exact one outranks
-- scattered parts.
create or replace function ragpg.whole_identifiers(value text)
returns text
language sql immutable strict parallel safe
begin atomic
  select coalesce(string_agg(lower(regexp_replace(found.match[1] collate pg_c_utf8, '[^[:alnum:]]+', '', 'g')), ' '), '')
    from regexp_matches(
           value collate pg_c_utf8,
           '([[:alpha:]][[:alnum:]]*(?:(?:[_.:/\\@-]+|(?<=[a-z])(?=[A-Z]))[[:alnum:]]+)+)',
           'g') as found (match);
end;

comment on function ragpg.whole_identifiers(text) is
$$Identifiers, paths, host names and addresses of a text, each as one lower-case word.

  select ragpg.whole_identifiers('foo_bar.baz() at support@example.com');  -- foobarbaz supportexamplecom$$;
