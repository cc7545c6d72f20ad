create or replace function ragpg.set_fusion(namespace text, fusion jsonb)
returns jsonb
language plpgsql
set search_path from current
as $$
declare
  ids constant integer[] := ragpg.namespace_ids(array[set_fusion.namespace]);
  checked constant jsonb := ragpg.fusion_options(coalesce(fusion, '{}'), ids);
begin
  update ragpg.namespace as target
     set settings = case when fusion is null then target.settings - 'fusion'
                         else target.settings || jsonb_build_object('fusion', checked) end
   where target.id = any (ids);
  return checked;
end $$;

comment on function ragpg.set_fusion(text, jsonb) is
$$How searches of a namespace fuse where the call does not say; returns what is stored.

  select ragpg.set_fusion('handbook', '{"method": "adaptive", "bias": -0.5}');
  select ragpg.set_fusion('handbook', null);   -- the default again

fusion  see ragpg.fusion_options. Of several namespaces in one search all must agree, else it is
        the default.$$;
