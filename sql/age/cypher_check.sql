-- What may run: queries that read, made of functions that are known to be harmless. AGE as a whole is
-- not: clauses that write, functions that reach other graphs or any SQL function, and paths that load
-- the whole graph into memory are refused here, by name. Shapes that end the server process:
-- ragpg.cypher_check_operands().
create or replace function ragpg.cypher_check(tokens text[], kinds text[])
returns boolean
language plpgsql immutable parallel safe
as $$
declare
  n       integer := coalesce(cardinality(tokens), 0);
  -- AGE 1.5 takes a keyword in back ticks for the keyword.
  words   text[] := array(select case when kinds[at] in ('word', 'name') then lower(trim(both '`' from tokens[at])) else '' end
                            from generate_series(1, n) as at);
  i       integer;
  j       integer;
  upper_  text;
  walks   boolean := false;
  reading constant text[] := '{abs,acos,all,any,asin,atan,atan2,avg,ceil,coalesce,collect,cos,cot,count,degrees,
    e,endNode,exists,exp,floor,head,id,end_id,start_id,keys,label,labels,last,left,length,log,log10,ltrim,max,min,nodes,none,
    percentilecont,percentiledisc,pi,properties,radians,relationships,replace,reverse,right,round,rtrim,sign,sin,
    single,size,split,sqrt,startNode,stdev,stdevp,substring,sum,tail,tan,toboolean,tofloat,tointeger,tolower,
    tostring,toupper,trim,type}';
  clauses constant text[] := '{match,where,and,or,xor,not,in,return,with,distinct,when,then,else,case,by,unwind,
    optional,limit,skip,as,union,is,contains,on}';
  writing constant text[] := '{create,merge,set,delete,detach,remove,call,yield,load,explain,profile,foreach,drop,
    verbose,copy,insert,update}';
begin
  for i in 1 .. n loop
    if (i = 1 or tokens[i - 1] not in ('.', ':')) and words[i] = any (writing) then
      raise exception 'Cypher: % is refused, the graph is read only', upper(words[i]) using errcode = 'RG006',
        hint = 'Change the documents: the graph follows. No name may be this word.';
    end if;
    if kinds[i] in ('word', 'name') and i < n and tokens[i + 1] = '(' then
      if kinds[i] = 'name' or (i > 1 and tokens[i - 1] = '.') then
        raise exception 'Cypher: function % is refused', tokens[i] using errcode = 'RG006',
          hint = 'Only the functions of Cypher itself can be called, without a schema.';
      elsif lower(tokens[i]) <> all (lower(reading::text)::text[]) and words[i] <> all (clauses)
            -- In small letters AGE 1.5 takes the name of a graph as their first argument.
            or words[i] in ('startnode', 'endnode') and tokens[i] not in ('startNode', 'endNode') then
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
      if j <= n and tokens[j] = '*' and kinds[j] = 'sign' then
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
  return walks;
end $$;

comment on function ragpg.cypher_check(text[], text[]) is
$$Raises RG006 where a Cypher query, cut by ragpg.cypher_tokens(), would write, call what it must not,
or walk without a bound. Returns whether it has a path of variable length.

  select ragpg.cypher_check('{RETURN,1}', '{word,number}');$$;
