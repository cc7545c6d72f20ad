-- agtype as it prints itself, without the marks ::vertex, ::edge, ::path and ::numeric outside of
-- strings; numbers that JSON lacks become null.
create or replace function ragpg.cypher_value(printed text)
returns jsonb
language sql immutable parallel safe
begin atomic
  select case
    when printed ~ '::|Infinity|NaN' then
      regexp_replace(
        regexp_replace(printed, '("(?:[^"\\]|\\.)*")|::(?:vertex|edge|path|numeric)', '\1', 'g'),
        '("(?:[^"\\]|\\.)*")|-?Infinity|NaN', '\1', 'g')
    else printed
  end::jsonb;
end;

comment on function ragpg.cypher_value(text) is
$$The jsonb of a printed agtype.

  select ragpg.cypher_value('{"id": 1, "label": "Document", "properties": {}}::vertex');$$;
