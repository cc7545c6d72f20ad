create or replace view ragpg.usage_summary as
select usage.day, namespace.name as namespace, 'rag:' || namespace.name as item, usage.category, usage.model,
       usage.requests, usage.input_tokens, usage.output_tokens,
       case when usage.unpriced < usage.requests or usage.cost_usd > 0 then usage.cost_usd end as cost_usd,
       usage.unpriced
  from ragpg.usage
  join ragpg.namespace on namespace.id = usage.namespace_id
 where ragpg.may_use_namespace(namespace.id);

comment on view ragpg.usage_summary is
$$What models cost, by day (UTC), namespace, category and model.

  select category, sum(cost_usd) from ragpg.usage_summary where namespace = 'handbook' group by 1;

category is retrieval (query vectors, rewriting, reranking), generation, grounding, ingest, graph or
reembed. unpriced requests are those whose price no table knows: cost_usd is without them, and null
where there are no others. Of a request for several namespaces each bears an equal share.$$;
