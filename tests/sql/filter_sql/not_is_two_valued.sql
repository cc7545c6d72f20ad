do $$
declare filter jsonb; matched boolean; opposite boolean; row record;
begin
  foreach filter in array array['{"k": "en"}', '{"k": {"gt": 3}}', '{"k": {"in": ["en", 4]}}', '{"k": {"contains": 4}}',
      '{"k": {"date": {"gte": "2024-01-01"}}}', '{"/k/0": 4}', '{"k": {"starts_with": "e"}}', '{"k": null}']::jsonb[] loop
    for row in select * from (values ('{"k": "en"}'::jsonb), ('{}'), ('{"k": null}'), ('{"k": 4}'), ('{"k": [4]}'), ('{"k": {"x": 1}}'), ('{"k": "2024-05-01"}')) as chunk (metadata) loop
      execute format('select %s, %s from (select $1 as metadata) as chunk', ragpg.filter_sql(filter),
        ragpg.filter_sql(jsonb_build_object('not', filter))) into matched, opposite using row.metadata;
      assert matched is not null and matched <> opposite, format('%s on %s', filter, row.metadata);
    end loop;
  end loop;
end $$;
