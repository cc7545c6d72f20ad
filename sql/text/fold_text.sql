-- One spelling for text that readers hold to be the same: compatibility forms (ligatures, full
-- width), Latin accents, sharp s, soft hyphens and zero-width characters. Accents of other scripts
-- carry meaning and stay. ASCII comes back untouched and costs nothing.
create or replace function ragpg.fold_text(value text)
returns text
language sql immutable strict parallel safe
return case
  when octet_length(value) = length(value) then value
  else normalize(
    regexp_replace(
      normalize(
        replace(replace(
          regexp_replace(translate(value, 'øØłŁđĐ', 'oOlLdD'), '\u00ad\s*\n?|[\u200b-\u200d\u2060\ufeff]', '', 'g'),
          'ß', 'ss'), 'ẞ', 'SS'),
        nfkd),
      '([A-Za-z])[\u0300-\u036f]+', '\1', 'g'),
    nfc)
end;

comment on function ragpg.fold_text(text) is
$$Text with ligatures, Latin accents, sharp s and soft hyphens folded to plain letters.

  select ragpg.fold_text('Le résumé, ﬁrst class');  -- Le resume, first class

Applied to both sides of keyword search; stored content keeps its spelling.$$;
