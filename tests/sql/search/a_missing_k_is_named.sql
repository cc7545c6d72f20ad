begin;
do $$
declare
  call text;
begin
  perform ragpg.create_namespace('default');
  foreach call in array array[
    'ragpg.keyword_search(''x'', k => null)',
    'ragpg.metadata_search(''{"a": 1}'', k => null)',
    'ragpg.graph_search(''{1}'', k => null)',
    'ragpg.vector_search(''[1,2]'', k => null)',
    'ragpg.document_chunks(k => -1)']
  loop
    begin
      execute 'select * from ' || call;
      raise exception '% was not refused', call;
    exception when sqlstate 'RG005' then
      assert sqlerrm like 'k cannot be%', sqlerrm;
    end;
  end loop;
  perform ragpg.graph_search('{1}', query => 'Orion', k => 2147483647);
end $$;
rollback;
