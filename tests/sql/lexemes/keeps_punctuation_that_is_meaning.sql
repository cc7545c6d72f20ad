do $$ begin
  assert tsvector_to_array(ragpg.special_words('C++, C# and F#; .NET with -O2, --dry-run; 5.6.1'))
         = '{--dry-run,-o2,.net,5.6.1,c#,c++,f#}';
  assert ragpg.special_words('e.g. this. Then 3.14, x-y and a-b') = ''::tsvector, ragpg.special_words('e.g. this. Then 3.14, x-y and a-b')::text;
end $$;
