begin;
do $$ begin
  perform ragpg.create_namespace('default');
  perform ragpg.keyword_search('x', filter => '[]');
  raise exception 'not refused';
exception when sqlstate 'RG003' then
  assert sqlerrm like '%expected an object%', sqlerrm;
end $$;
rollback;
