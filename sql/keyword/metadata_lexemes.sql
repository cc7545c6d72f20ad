-- Scalar metadata, and scalars in lists, as lexemes that narrow keyword candidates inside the
-- index. They may match too much (numbers and texts of one spelling meet, long values are cut),
-- never too little; every survivor is checked against the metadata itself.
create or replace function ragpg.metadata_lexemes(metadata jsonb)
returns text[]
language sql immutable strict parallel safe
begin atomic
  with scalar as (
    select field.key, item.value
      from jsonb_each(metadata) as field,
           jsonb_array_elements(case jsonb_typeof(field.value) when 'array' then field.value
                                else jsonb_build_array(field.value) end) as item
     where jsonb_typeof(item.value) in ('string', 'number', 'boolean')
     limit 201
  )
  select case when count(*) > 200 then array['@*']
              else coalesce(array_agg(ragpg.metadata_lexeme(scalar.key, scalar.value)), '{}') end
    from scalar;
end;

comment on function ragpg.metadata_lexemes(jsonb) is
$$The '@key=value' lexemes of a chunk's metadata; '@*' alone when there are more than 200 values.

  select ragpg.metadata_lexemes('{"year": 2024, "tags": ["ops", "db"]}');$$;
