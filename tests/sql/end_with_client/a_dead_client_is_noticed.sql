begin;
do $$
begin
  perform ragpg.end_with_client();
  assert current_setting('client_connection_check_interval') = '5s', 'a lost client ends its statement';
end $$;
rollback;
do $$
begin
  assert current_setting('client_connection_check_interval') = '0', 'only in that transaction';
end $$;
begin;
set local client_connection_check_interval = '1min';
do $$
begin
  perform ragpg.end_with_client();
  assert current_setting('client_connection_check_interval') = '1min', 'what was set stays';
end $$;
rollback;
