do $$
declare hit integer;
begin
  execute 'select count(*) from (select 1 as id, 1 as namespace_id, 1 as document_id, ''{"a": 1}''::jsonb as metadata) as chunk where '
    || ragpg.filter_sql($json${"k') = 1 or 1=1 --": 1, "'; drop table x; --": {"gte": "'"}}$json$) into hit;
  assert hit = 0;
end $$;
