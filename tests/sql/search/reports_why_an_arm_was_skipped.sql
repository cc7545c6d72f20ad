begin;
select ragpg.create_namespace('n');
do $$ begin
  assert (select string_agg(arm || ': ' || skipped, '; ' order by arm) from ragpg.search_report('', namespaces => '{n}'))
    = 'graph: no hits to start from; keyword: blank query; metadata: no filter; sentence: no query vector; vector: no query vector';
end $$;
rollback;
