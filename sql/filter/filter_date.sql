create or replace function ragpg.filter_date(key text, operator text, operand jsonb, value text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  moment timestamptz := ragpg.utc_time(operand #>> '{}');
  symbol text := case ltrim(operator, '$')
    when 'gt' then '>' when 'gte' then '>=' when 'lt' then '<' when 'lte' then '<=' when 'eq' then '=' end;
begin
  if symbol is null then
    perform ragpg.filter_error(format('unknown date operator "%s" on "%s"', operator, key));
  elsif jsonb_typeof(operand) <> 'string' or moment is null then
    perform ragpg.filter_error(format('"%s" is no ISO 8601 date (date filter on "%s")', operand #>> '{}', key));
  end if;
  return format('coalesce(ragpg.utc_time((%s) #>> ''{}'') %s %L::timestamptz, false)', value, symbol, moment);
end $$;

comment on function ragpg.filter_date(text, text, jsonb, text) is
$$SQL condition comparing a metadata field as an ISO 8601 time; see ragpg.filter_sql.

  select ragpg.filter_date('when', 'gte', '"2024-01-01"', 'chunk.metadata -> ''when''');$$;
