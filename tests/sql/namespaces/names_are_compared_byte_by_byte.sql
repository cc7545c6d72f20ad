begin;
do $$ begin
  perform ragpg.create_namespace(name) from unnest('{north,NORTH,"north ",north-sea,nort}'::text[]) as name;
  assert (select count(*) from ragpg.namespace) = 5;
  assert ragpg.create_namespace('north') = (select id from ragpg.namespace where name = 'north'), 'created once';
  assert ragpg.drop_namespace('north') and not ragpg.drop_namespace('north');
  assert (select count(*) from ragpg.namespace) = 4;
  begin
    perform ragpg.create_namespace('  ');
    raise exception 'not refused';
  exception when sqlstate 'RG005' then null; end;
end $$;
rollback;
