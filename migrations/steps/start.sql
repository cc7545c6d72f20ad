-- A printed script begins at one revision: stop where the database is at another.
do $ragpg$
declare
  found text := '';
begin
  if to_regclass('ragpg.alembic_version') is not null then
    select coalesce(string_agg(version_num, ', '), '') into found from ragpg.alembic_version;
  end if;
  if found <> '{start}' then
    raise exception 'schema % is at revision "%", and this script starts at "{start}"', 'ragpg', found
      using errcode = 'RG005',
            hint = format('Print the right one: ragpg migrate --sql --revision %s:head',
                     coalesce(nullif(found, ''), 'base'));
  end if;
end
$ragpg$;
