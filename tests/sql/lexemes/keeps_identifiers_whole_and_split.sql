do $$ begin
  assert ragpg.lexemes('english', 'get_user_by_id') @@ 'getuserbyid & user & id'::tsquery;
  assert ragpg.lexemes('english', 'nginx.conf') @@ 'nginx & conf & nginxconf'::tsquery;
  assert ragpg.lexemes('english', 'parseHTTPResponse') @@ 'pars & http & respons'::tsquery;
end $$;
