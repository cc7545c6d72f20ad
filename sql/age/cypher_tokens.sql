-- Cypher cut into words: what AGE's own scanner knows of strings, names and comments. Comments and
-- white space become one blank; two pieces that touched still touch.
create or replace function ragpg.cypher_tokens(query text)
returns table (place integer, kind text, token text, gap boolean, depth integer)
language plpgsql immutable parallel safe
as $$
declare
  piece text[];
  open  integer := 0;
begin
  place := 0;
  gap := false;
  for piece in
    select matched.part from regexp_matches(query,
      '(''(?:[^''\\]|\\.)*''|"(?:[^"\\]|\\.)*")'           -- 1 text
      || '|(`(?:[^`]|``)+`)'                               -- 2 name in back ticks
      || '|(\s+|//[^\n\r]*|/\*(?:[^*]|\*+[^*/])*\*+/)'     -- 3 nothing
      || '|(\$[A-Za-z_]\w*)'                               -- 4 parameter
      || '|([A-Za-z_]\w*)'                                 -- 5 word
      || '|(0[xX][0-9A-Fa-f]+|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)'  -- 6 number
      || '|(::|\.\.|<>|<=|>=|=~|\|\||[-+*/%^=<>.,:|(){}\[\]])'           -- 7 sign
      || '|(.)', 'g') as matched (part)
  loop
    if piece[3] is not null then
      gap := true;
      continue;
    end if;
    if piece[8] is not null then
      raise exception 'Cypher: "%" is not understood', piece[8] using errcode = 'RG006',
        hint = 'Values of other characters go as parameters: ragpg.cypher(''... $name ...'', ''{"name": ...}'').';
    end if;
    place := place + 1;
    kind := case when piece[1] is not null then 'text' when piece[2] is not null then 'name'
                 when piece[4] is not null then 'parameter' when piece[5] is not null then 'word'
                 when piece[6] is not null then 'number' else 'sign' end;
    token := coalesce(piece[1], piece[2], piece[4], piece[5], piece[6], piece[7]);
    if kind = 'sign' and token in (')', ']', '}') then
      open := open - 1;
    end if;
    depth := open;
    if kind = 'sign' and token in ('(', '[', '{') then
      open := open + 1;
    end if;
    if open > 50 or open < 0 or place > 3000 then
      raise exception 'Cypher: %', case when open < 0 then 'a bracket closes that was never opened'
                                        else 'the query is too long or too deep' end using errcode = 'RG006';
    end if;
    return next;
    gap := false;
  end loop;
  if open > 0 then
    raise exception 'Cypher: a bracket is never closed' using errcode = 'RG006';
  end if;
end $$;

comment on function ragpg.cypher_tokens(text) is
$$The words and signs of a Cypher query, with the depth of brackets around each.

  select * from ragpg.cypher_tokens('MATCH (d:Document) RETURN d.title');$$;
