set statement_timeout = '2s';
do $$ begin
  assert not ragpg.is_named('Ask John.', '');
  assert ragpg.is_named('Ask John.', 'john');
end $$;
