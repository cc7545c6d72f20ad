-- A query that may run, in the form in which it runs, and what it returns. What may not, and why:
-- ragpg.cypher_check() and ragpg.cypher_check_operands().
create or replace function ragpg.cypher_plan(query text, 
  out cypher text, out columns text[], out parameters text[], out walks boolean)
language plpgsql immutable parallel safe
set search_path from current
as $$
declare
  tokens  text[];
  kinds   text[];
  gaps    boolean[];
  depths  integer[];
  words   text[];
  n       integer;
  i       integer;
  j       integer;
  first   integer;
  last    integer;
  item    integer;
  name    text;
begin
  if query is null or octet_length(query) > 20000 then
    raise exception 'Cypher: the query is %', case when query is null then 'null' else 'longer than 20,000 bytes' end
      using errcode = 'RG006', hint = 'Values go as parameters, not into the text.';
  end if;
  select array_agg(t.token order by t.place), array_agg(t.kind order by t.place), array_agg(t.gap order by t.place),
         array_agg(t.depth order by t.place), array_agg(case when t.kind in ('word', 'name') then lower(trim(both '`' from t.token)) else '' end order by t.place)
    into tokens, kinds, gaps, depths, words
    from ragpg.cypher_tokens(query) as t;
  n := coalesce(cardinality(tokens), 0);
  walks := ragpg.cypher_check(tokens, kinds);
  perform ragpg.cypher_check_operands(tokens, kinds);

  -- The columns: what stands between the first RETURN outside of brackets and the end of its clause.
  first := array_position(array(select case when words[at] = 'return' and depths[at] = 0
                                             and (at = 1 or tokens[at - 1] not in ('.', ':') and words[at - 1] <> 'as') then 1 else 0 end
                                  from generate_series(1, n) as at), 1);
  if first is null then
    raise exception 'Cypher: the query has no RETURN' using errcode = 'RG006',
      hint = 'Say what comes back: MATCH (d:Document) RETURN d.title AS title.';
  end if;
  first := first + 1;
  if first <= n and words[first] = 'distinct' then
    first := first + 1;
  end if;
  last := first;
  while last <= n and not (depths[last] = 0 and words[last] in ('order', 'skip', 'limit', 'union')
                           and tokens[last - 1] not in ('.', ':') and words[last - 1] <> 'as') loop
    last := last + 1;
  end loop;
  columns := '{}';
  item := first;
  for i in first .. last loop
    if i = last or (tokens[i] = ',' and depths[i] = 0) then
      if i = item or tokens[item] = '*' then
        raise exception 'Cypher: RETURN must name what comes back' using errcode = 'RG006',
          hint = 'Write RETURN a, b instead of RETURN *.';
      end if;
      if i - item >= 3 and words[i - 2] = 'as' and depths[i - 2] = 0 then
        name := tokens[i - 1];
        if kinds[i - 1] = 'name' then
          name := replace(trim(both '`' from name), '``', '`');
        end if;
      else
        name := '';
        for j in item .. i - 1 loop
          name := name || case when gaps[j] and j > item then ' ' else '' end || tokens[j];
        end loop;
      end if;
      if name = any (columns) then
        raise exception 'Cypher: two columns are named "%"', name using errcode = 'RG006',
          hint = 'Name one of them with AS.';
      end if;
      columns := columns || name;
      item := i + 1;
    end if;
  end loop;

  parameters := array(select distinct substr(tokens[at], 2) from generate_series(1, n) as at
                       where kinds[at] = 'parameter' order by 1);
  cypher := '';
  for i in 1 .. n loop
    cypher := cypher || case when gaps[i] and i > 1 then ' ' else '' end || tokens[i];
  end loop;
end $$;

comment on function ragpg.cypher_plan(text) is
$$A Cypher query checked and cleaned of comments, with the names of its columns and parameters, and
whether it has a path of variable length. Raises RG006 with the reason where the query is refused.

  select * from ragpg.cypher_plan('MATCH (d:Document) RETURN d.title AS title');$$;
