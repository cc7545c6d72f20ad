do $$ begin
  assert ragpg.fold_text('Résumé, ﬁrst, Straße, Łódź') = 'Resume, first, Strasse, Lodz';
  assert ragpg.fold_text('й 가 ガ') = 'й 가 ガ';
  assert ragpg.fold_text('Donau' || chr(173) || E'\ndampfer') = 'Donaudampfer';
end $$;
