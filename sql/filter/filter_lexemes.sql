-- The part of a filter that the keyword index can answer: equality with scalars at the top level.
create or replace function ragpg.filter_lexemes(filter jsonb)
returns tsquery
language sql immutable parallel safe
begin atomic
  select string_agg(
           '(' || ragpg.quote_lexeme(ragpg.metadata_lexeme(field.key, field.operand)) || '|''@*'')', '&'
           order by field.key)::tsquery
    from (select entry.key, case when jsonb_typeof(entry.value) = 'object'
                                 then coalesce(entry.value -> 'eq', entry.value -> '$eq')
                                 else entry.value end as operand
            from jsonb_each(case when jsonb_typeof(filter) = 'object' then filter else '{}' end) as entry
           where entry.key !~ '^[/@]' and entry.key not in ('and', 'or', 'not', '$and', '$or', '$not')) as field
   where jsonb_typeof(field.operand) in ('string', 'number', 'boolean');
end;

comment on function ragpg.filter_lexemes(jsonb) is
$$The lexemes that a chunk must hold to pass a filter, or null: a necessary condition, not the whole.

  select ragpg.filter_lexemes('{"year": 2024}');$$;
