create or replace function ragpg.filter_error(message text)
returns void
language plpgsql immutable parallel safe
as $$
begin
  -- A list of thousands of values would bury what is wrong with it.
  raise exception 'filter: %', case when length(message) > 300 then left(message, 300) || ' ...' else message end using errcode = 'RG003',
    hint = 'Operators: eq, ne, gt, gte, lt, lte, in, not_in, contains, contains_any, contains_all, exists, starts_with, date; combine with and, or, not.';
end $$;

comment on function ragpg.filter_error(text) is
$$Raises RG003 with the list of operators as a hint.

  select ragpg.filter_error('unknown operator "like"');$$;
