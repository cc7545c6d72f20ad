-- A list within a list finds nothing in the metadata that people write: who gives one wants another operator.
do $$
declare
  wrong jsonb;
begin
  foreach wrong in array array['{"tags": {"contains": ["db"]}}', '{"tags": {"contains_all": ["db", ["sql"]]}}',
                               '{"tags": {"contains": {"a": 1}}}']::jsonb[] loop
    begin
      perform ragpg.filter_sql(wrong);
      raise exception 'accepted: %', wrong;
    exception when sqlstate 'RG003' then
      assert sqlerrm like 'filter: "contains" on "tags" needs a plain value (contains_any and contains_all take lists), got %', sqlerrm;
    end;
  end loop;
end $$;
