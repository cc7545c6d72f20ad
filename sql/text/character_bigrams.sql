-- Chinese, Japanese, Korean and Thai are written without blanks: pairs of neighbouring characters
-- stand in for words.
create or replace function ragpg.character_bigrams(value text)
returns text
language sql immutable strict parallel safe
begin atomic
  -- Neighbours meet in a window: substr() would count from the start of a run for every pair.
  select coalesce(string_agg(letter.letter || letter.following, ' ' order by letter.run, letter.place), '')
    from (select run.number as run, part.place, part.letter,
                 -- A letter that stands alone is kept as it is.
                 coalesce(lead(part.letter) over (partition by run.number order by part.place),
                          case when part.place = 1 then '' end) as following
            from regexp_matches(
                   value, '([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e00-\u0e7f]+)',
                   'g') with ordinality as run (match, number),
                 string_to_table(run.match[1], null) with ordinality as part (letter, place)) as letter;
end;

comment on function ragpg.character_bigrams(text) is
$$Pairs of neighbouring characters of the scripts that are written without blanks.

  select ragpg.character_bigrams('数据库');  -- 数据 据库$$;
