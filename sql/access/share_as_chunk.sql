-- Called by functions with the owner's rights, so every call names its schema.
create or replace function ragpg.share_as_chunk(place regclass)
returns void
language plpgsql
set search_path from current
as $$
declare
  grantee record;
begin
  perform ragpg.refuse_nulls(pg_catalog.jsonb_build_object('place', share_as_chunk.place));
  perform ragpg.protect_table(place);
  perform ragpg.watch_writes(place);
  for grantee in
    select case acl.grantee when 0 then 'public' else acl.grantee::pg_catalog.regrole::pg_catalog.text end as role,
           pg_catalog.string_agg(acl.privilege_type, ', ') as privileges
      from pg_catalog.pg_class, pg_catalog.aclexplode(pg_class.relacl) as acl
     where pg_class.oid = 'ragpg.chunk'::pg_catalog.regclass and acl.grantee <> pg_class.relowner
     group by acl.grantee
  loop
    execute pg_catalog.format('grant %s on %s to %s', grantee.privileges, place, grantee.role);
  end loop;
end $$;

comment on function ragpg.share_as_chunk(regclass) is
$$Lets whoever may use the chunks use a table of their vectors, under the same row-level security, and
watches writes to it; used when such tables are made.

  select ragpg.share_as_chunk('ragpg.embedding_1');$$;
