-- Runs with the owner's rights, so that those who only search can count what they cost; for the
-- namespaces that they may use. Rows are taken in the order of their keys: two writers never wait in
-- a circle.
create or replace function ragpg.record_usage(events jsonb)
returns bigint
language plpgsql security definer
set search_path from current
as $$
declare
  counted bigint;
begin
  insert into ragpg.usage as stored
    (namespace_id, day, category, model, requests, input_tokens, output_tokens, cost_usd, unpriced)
  select namespace.id, event.day, event.category, event.model, sum(event.requests), sum(event.input_tokens),
         sum(event.output_tokens), sum(event.cost_usd), sum(event.unpriced)
    from pg_catalog.jsonb_to_recordset(events) as event (namespace text, day date, category text, model text,
           requests bigint, input_tokens bigint, output_tokens bigint, cost_usd numeric, unpriced bigint)
    join ragpg.namespace on namespace.name = event.namespace
   where ragpg.may_use_namespace(namespace.id)
     and least(event.requests, event.input_tokens, event.output_tokens, event.cost_usd, event.unpriced) >= 0
   group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (namespace_id, day, category, model) do update
     set requests = stored.requests + excluded.requests,
         input_tokens = stored.input_tokens + excluded.input_tokens,
         output_tokens = stored.output_tokens + excluded.output_tokens,
         cost_usd = stored.cost_usd + excluded.cost_usd,
         unpriced = stored.unpriced + excluded.unpriced;
  get diagnostics counted = row_count;
  return counted;
end $$;

comment on function ragpg.record_usage(jsonb) is
$$Adds up what models cost; returns how many rows that made.

  select ragpg.record_usage('[{"namespace": "default", "day": "2026-01-31", "category": "retrieval",
    "model": "text-embedding-3-small", "requests": 1, "input_tokens": 12, "output_tokens": 0,
    "cost_usd": 0.00000024, "unpriced": 0}]');

events  a list; unpriced counts requests whose price is not known. Namespaces that are gone or closed
        to the caller are left out$$;
