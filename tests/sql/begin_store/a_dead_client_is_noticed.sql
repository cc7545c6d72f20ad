begin;
do $$
begin
  perform ragpg.begin_store();
  assert current_setting('client_connection_check_interval') = '5s', 'a lost client ends its statement';
end $$;
rollback;
