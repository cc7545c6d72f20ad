-- A statement at a time: a trigger for each row would cost more than the rows.
create or replace function ragpg.watch_writes(place regclass)
returns void
language plpgsql
set search_path from current
as $$
begin
  perform ragpg.refuse_nulls(pg_catalog.jsonb_build_object('place', watch_writes.place));
  execute pg_catalog.format($sql$
create or replace trigger note_write_insert after insert on %1$s
  referencing new table as touched for each statement execute function ragpg.note_write();
create or replace trigger note_write_update after update on %1$s
  referencing old table as former new table as touched
  for each statement execute function ragpg.note_write();
create or replace trigger note_write_delete after delete on %1$s
  referencing old table as touched for each statement execute function ragpg.note_write();
create or replace trigger note_write_truncate after truncate on %1$s
  for each statement execute function ragpg.note_write();
$sql$, place);
end $$;

comment on function ragpg.watch_writes(regclass) is
$$Lets every write to a table with a namespace_id change ragpg.search_version(); used when tables are
made.

  select ragpg.watch_writes('ragpg.chunk');$$;
