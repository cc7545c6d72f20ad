-- Over what was read, not over ids: documents that went and came back find their report again.
create or replace function ragpg.community_digest(namespace_id integer, community_id bigint)
returns bytea
language sql stable
begin atomic
  select sha256(coalesce(string_agg(convert_to(document.source, 'UTF8') || '\x00'::bytea
                                    || coalesce(document.content_hash, ''::bytea),
                                    '\x0a'::bytea order by document.source), ''::bytea))
    from ragpg.document_rank as rank
    join ragpg.document on document.namespace_id = rank.namespace_id and document.id = rank.document_id
   where rank.namespace_id = community_digest.namespace_id
     and rank.community_id = community_digest.community_id;
end;

comment on function ragpg.community_digest(integer, bigint) is
$$Hash of the sources and contents of a community's documents; a report is current while it stays.

  select ragpg.community_digest(1, 42);$$;
