-- agtype has integers of 64 bits and doubles: a document whose metadata hold a longer number has
-- them as text instead.
create or replace function ragpg.cypher_metadata(metadata jsonb)
returns jsonb
language sql immutable parallel safe
begin atomic
  select case
    when metadata::text ~ '[0-9]{17}'
     and regexp_replace(metadata::text, '"(?:[^"\\]|\\.)*"', '', 'g') ~ '[0-9]{17}'
    then to_jsonb(metadata::text)
    else metadata
  end;
end;

comment on function ragpg.cypher_metadata(jsonb) is
$$Metadata of a document as a property of its vertex.

  select ragpg.cypher_metadata('{"year": 2024}');$$;
