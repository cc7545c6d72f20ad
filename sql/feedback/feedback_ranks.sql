-- The base rate of a rank, the mean of Beta(followed + 1, shown - followed + 3). Nobody looks at a
-- later rank more often than at those before it, so the rate of all ranks up to it is a limit: else a
-- passage that always stands at one rank would be its own measure.
create or replace view ragpg.feedback_ranks as
select namespace.name as namespace, counted.rank, counted.shown, counted.followed,
       least((counted.followed + 1.0) / (counted.shown + 4.0),
             (sum(counted.followed) over above + 1.0) / (sum(counted.shown) over above + 4.0))::double precision as rate,
       counted.namespace_id
  from ragpg.feedback_rank as counted
  join ragpg.namespace on namespace.id = counted.namespace_id
 -- Every search looks here, so not by ragpg.may_use_namespace(), which takes its time: policies keep
 -- out whoever is not the owner, and those with the owner's rights have asked before.
 where nullif(current_setting('ragpg.allowed_namespaces', true), '') is null
    or namespace.name = any (nullif(current_setting('ragpg.allowed_namespaces', true), '')::text[])
window above as (partition by counted.namespace_id order by counted.rank);

comment on view ragpg.feedback_ranks is
$$How often passages at each rank are shown and followed, and the rate that a passage there is measured
against.

  select namespace, rank, rate from ragpg.feedback_ranks order by namespace, rank;$$;
