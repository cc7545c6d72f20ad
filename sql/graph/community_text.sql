create or replace function ragpg.community_text(namespace text, community_id bigint, characters integer default 8000)
returns text
language sql stable
begin atomic
  with foremost as (
    select document.title, document.source, opening.content,
           row_number() over (order by document_rank.pagerank desc, document.id) as place
      from ragpg.namespace
      join ragpg.document_rank on document_rank.namespace_id = namespace.id
                              and document_rank.community_id = community_text.community_id
      join ragpg.document on document.namespace_id = namespace.id and document.id = document_rank.document_id
     cross join lateral (
           select chunk.content from ragpg.chunk
            where chunk.namespace_id = namespace.id and chunk.document_id = document.id
            order by chunk.ordinal limit 1) as opening
     where namespace.name = community_text.namespace
     order by document_rank.pagerank desc, document.id
     limit 40
  ), counted as (
    select part.place, part.text, sum(length(part.text)) over (order by part.place) as so_far
      from (select foremost.place,
                   '## ' || coalesce(nullif(foremost.title, ''), foremost.source) || chr(10) || left(foremost.content, characters / 4) as text
              from foremost) as part
  )
  select string_agg(counted.text, chr(10) || chr(10) order by counted.place)
    from counted where counted.so_far <= characters or counted.place = 1;
end;

comment on function ragpg.community_text(text, bigint, integer) is
$$The openings of a community's leading documents, best PageRank first, for a model to report on.

  select ragpg.community_text('default', 1);$$;
