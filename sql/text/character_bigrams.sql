-- Chinese, Japanese, Korean and Thai are written without blanks: pairs of neighbouring characters
-- stand in for words.
create or replace function ragpg.character_bigrams(value text)
returns text
language sql immutable strict parallel safe
begin atomic
  select coalesce(string_agg(
           case when length(run.match[1]) = 1 then run.match[1]
                else (select string_agg(substr(run.match[1], place, 2), ' ')
                        from generate_series(1, length(run.match[1]) - 1) as place)
           end, ' '), '')
    from regexp_matches(
           value, '([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e00-\u0e7f]+)',
           'g') as run (match);
end;

comment on function ragpg.character_bigrams(text) is
$$Pairs of neighbouring characters of the scripts that are written without blanks.

  select ragpg.character_bigrams('数据库');  -- 数据 据库$$;
