create or replace function ragpg.set_feedback(namespace text, enabled boolean)
returns void
language sql
set search_path from current
as $$
  update ragpg.namespace
     set settings = case when enabled then settings - 'feedback' else settings || '{"feedback": false}' end
   where namespace.id = any (ragpg.namespace_ids(array[set_feedback.namespace]))
$$;

comment on function ragpg.set_feedback(text, boolean) is
$$Switches the learning loop of a namespace off or on: nothing is counted, and nothing is applied.

  select ragpg.set_feedback('handbook', false);

What was counted stays, and counts again when it is switched on; ragpg.reset_feedback() forgets it.$$;
