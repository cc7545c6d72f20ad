-- Reports are kept by content: each community gets the one that tells of what its documents say now.
-- Where there is none, the report it has stays, and is known to be stale.
create or replace function ragpg.attach_reports(
  namespace text, reporter text, smallest integer default 2, keep interval default '30 days')
returns table (communities bigint, current bigint, forgotten bigint)
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := (ragpg.namespace_ids(array[attach_reports.namespace]))[1];
  ids bigint[];
  digests bytea[];
begin
  select array_agg(community.id order by community.id), array_agg(ragpg.community_digest(owner, community.id) order by community.id)
    into ids, digests
    from ragpg.community where community.namespace_id = owner and community.size >= smallest;
  -- The old ones first, so that a community never has two.
  update ragpg.community_report as old set community_id = null
    from unnest(ids, digests) as present (id, digest)
   where old.namespace_id = owner and old.community_id = present.id
     and (old.reporter <> attach_reports.reporter or old.digest <> present.digest)
     and exists (select from ragpg.community_report as fit
                  where fit.namespace_id = owner and fit.reporter = attach_reports.reporter and fit.digest = present.digest);
  update ragpg.community_report as fit set community_id = present.id
    from unnest(ids, digests) as present (id, digest)
   where fit.namespace_id = owner and fit.reporter = attach_reports.reporter and fit.digest = present.digest
     and fit.community_id is distinct from present.id;
  delete from ragpg.community_report as old
   where old.namespace_id = owner and old.community_id is null and old.created_at < now() - keep;
  get diagnostics forgotten = row_count;
  communities := coalesce(cardinality(ids), 0);
  select count(*) into current
    from unnest(ids, digests) as present (id, digest)
    join ragpg.community_report as fit
      on fit.namespace_id = owner and fit.reporter = attach_reports.reporter and fit.digest = present.digest;
  return next;
end $$;

comment on function ragpg.attach_reports(text, text, integer, interval) is
$$Gives every community the report that was written of the same content before, if there is one.

  select * from ragpg.attach_reports('default', 'some-model');

reporter   the name of the model and its prompt
smallest   communities of fewer documents are left out
keep       how long reports that fit no community are kept, for content that comes back

Returns how many communities there are, how many of them have a current report, and how many reports
were deleted.$$;
