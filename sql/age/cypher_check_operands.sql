-- Shapes that end the server process of AGE 1.8 or 1.5, found by running random queries: functions of
-- AGE read a vertex, an edge, a path or the value of id() as if it were a value of their own type.
-- Where that can happen only values may stand: n.name, not n.
create or replace function ragpg.cypher_check_operands(tokens text[], kinds text[])
returns void
language plpgsql immutable parallel safe
as $$
declare
  n      integer := coalesce(cardinality(tokens), 0);
  words  text[] := array(select case when kinds[at] in ('word', 'name') then lower(trim(both '`' from tokens[at])) else '' end
                           from generate_series(1, n) as at);
  -- For every bracket that closes, where it opened; for every one that opens, where it closes.
  mate   integer[] := array_fill(0, array[n + 1]);
  open   integer[] := '{}';
  things text[] := '{}';
  before integer;
  i      integer;
  j      integer;
  inside text;
  signs constant text[] := '{and,or,xor,not,in,return,with,distinct,when,then,else,case,by,unwind,match,optional,
    where,limit,skip,union,as,contains,is}';
begin
  for i in 1 .. n loop
    if kinds[i] = 'sign' and tokens[i] in ('(', '[', '{') then
      open := open || i;
    elsif kinds[i] = 'sign' and tokens[i] in (')', ']', '}') and cardinality(open) > 0 then
      mate[i] := open[cardinality(open)];
      mate[open[cardinality(open)]] := i;
      open := open[1:cardinality(open) - 1];
    end if;
  end loop;

  -- The names of vertices, edges and paths, and other names given to them.
  for i in 2 .. n loop
    if kinds[i] in ('word', 'name')
       and ((tokens[i - 1] = '(' and (i = 2 or kinds[i - 2] <> 'word' or words[i - 2] = any (signs)
                                      or words[i - 2] in ('exists', 'all', 'any', 'none', 'single')))
            or (tokens[i - 1] = '[' and i > 2 and tokens[i - 2] = '-')
            or (i + 2 <= n and tokens[i + 1] = '=' and tokens[i + 2] = '(' and (words[i - 1] in ('match') or tokens[i - 1] = ','))) then
      things := things || tokens[i];
    end if;
  end loop;
  for j in 1 .. 5 loop
    for i in 2 .. n - 2 loop
      if words[i + 1] = 'as' and tokens[i] = any (things) and tokens[i - 1] <> '.' then
        things := things || tokens[i + 2];
      elsif words[i + 1] = 'as' and tokens[i] = ')' and mate[i] > 1 and words[mate[i] - 1] in ('id', 'start_id', 'end_id') then
        things := things || tokens[i + 2];
      end if;
    end loop;
  end loop;

  for i in 1 .. n loop
    -- 'text' CONTAINS n, STARTS WITH, ENDS WITH, =~
    if words[i] in ('contains', 'starts', 'ends') and (i = 1 or tokens[i - 1] not in ('.', ':')) or tokens[i] = '=~' then
      before := i - 1;
      j := i + case when words[i] in ('starts', 'ends') then 2 else 1 end;
      while j < n and tokens[j] = '(' loop
        j := j + 1;
      end loop;
      while before > 1 and tokens[before] = ')' and mate[before] > 1
            and (kinds[mate[before] - 1] <> 'word' or words[mate[before] - 1] = any (signs)) loop
        before := before - 1;
      end loop;
      if (j <= n and ((tokens[j] = any (things) and (j = n or tokens[j + 1] <> '.')) or words[j] in ('id', 'start_id', 'end_id')))
         or (before >= 1 and ((tokens[before] = any (things) and (before = 1 or tokens[before - 1] <> '.'))
             or (tokens[before] = ')' and mate[before] > 1 and words[mate[before] - 1] in ('id', 'start_id', 'end_id')))) then
        raise exception 'Cypher: % takes texts, not a vertex, edge or id', upper(tokens[i]) using errcode = 'RG006',
          hint = 'Compare a property: n.name CONTAINS $part.';
      end if;
    end if;

    -- list[i], map[key], list[1..3]
    if tokens[i] = '[' and kinds[i] = 'sign' and i > 1 and mate[i] > 0
       and ((kinds[i - 1] in ('word', 'name') and words[i - 1] <> all (signs)) or kinds[i - 1] in ('parameter', 'text')
            or tokens[i - 1] in (')', ']', '}')) then
      inside := array_to_string(kinds[i + 1:mate[i] - 1], ' ');
      if not (inside in ('number', 'text', 'parameter') or (inside = 'sign number' and tokens[i + 1] = '-')
              or (inside = 'word sign word' and tokens[i + 2] = '.')
              or (tokens[i + 1:mate[i] - 1] && array['..'] and not kinds[i + 1:mate[i] - 1] && array['word', 'name', 'text', 'parameter']
                  and array_to_string(tokens[i + 1:mate[i] - 1], '') ~ '^-?[0-9]*[.][.]-?[0-9]*$')) then
        raise exception 'Cypher: an index or slice may be a number, text, parameter or property only' using errcode = 'RG006',
          hint = 'As in list[0], list[1..3], map[$key].';
      end if;
    end if;

    -- UNWIND of what is no list, as of a comparison.
    if words[i] = 'unwind' and (i = 1 or tokens[i - 1] not in ('.', ':'))
       and not coalesce(kinds[i + 1] = 'parameter' or tokens[i + 1] = '['
                        or (kinds[i + 1] in ('word', 'name') and (tokens[i + 2] = '.' or words[i + 2] = 'as'))
                        or (words[i + 1] in ('collect', 'keys', 'nodes', 'relationships', 'labels', 'split', 'tail', 'reverse')
                            and tokens[i + 2] = '(' and words[mate[i + 2] + 1] = 'as'), false) then
      raise exception 'Cypher: UNWIND takes a list, a parameter, a name or a property' using errcode = 'RG006',
        hint = 'As in UNWIND $names AS name, UNWIND nodes(p) AS n.';
    end if;

    -- In AGE 1.5 this finds everything, or ends the process.
    if words[i] = 'in' and i + 2 <= n and tokens[i + 1] = '[' and tokens[i + 2] = ']' then
      raise exception 'Cypher: IN [] is refused, AGE 1.5 does not understand it' using errcode = 'RG006',
        hint = 'Pass the list as a parameter: IN $names.';
    end if;

    -- exists((a)-[:X*1..2]->(b {p: 1}))
    if words[i] = 'exists' and i < n and tokens[i + 1] in ('(', '{') and mate[i + 1] > 0
       and (tokens[i + 1:mate[i + 1]] && array['*'] or tokens[i + 2:mate[i + 1]] && array['{']) then
      raise exception 'Cypher: EXISTS takes patterns without properties and without variable length' using errcode = 'RG006',
        hint = 'Put conditions into WHERE, or MATCH the pattern.';
    end if;
  end loop;
end $$;

comment on function ragpg.cypher_check_operands(text[], text[]) is
$$Raises RG006 for the shapes of Cypher that end the server process of AGE.

  select ragpg.cypher_check_operands('{RETURN,1}', '{word,number}');$$;
