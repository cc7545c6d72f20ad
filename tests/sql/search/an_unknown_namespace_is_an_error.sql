do $$ begin
  perform ragpg.search('x', namespaces => '{nowhere}');
  raise exception 'not refused';
exception when sqlstate 'RG001' then
  assert sqlerrm like '%nowhere%';
end $$;
