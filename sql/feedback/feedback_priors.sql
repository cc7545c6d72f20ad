-- With the owner's rights, as the arms: a role that may search needs no right on the table of feedback. Who may
-- not read what namespaces there are learns nothing here either.
create or replace function ragpg.feedback_priors(namespaces text[], chunk_ids bigint[])
returns table (chunk_id bigint, prior double precision)
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
  owners integer[];
begin
  perform ragpg.require_right('ragpg.namespace', 'select');
  owners := ragpg.namespace_ids(namespaces);
  perform ragpg.check_access(owners);
  return query
  select known.chunk_id,
         ragpg.feedback_prior(sum(known.shown), sum(known.followed),
           sum(known.shown * baseline.rate))
    from ragpg.feedback as known
    join ragpg.feedback_ranks as baseline using (namespace_id, rank)
    join ragpg.namespace on namespace.id = known.namespace_id
   where known.namespace_id = any (owners) and known.chunk_id = any (chunk_ids)
     and namespace.settings -> 'feedback' is distinct from 'false'
   group by known.chunk_id
   order by known.chunk_id;
end $$;

comment on function ragpg.feedback_priors(text[], bigint[]) is
$$What feedback says of passages: a factor from 0.85 to 1.15 for each that has a history.

  select * from ragpg.feedback_priors('{default}', '{1,2,3}');

A passage is measured against how often anything at the ranks where it stood was followed, so being
shown first earns nothing. See ragpg.feedback_summary.$$;
