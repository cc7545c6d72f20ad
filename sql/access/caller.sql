-- Inside a function with the owner's rights current_user is the owner. The setting "role" still
-- holds what SET ROLE chose, and nobody can set it to a role that is not theirs.
create or replace function ragpg.caller()
returns name
language sql stable parallel safe
return coalesce(nullif(pg_catalog.current_setting('role', true), 'none'), session_user::text)::name;

comment on function ragpg.caller() is
$$The role that asks, also inside functions that run with the owner's rights.

  select ragpg.caller();$$;
