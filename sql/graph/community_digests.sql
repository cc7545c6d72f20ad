create or replace function ragpg.community_digests(namespace text, minimum integer default 2)
returns table (community_id bigint, digest bytea, name text, size integer, reported boolean)
language sql stable
begin atomic
  select member.community_id, member.digest, community.name, member.documents,
         exists (select 1 from ragpg.community_report
                  where community_report.namespace_id = member.namespace_id and community_report.digest = member.digest)
    from (select document_rank.namespace_id, document_rank.community_id, count(*)::integer as documents,
                 sha256(convert_to(string_agg(
                   document.source || ' ' || encode(coalesce(document.content_hash, ''), 'hex'), chr(10)
                   order by document.source), 'UTF8')) as digest
            from ragpg.namespace
            join ragpg.document_rank on document_rank.namespace_id = namespace.id
            join ragpg.document on document.namespace_id = document_rank.namespace_id
                               and document.id = document_rank.document_id
           where namespace.name = community_digests.namespace and document_rank.community_id is not null
           group by 1, 2 having count(*) >= minimum) as member
    join ragpg.community on community.namespace_id = member.namespace_id and community.id = member.community_id
   order by member.documents desc, member.community_id;
end;

comment on function ragpg.community_digests(text, integer) is
$$Communities with the digest of their members' names and texts, and whether a report of just these members
is there; largest first.

  select * from ragpg.community_digests('default');

minimum  how many documents a community must have$$;
