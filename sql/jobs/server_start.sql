-- The statistics of a server begin anew when it has crashed, also where its main process lives on. As
-- numbers: how a time is written depends on the session.
create or replace function ragpg.server_start()
returns text
language sql stable
begin atomic
  select pg_catalog.concat_ws(' ', extract(epoch from pg_catalog.pg_postmaster_start_time()),
                              extract(epoch from bgwriter.stats_reset))
    from pg_catalog.pg_stat_bgwriter as bgwriter;
end;

comment on function ragpg.server_start() is
$$Tells one run of the server from another: it changes with a restart, a crash, and when a replica
takes over. With synchronous_commit = off, and without synchronous replicas, what was committed last
may be gone then. So a worker ends its jobs only under the run in which it took them:

  select ragpg.finish_jobs('me', '{17}', '{stored}') where ragpg.server_start() = 'as it was';$$;
