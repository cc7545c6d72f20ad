-- Where an extension is gone, what needed it goes too.
do $ragpg_if$
begin
  if not exists (select from pg_catalog.pg_extension where extname = '{extension}') then
    execute $ragpg_then$
{text}
$ragpg_then$;
  end if;
end
$ragpg_if$;
