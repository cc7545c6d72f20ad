create or replace function ragpg.heading_lexemes(config regconfig, breadcrumb text)
returns tsvector
language sql immutable parallel safe
return case when breadcrumb = '' then ''::tsvector
            else setweight(ragpg.lexemes(config, left(breadcrumb, 2000)), 'A') end;

comment on function ragpg.heading_lexemes(regconfig, text) is
$$The search terms of a breadcrumb, marked as such; the first part of ragpg.keyword_row().

  select ragpg.heading_lexemes('english', 'Guide > Install');$$;
