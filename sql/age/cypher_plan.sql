-- What may run: queries that read, made of functions that are known to be harmless. AGE as a whole is
-- not: clauses that write, functions that reach other graphs or any SQL function, and patterns that
-- end the server process or load the whole graph into memory are refused here, by name.
create or replace function ragpg.cypher_plan(query text, out cypher text, out columns text[], out walks boolean)
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
  upper_  text;
  first   integer;
  last    integer;
  item    integer;
  name    text;
  reading constant text[] := '{abs,acos,all,any,asin,atan,atan2,avg,ceil,coalesce,collect,cos,cot,count,degrees,
    e,endnode,exists,exp,floor,head,id,end_id,start_id,keys,label,labels,last,left,length,log,log10,ltrim,max,min,nodes,none,
    percentilecont,percentiledisc,pi,properties,radians,relationships,replace,reverse,right,round,rtrim,sign,sin,
    single,size,split,sqrt,startnode,stdev,stdevp,substring,sum,tail,tan,toboolean,tofloat,tointeger,tolower,
    tostring,toupper,trim,type}';
  clauses constant text[] := '{match,where,and,or,xor,not,in,return,with,distinct,when,then,else,case,by,unwind,
    optional,limit,skip,as,union,is,contains,on}';
  writing constant text[] := '{create,merge,set,delete,detach,remove,call,yield,load,explain,profile,foreach,drop,
    verbose,copy,insert,update}';
begin
  if query is null or octet_length(query) > 20000 then
    raise exception 'Cypher: the query is %', case when query is null then 'null' else 'longer than 20,000 bytes' end
      using errcode = 'RG006', hint = 'Values go as parameters, not into the text.';
  end if;
  select array_agg(t.token order by t.place), array_agg(t.kind order by t.place), array_agg(t.gap order by t.place),
         array_agg(t.depth order by t.place), array_agg(case when t.kind = 'word' then lower(t.token) else '' end order by t.place)
    into tokens, kinds, gaps, depths, words
    from ragpg.cypher_tokens(query) as t;
  n := coalesce(cardinality(tokens), 0);
  walks := false;

  for i in 1 .. n loop
    if kinds[i] = 'word' and (i = 1 or tokens[i - 1] not in ('.', ':')) and words[i] = any (writing) then
      raise exception 'Cypher: % is refused, the graph is read only', upper(words[i]) using errcode = 'RG006',
        hint = 'Change the documents: the graph follows. A name that is this word goes in back ticks.';
    end if;
    if kinds[i] in ('word', 'name') and i < n and tokens[i + 1] = '(' then
      if kinds[i] = 'name' or (i > 1 and tokens[i - 1] = '.') then
        raise exception 'Cypher: function % is refused', tokens[i] using errcode = 'RG006',
          hint = 'Only the functions of Cypher itself can be called, without a schema.';
      elsif words[i] <> all (reading) and words[i] <> all (clauses) then
        raise exception 'Cypher: function % is refused', tokens[i] using errcode = 'RG006',
          hint = format('These can be called: %s.', array_to_string(reading, ', '));
      end if;
    end if;
    if tokens[i] = '::' and kinds[i] = 'sign'
       and (i = n or words[i + 1] not in ('int', 'integer', 'float', 'numeric', 'bool', 'boolean')) then
      raise exception 'Cypher: this cast is refused' using errcode = 'RG006',
        hint = 'Casts go to integer, float, numeric and boolean.';
    end if;
    -- AGE 1.8 ends the server process where id() meets a list in a variable or parameter.
    if words[i] = 'in' and words && array['id', 'start_id', 'end_id']
       and exists (select from generate_series(1, n - 1) as at
                    where words[at] in ('id', 'start_id', 'end_id') and tokens[at + 1] = '(')
       and not (i > 2 and tokens[i - 2] in ('[', '(') and kinds[i - 1] in ('word', 'name')
                and (tokens[i - 2] = '[' or words[i - 3] in ('all', 'any', 'none', 'single'))) then
      raise exception 'Cypher: IN together with id() is refused, it can end the server process' using errcode = 'RG006',
        hint = 'Take the list apart: UNWIND $ids AS i MATCH (n) WHERE id(n) = i, or compare the property n.id.';
    end if;
    -- A relationship of variable length: -[r:LABEL*1..3]-.
    if tokens[i] = '[' and i > 1 and tokens[i - 1] = '-' then
      j := i + 1;
      while j <= n and (kinds[j] in ('word', 'name') or tokens[j] in (':', '|')) loop
        j := j + 1;
      end loop;
      if j <= n and tokens[j] = '*' then
        walks := true;
        upper_ := null;
        if j + 1 <= n and kinds[j + 1] = 'number' then
          upper_ := tokens[j + 1];
          j := j + 1;
        end if;
        if j + 1 <= n and tokens[j + 1] = '..' then
          upper_ := case when j + 2 <= n and kinds[j + 2] = 'number' then tokens[j + 2] end;
        end if;
        if upper_ is null or upper_ !~ '^[1-5]$' then
          raise exception 'Cypher: a path of variable length needs an upper bound of at most 5' using errcode = 'RG006',
            hint = 'Write it as in -[:LINKS*1..3]->.';
        end if;
      end if;
    end if;
  end loop;

  -- The columns: what stands between the first RETURN outside of brackets and the end of its clause.
  first := array_position(array(select case when words[at] = 'return' and depths[at] = 0
                                             and (at = 1 or tokens[at - 1] not in ('.', ':')) then 1 else 0 end
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

  cypher := '';
  for i in 1 .. n loop
    cypher := cypher || case when gaps[i] and i > 1 then ' ' else '' end || tokens[i];
  end loop;
end $$;

comment on function ragpg.cypher_plan(text) is
$$A Cypher query checked and cleaned of comments, with the names of its columns, and whether it has a
path of variable length. Raises RG006 with the reason where the query is refused.

  select * from ragpg.cypher_plan('MATCH (d:Document) RETURN d.title AS title');$$;
