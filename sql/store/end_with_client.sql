-- The server looks for its client only where this is set before a statement begins.
create or replace function ragpg.end_with_client()
returns void
language plpgsql
as $$
begin
  if pg_catalog.current_setting('client_connection_check_interval') = '0' then
    begin
      perform pg_catalog.set_config('client_connection_check_interval', '5s', true);
    exception when invalid_parameter_value then
      null;  -- A system that cannot tell.
    end;
  end if;
end $$;

comment on function ragpg.end_with_client() is
$$Lets the next statements of this transaction end when their client is gone: the server looks every 5
seconds, unless it was set to look otherwise. Not behind a pooler, whose connection stays.

  begin; select ragpg.end_with_client(); select ragpg.prune_embedding_cache(); commit;$$;
