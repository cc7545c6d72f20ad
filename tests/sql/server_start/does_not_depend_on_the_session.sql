begin;
do $$
declare
  here constant text := ragpg.server_start();
begin
  assert here <> '', 'there is one';
  set local timezone = 'Asia/Tokyo';
  set local datestyle = 'German';
  assert ragpg.server_start() = here, format('%s, but %s', here, ragpg.server_start());
end $$;
rollback;
