do $$ begin
  assert (select chunk_id from ragpg.rrf(array[
    row('a', 1, 1, 1, 1, null, 1)::ragpg.arm_hit,
    row('a', 1, 2, 2, 1, null, 1)::ragpg.arm_hit,
    row('b', 1, 2, 50, 1, null, 1)::ragpg.arm_hit]) limit 1) = 2;
end $$;
