-- The analyser: stemmed words of the language, whole identifiers, special words, bigrams. Small
-- letters are made here: dictionaries use the database's locale, which may know ASCII alone.
create or replace function ragpg.lexemes(config regconfig, value text)
returns tsvector
language sql immutable strict parallel safe
begin atomic
  select to_tsvector(config, lower(ragpg.split_words(
           case when text.plain then text.folded
                else regexp_replace(text.folded, '[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e00-\u0e7f]+', ' ', 'g')
           end) collate pg_c_utf8))
         || case when text.plain then ''::tsvector
                 else to_tsvector('pg_catalog.simple', ragpg.character_bigrams(text.folded)) end
         || to_tsvector('pg_catalog.simple', ragpg.whole_identifiers(text.folded))
         || ragpg.special_words(text.folded)
    -- Offset 0: folded once, not once for every use.
    from (select source.folded, octet_length(source.folded) = length(source.folded) as plain
            from (select ragpg.fold_text(value) as folded offset 0) as source
          offset 0) as text;
end;

comment on function ragpg.lexemes(regconfig, text) is
$$The search terms of a text: what documents are indexed by and what queries are made of.

  select ragpg.lexemes('english', 'Call get_user_by_id before C++ builds');

config  a text search configuration of Postgres (\dF); it stems and drops stop words$$;
