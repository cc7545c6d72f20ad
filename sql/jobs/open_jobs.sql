create or replace function ragpg.open_jobs(folders text[] default '{}', except_namespaces text[] default '{}')
returns table (mine boolean, elsewhere boolean)
language sql stable
set search_path from current
begin atomic
  select exists (select 1 from ragpg.job join ragpg.namespace on namespace.id = job.namespace_id
                  where ragpg.may_use_namespace(namespace.id)
                    and job.state in ('waiting', 'running') and namespace.name <> all (open_jobs.except_namespaces)
                    and (job.path is null
                         or exists (select 1 from unnest(open_jobs.folders) as folder (name)
                                     where starts_with(job.path, rtrim(folder.name, '/') || '/')))),
         exists (select 1 from ragpg.job join ragpg.namespace on namespace.id = job.namespace_id
                  where ragpg.may_use_namespace(namespace.id) and job.state = 'waiting'
                    and (namespace.name = any (open_jobs.except_namespaces)
                         or job.path is not null
                        and not exists (select 1 from unnest(open_jobs.folders) as folder (name)
                                         where starts_with(job.path, rtrim(folder.name, '/') || '/'))));
end;

comment on function ragpg.open_jobs(text[], text[]) is
$$Whether jobs wait or run that a worker with these limits may have (mine), and whether jobs wait that
it may not have (elsewhere).

  select * from ragpg.open_jobs(folders => '{/srv/docs}');$$;
