do $$ begin
  assert ragpg.fold_text('Résumé, ﬁrst, Straße, Łódź') = 'Resume, first, Strasse, Lodz';
  assert ragpg.fold_text('й 가 ガ') = 'й 가 ガ';
  assert ragpg.fold_text('Donau' || chr(173) || E'\ndampfer') = 'Donaudampfer';
end $$;

-- What is let through quickly is what the whole folding leaves as it is.
do $$ begin
  assert not exists (
    select from generate_series(161, 128591) as code,
         lateral (select case when code between 55296 and 57343 then 'a' else chr(code) end as sign) as one
     where ragpg.fold_text(one.sign) = one.sign and ragpg.fold_text('ﬁ ' || one.sign) <> 'fi ' || one.sign);
end $$;
