do $$ begin
  perform ragpg.filter_sql('{"rank": {"GTE": 5}}');
  raise exception 'not refused';
exception when sqlstate 'RG003' then
  assert sqlerrm like '%"GTE" on "rank"%', sqlerrm;
end $$;
