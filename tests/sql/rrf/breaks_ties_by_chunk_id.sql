do $$ begin
  assert (select array_agg(chunk_id order by place) from ragpg.rrf(array[
    row('a', 1, 30, 1, 1, null, 1)::ragpg.arm_hit,
    row('b', 1, 10, 1, 1, null, 1)::ragpg.arm_hit,
    row('c', 1, 20, 1, 1, null, 1)::ragpg.arm_hit]) with ordinality as fused (n, chunk_id, s, a, place)) = '{10,20,30}';
end $$;
