-- SQL for one operator on one field. Every key and value goes in as a literal quoted by the server.
create or replace function ragpg.filter_field(key text, operator text, operand jsonb, chunk text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  kind text := jsonb_typeof(operand);
  op text := case ltrim(operator, '$') when 'nin' then 'not_in' else ltrim(operator, '$') end;
  path text[];
  value text;             -- the field as a jsonb expression
  holder jsonb;
  step integer;
  sign text;
begin
  if key like '/%' then
    -- A JSON pointer (RFC 6901) reaches into nested metadata.
    select array_agg(replace(replace(part.part, '~1', '/'), '~0', '~') order by part.place) into path
      from unnest(case key when '/' then '{""}' else string_to_array(substr(key, 2), '/') end) with ordinality as part (part, place);
  elsif key in ('@source', '@title', '@format') then
    -- As a join, so that the planner may look at each document once instead of at each chunk.
    return format('exists (select from (select document.namespace_id, document.id,
                           jsonb_build_object(%1$L, document.%1$I) as metadata from ragpg.document) as field
             where field.namespace_id = %2$s.namespace_id and field.id = %2$s.document_id and %3$s)',
      substr(key, 2), chunk, ragpg.filter_field('/' || substr(key, 2), operator, operand, 'field'));
  elsif key = '@page' then
    value := format('to_jsonb(%s.page)', chunk);
  elsif key ~ '^[@$]' then
    perform ragpg.filter_error(format('"%s" is no field of a document and no operator; as a key of metadata it is written "/%1$s"', key));
  else
    path := array[key];
  end if;
  value := coalesce(value, case when cardinality(path) = 1 then format('%s.metadata -> %L', chunk, path[1])
                                else format('%s.metadata #> %L::text[]', chunk, path) end);

  if op in ('in', 'not_in', 'contains_any')
     and (kind <> 'array' or exists (select 1 from jsonb_array_elements(operand) as item
                                      where jsonb_typeof(item) in ('object', 'array'))) then
    perform ragpg.filter_error(format('"%s" on "%s" needs a list of plain values, got %s', operator, key, operand));
  end if;

  case op
    when 'eq' then
      if kind = 'null' then
        return format('coalesce(%s, ''null'') = ''null''', value);
      elsif kind in ('object', 'array') then
        return format('coalesce((%s) = %L::jsonb, false)', value, operand);
      elsif path is null or exists (select 1 from unnest(path[2:]) as part where part ~ '^-?\d+$') then
        -- Numbers in a pointer may be list places, which containment cannot express.
        return format('coalesce((%1$s) = %2$L::jsonb or (jsonb_typeof(%1$s) = ''array'' and (%1$s) @> %3$L::jsonb), false)',
          value, operand, jsonb_build_array(operand));
      end if;
      holder := operand;
      for step in reverse cardinality(path)..1 loop holder := jsonb_build_object(path[step], holder); end loop;
      value := holder;
      holder := jsonb_build_array(operand);
      for step in reverse cardinality(path)..1 loop holder := jsonb_build_object(path[step], holder); end loop;
      return format('(%1$s.metadata @> %2$L::jsonb or %1$s.metadata @> %3$L::jsonb)', chunk, value, holder);
    when 'ne' then
      return format('not (%s)', ragpg.filter_field(key, 'eq', operand, chunk));
    when 'in', 'contains_any' then
      if jsonb_array_length(operand) = 0 then
        return 'false';
      elsif jsonb_array_length(operand) <= 20 then
        return (select '(' || string_agg(ragpg.filter_field(key, case op when 'in' then 'eq' else 'contains' end, item, chunk), ' or ') || ')'
                  from jsonb_array_elements(operand) as item);
      end if;
      -- As one text of JSON that is looked up by hash: of 50,000 values an array literal of jsonb costs more
      -- to write and to read than the whole search.
      return format(
        'coalesce(%3$s(jsonb_typeof(%1$s) = ''array'' and exists (select 1 from jsonb_array_elements(
           case jsonb_typeof(%1$s) when ''array'' then %1$s else ''[]'' end) as item
             where item in (select wanted from jsonb_array_elements(%2$L::jsonb) as wanted%4$s))), false)',
        value, operand,
        case op when 'in' then format('coalesce(%s, ''null'') in (select wanted from jsonb_array_elements(%L::jsonb) as wanted) or ',
          value, operand) else '' end,
        case op when 'in' then ' where wanted <> ''null''' else '' end);
    when 'not_in' then
      return format('not (%s)', ragpg.filter_field(key, 'in', operand, chunk));
    when 'contains' then
      if kind in ('object', 'array') then
        perform ragpg.filter_error(format('"%s" on "%s" needs a plain value (contains_any and contains_all take lists), got %s', operator, key, operand));
      end if;
      return format('coalesce(jsonb_typeof(%s) = ''array'' and (%1$s) @> %L::jsonb, false)', value, jsonb_build_array(operand))
        || case when cardinality(path) = 1 then format(' and %s.metadata @> %L::jsonb', chunk,
             jsonb_build_object(path[1], jsonb_build_array(operand))) else '' end;
    when 'contains_all' then
      if kind <> 'array' then
        perform ragpg.filter_error(format('"%s" on "%s" needs a list, got %s', operator, key, operand));
      end if;
      return coalesce((select '(' || string_agg(ragpg.filter_field(key, 'contains', item, chunk), ' and ') || ')'
                         from jsonb_array_elements(operand) as item), 'true');
    when 'gt', 'gte', 'lt', 'lte' then
      if kind not in ('number', 'string') then
        perform ragpg.filter_error(format('"%s" on "%s" needs a number or a text, got %s', operator, key, operand));
      end if;
      sign := case op when 'gt' then '>' when 'gte' then '>=' when 'lt' then '<' else '<=' end;
      -- jsonpath compares like with like: a text never equals, exceeds or breaks a number.
      return format('coalesce(jsonb_path_exists(%s, %L::jsonpath, silent => true), false)', value,
        format('$ ? (@ %s %s)', sign, operand));
    when 'exists' then
      if kind <> 'boolean' then
        perform ragpg.filter_error(format('"%s" on "%s" needs true or false, got %s', operator, key, operand));
      end if;
      return format('(%s) is %s null', value, case when operand = 'true' then 'not' else '' end);
    when 'starts_with' then
      if kind <> 'string' then
        perform ragpg.filter_error(format('"%s" on "%s" needs a text, got %s', operator, key, operand));
      end if;
      return format('coalesce(jsonb_typeof(%s) = ''string'' and starts_with((%1$s) #>> ''{}'', %L), false)',
        value, operand #>> '{}');
    when 'date' then
      if kind <> 'object' or operand = '{}' then
        perform ragpg.filter_error(format('"%s" on "%s" needs an object such as {"gte": "2024-01-01"}, got %s', operator, key, operand));
      end if;
      return (select '(' || string_agg(ragpg.filter_date(filter_field.key, bound.symbol, bound.moment, value), ' and ' order by bound.symbol) || ')'
                from jsonb_each(operand) as bound (symbol, moment));
    else
      perform ragpg.filter_error(format('unknown operator "%s" on "%s"', operator, key));
  end case;
  return null;
end $$;

comment on function ragpg.filter_field(text, text, jsonb, text) is
$$SQL condition for one operator on one metadata field; see ragpg.filter_sql.

  select ragpg.filter_field('year', 'gte', '2024', 'chunk');$$;
