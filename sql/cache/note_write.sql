-- One row a transaction and namespace, with a number that nobody else has: writers never wait for
-- each other, and it becomes visible together with what was written. Runs with the owner's rights,
-- because whoever may write to a namespace may not write this.
create or replace function ragpg.note_write()
returns trigger
language plpgsql security definer
set search_path from current
as $$
declare
  mine constant bigint := pg_catalog.pg_current_xact_id()::text::bigint;
  ids integer[];
begin
  if tg_op = 'TRUNCATE' then
    ids := array(select namespace.id from ragpg.namespace);
  elsif tg_relid = 'ragpg.namespace'::pg_catalog.regclass then
    ids := array(select distinct touched.id from touched);
  elsif tg_op = 'UPDATE' then
    ids := array(select touched.namespace_id from touched union select former.namespace_id from former);
  else
    ids := array(select distinct touched.namespace_id from touched);
  end if;
  if tg_op = 'DELETE' and tg_relid = 'ragpg.namespace'::pg_catalog.regclass then
    delete from ragpg.namespace_write where namespace_write.namespace_id = any (ids);
    return null;
  end if;
  -- Most statements of a transaction are not its first.
  if (select pg_catalog.count(*) from ragpg.namespace_write
       where namespace_write.namespace_id = any (ids) and namespace_write.xid = mine
         and namespace_write.xmin = pg_catalog.pg_current_xact_id()::pg_catalog.xid) = pg_catalog.cardinality(ids) then
    return null;
  end if;
  insert into ragpg.namespace_write (namespace_id, xid, mark)
  select namespace.id, mine, pg_catalog.hashtextextended(pg_catalog.gen_random_uuid()::text, 0)
    from ragpg.namespace where namespace.id = any (ids)
  -- A row of that number that is not ours came with a dump, from a server that has counted further.
  on conflict (namespace_id, xid) do update set mark = excluded.mark
    where namespace_write.xmin <> pg_catalog.pg_current_xact_id()::pg_catalog.xid;
  -- Now and then one writer takes the rows of those before it into its own. A stricter transaction
  -- than the usual would fail where another one does the same.
  if found and pg_catalog.random() < 0.02 and pg_catalog.current_setting('transaction_isolation') = 'read committed' then
    with gone as (
      delete from ragpg.namespace_write as folded_row
       using (select waiting.namespace_id, waiting.xid from ragpg.namespace_write as waiting
               where waiting.namespace_id = any (ids) and waiting.xid <> mine for update skip locked) as chosen
       where folded_row.namespace_id = chosen.namespace_id and folded_row.xid = chosen.xid
      returning folded_row.namespace_id, folded_row.mark
    ), folded as (
      select gone.namespace_id, pg_catalog.bit_xor(gone.mark) as mark from gone group by gone.namespace_id
    )
    update ragpg.namespace_write as own set mark = own.mark # folded.mark
      from folded where own.namespace_id = folded.namespace_id and own.xid = mine;
  end if;
  return null;
end $$;

comment on function ragpg.note_write() is
$$Trigger on the tables that a search reads: notes that a namespace was written to, see
ragpg.search_version().$$;
