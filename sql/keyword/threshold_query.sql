-- A query that is true exactly for the documents whose bounds add up to more than a threshold:
-- with bounds 3, 2, 2 and a need of 3 it is a&(b|c)|b&c. Exponential in the number of items, so
-- callers pass eight at most.
create or replace function ragpg.threshold_query(
  items text[], bounds double precision[], need double precision, place integer default 1)
returns text
language plpgsql immutable strict parallel safe
as $$
declare
  reachable double precision;
  taken text;
  left_out text;
begin
  if need < 0 then return 'T'; end if;
  if place > cardinality(items) then return ''; end if;
  select sum(bound) into reachable from unnest(bounds[place:]) as bound;
  if reachable <= need then return ''; end if;
  taken := ragpg.threshold_query(items, bounds, need - bounds[place], place + 1);
  left_out := ragpg.threshold_query(items, bounds, need, place + 1);
  if taken = '' then return left_out; end if;
  taken := case when taken = 'T' then items[place] else items[place] || '&(' || taken || ')' end;
  return case when left_out in ('', 'T') then taken else taken || '|' || left_out end;
end $$;

comment on function ragpg.threshold_query(text[], double precision[], double precision, integer) is
$$A tsquery that is true exactly where the bounds of the matching items exceed a need.

  select ragpg.threshold_query('{a,b,c}', '{3,2,2}', 3);  -- a&(b|c)|b&c

'' means that nothing can, 'T' that everything does.$$;
