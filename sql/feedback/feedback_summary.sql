create or replace view ragpg.feedback_summary as
select namespace.name as namespace, document.source, chunk.ordinal as chunk_index,
       counted.shown, counted.followed, round(counted.expected::numeric, 2) as expected,
       round((counted.followed / counted.shown)::numeric, 3) as rate,
       round((counted.expected / counted.shown)::numeric, 3) as expected_rate,
       round(ragpg.feedback_prior(counted.shown::double precision, counted.followed::double precision, counted.expected)::numeric, 4) as prior,
       namespace.settings -> 'feedback' is distinct from 'false' as enabled,
       counted.first_at, counted.last_at, left(chunk.content, 80) as content, chunk.id as chunk_id
  from (select feedback.namespace_id, feedback.chunk_id, sum(feedback.shown) as shown, sum(feedback.followed) as followed,
               sum(feedback.shown * baseline.rate) as expected,
               min(feedback.first_at) as first_at, max(feedback.last_at) as last_at
          from ragpg.feedback
          join ragpg.feedback_ranks as baseline using (namespace_id, rank)
         group by feedback.namespace_id, feedback.chunk_id) as counted
  join ragpg.chunk on chunk.namespace_id = counted.namespace_id and chunk.id = counted.chunk_id
  join ragpg.document on document.namespace_id = chunk.namespace_id and document.id = chunk.document_id
  join ragpg.namespace on namespace.id = counted.namespace_id
 where ragpg.may_use_namespace(namespace.id);

comment on view ragpg.feedback_summary is
$$What was learned of every passage: how often it was shown and followed, how often anything at its
ranks would have been, and the prior that its score is multiplied with.

  select * from ragpg.feedback_summary order by abs(prior - 1) desc limit 20;$$;
