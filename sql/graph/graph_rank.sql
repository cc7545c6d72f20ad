-- Without a start by the PageRank of the last analysis; from a start by a walk, which needs none.
create or replace function ragpg.graph_rank(
  namespace text default 'default', sources text[] default null, query text default null, k integer default 20,
  hops integer default 2)
returns table (source text, title text, rank double precision, community text)
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := (ragpg.namespace_ids(array[graph_rank.namespace]))[1];
  missing text;
  starts bigint[];
begin
  if (k >= 0 and hops between 1 and 5) is not true then
    raise exception 'k cannot be negative or null, and hops is 1 to 5: %, %', k, hops using errcode = 'RG005';
  end if;
  if sources is null and query is null then
    return query
    select document.source, document.title, kept.pagerank::double precision, community.name
      from ragpg.document_rank as kept
      join ragpg.document on document.namespace_id = owner and document.id = kept.document_id
      left join ragpg.community on community.namespace_id = owner and community.id = kept.community_id
     where kept.namespace_id = owner and kept.pagerank is not null
     order by 3 desc, document.id
     limit graph_rank.k;
    return;
  end if;
  select given.source into missing from unnest(sources) as given (source)
   where not exists (select from ragpg.document where document.namespace_id = owner and document.source = given.source) limit 1;
  if missing is not null then
    raise exception 'there is no document "%" in namespace "%"', missing, graph_rank.namespace using errcode = 'RG005',
      hint = 'ragpg.fingerprints() lists the sources.';
  end if;
  starts := array(select document.id from ragpg.document where document.namespace_id = owner and document.source = any (sources))
         || array(select hit.document_id from ragpg.keyword_search(graph_rank.query, array[graph_rank.namespace], k => 5) as hit
                   where graph_rank.query is not null);
  return query
  select document.source, document.title, walk.rank, community.name
    from ragpg.personalized_pagerank(owner, starts, hops => graph_rank.hops) as walk
    join ragpg.document on document.namespace_id = owner and document.id = walk.document_id
    left join ragpg.document_rank as kept on kept.namespace_id = owner and kept.document_id = document.id
    left join ragpg.community on community.namespace_id = owner and community.id = kept.community_id
   order by walk.rank desc, document.id
   limit graph_rank.k;
end $$;

comment on function ragpg.graph_rank(text, text[], text, integer, integer) is
$$Documents by their place in the graph: by PageRank, or by Personalised PageRank from documents or a
question.

  select * from ragpg.graph_rank('handbook');
  select * from ragpg.graph_rank('handbook', query => 'gift cards');   -- from its five best documents

sources  documents to walk from, as in '{refunds.md}'
hops     steps of the walk, 1 to 5

rank is a share: all of a namespace, or of a walk, add up to one. Without a start there are rows after
an analysis.$$;
