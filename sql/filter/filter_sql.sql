-- JSON in, SQL condition out. What is not understood is refused, never ignored.
create or replace function ragpg.filter_sql(filter jsonb, chunk text default 'chunk', depth integer default 0)
returns text
language plpgsql immutable parallel safe
as $$
declare
  entry record;
  conditions text[] := '{}';
begin
  if filter is null or (filter = '{}' and depth = 0) then
    return 'true';
  elsif jsonb_typeof(filter) <> 'object' or filter = '{}' then
    perform ragpg.filter_error(format('expected an object with conditions, got %s', filter));
  elsif depth > 30 then
    perform ragpg.filter_error('nested deeper than 30 levels');
  end if;
  for entry in select * from jsonb_each(filter) as field order by field.key loop
    case
      when entry.key in ('and', '$and', 'or', '$or') then
        if jsonb_typeof(entry.value) <> 'array' or entry.value = '[]' then
          perform ragpg.filter_error(format('"%s" needs a list of conditions, got %s', entry.key, entry.value));
        end if;
        conditions := conditions || (
          select '(' || string_agg(ragpg.filter_sql(item, chunk, depth + 1), format(' %s ', ltrim(entry.key, '$'))) || ')'
            from jsonb_array_elements(entry.value) as item);
      when entry.key in ('not', '$not') then
        conditions := conditions || format('not (%s)', ragpg.filter_sql(entry.value, chunk, depth + 1));
      when jsonb_typeof(entry.value) = 'object' then
        if entry.value = '{}' then
          perform ragpg.filter_error(format('no operator on "%s"', entry.key));
        end if;
        conditions := conditions || (
          select array_agg(ragpg.filter_field(entry.key, condition.key, condition.value, chunk) order by condition.key)
            from jsonb_each(entry.value) as condition);
      when jsonb_typeof(entry.value) = 'array' then
        perform ragpg.filter_error(format(
          'a bare list on "%s" could mean several things: write {"in": [...]}, {"eq": [...]} or {"contains_any": [...]}', entry.key));
      else
        conditions := conditions || ragpg.filter_field(entry.key, 'eq', entry.value, chunk);
    end case;
  end loop;
  return '(' || array_to_string(conditions, ' and ') || ')';
end $$;

comment on function ragpg.filter_sql(jsonb, text, integer) is
$$The SQL condition that a metadata filter stands for.

  select ragpg.filter_sql('{"year": {"gte": 2023}, "tags": {"contains": "ops"}}');

{"lang": "en"}                      equal; of a list: one of its items is
{"lang": {"ne": "en"}}              not equal, or not there; always the opposite of eq
{"year": {"gte": 2020, "lt": 2024}} gt, gte, lt, lte: numbers with numbers, texts with texts
{"lang": {"in": ["en", "fr"]}}      in, not_in; in [] matches nothing
{"tags": {"contains": "db"}}        contains, contains_any, contains_all: the field is a list
{"draft": {"exists": false}}        the key is there, whatever its value
{"path": {"starts_with": "docs/"}}
{"when": {"date": {"gte": "2024-01-01", "lt": "2025-01-01"}}}   ISO 8601; UTC where no offset is given
{"/author/name": "x"}               a JSON pointer (RFC 6901) reaches into nested metadata
{"@source": "guide.md"}             also @title ("" where there is none), @format, @page
{"or": [{"a": 1}, {"not": {"b": 2}}]}   and, or, not; a leading $ is allowed on operators

A text never equals or exceeds a number: {"code": "7"} and {"code": 7} are different filters.
null equals null and a missing key. Names with a leading / @ or $ are reached by a pointer: "/$or".
chunk  name of the row of ragpg.chunk in the surrounding query; depth is internal$$;
