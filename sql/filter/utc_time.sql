-- ISO 8601 dates and times, as an instant. Without an offset the time is UTC, whatever the
-- session's time zone. Text of any other shape is null and matches nothing.
create or replace function ragpg.utc_time(value text)
returns timestamptz
language plpgsql immutable strict parallel safe
as $$
begin
  if value !~ '^[0-9]{4}-[0-9]{2}(-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?\s?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?)?$' then
    return null;
  end if;
  value := case when value ~ '^\d{4}-\d\d$' then value || '-01' else value end;
  return case when value ~ '[T ].*(Z|[+-]\d\d(:?\d\d)?)$' then value::timestamptz
              else value::timestamp at time zone 'UTC' end;
exception when data_exception then
  return null;
end $$;

comment on function ragpg.utc_time(text) is
$$An ISO 8601 date or time as an instant, UTC where no offset is given; null for anything else.

  select ragpg.utc_time('2024-03-01'), ragpg.utc_time('2024-03-01T10:00:00+02:00');$$;
