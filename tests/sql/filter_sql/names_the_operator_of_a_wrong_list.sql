-- Negations and long lists say what was written, in a line.
do $$
declare
  operator text;
begin
  foreach operator in array array['in', 'not_in', '$nin', 'contains_any'] loop
    begin
      perform ragpg.filter_sql(jsonb_build_object('lang', jsonb_build_object(operator,
        (select jsonb_agg(n) from generate_series(1, 5000) as n) || '[{}]')));
      raise exception 'accepted';
    exception when sqlstate 'RG003' then
      assert sqlerrm like format('filter: "%s" on "lang" needs a list of plain values, got [1, 2, %%...', operator), sqlerrm;
      assert length(sqlerrm) < 400, length(sqlerrm);
    end;
  end loop;
end $$;
