do $$
declare fused record;
begin
  select * into fused from ragpg.rrf(array[
    row('keyword', 1, 7, 2, 3.5, null, 1)::ragpg.arm_hit,
    row('vector', 1, 9, 1, 0.9, 'hnsw', 1.3)::ragpg.arm_hit]) where chunk_id = 7;
  assert fused.score = 1 / 12.0::float8;
  assert fused.arms = '{"keyword": {"rank": 2, "score": 3.5}}', fused.arms;
end $$;
