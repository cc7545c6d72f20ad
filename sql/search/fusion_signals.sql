-- What can be seen of a query's two lists, without knowing the answer.
create or replace function ragpg.fusion_signals(
  hits ragpg.arm_hit[], terms integer, lead double precision, chunks bigint, background double precision)
returns jsonb
language plpgsql immutable parallel safe
as $$
declare
  -- The best twentieth of the chunks at most: in a small namespace the 50th hit is poor for sure.
  depth constant integer := least(50, greatest(2, chunks / 20));
  first_score double precision;
  last_score double precision;
  best_cosine double precision;
begin
  select max(hit.score) filter (where hit.arm = 'keyword'),
         min(hit.score) filter (where hit.arm = 'keyword' and hit.rank <= depth),
         max(hit.score) filter (where hit.arm = 'vector')
    into first_score, last_score, best_cosine
    from unnest(hits) as hit;
  return jsonb_build_object(
    'drop', round((1 - last_score / nullif(first_score, 0))::numeric, 4),
    'near', round(((best_cosine - background) / (1 - background))::numeric, 4),
    'lead', round(lead::numeric, 4),
    'terms', terms,
    'background', round(background::numeric, 4));
end $$;

comment on function ragpg.fusion_signals(ragpg.arm_hit[], integer, double precision, bigint, double precision) is
$$The signals from which ragpg.keyword_odds() weighs the arms.

drop        how much lower BM25 is at the 50th hit than at the first, from 0 to 1: high where the
            words single out few chunks
near        where the best cosine lies between the background (0) and the same direction (1)
lead        the rarest word's share of the query's idf weight
terms       words of the query that the namespace knows

  select ragpg.fusion_signals('{}', 3, 0.5, 1000, 0.1);

chunks      how many the namespaces have
background  the cosine similarity of the query to chunks at large$$;
