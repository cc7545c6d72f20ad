-- A plan of three rows must not be kept for a hundred thousand, nor a good one be made anew each time.
begin;
do $$
declare
  owner integer := ragpg.create_namespace('claim-plans');
  paper bigint;
begin
  perform set_config('ragpg.planned_pages', '', false);
  assert not ragpg.renew_plans(), 'a session without a past has nothing to forget';
  insert into ragpg.document (namespace_id, source) values (owner, 'a') returning id into paper;
  insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)
  select owner, paper, n, 'some words ' || n, '' from generate_series(1, 500) as n;
  perform set_config('ragpg.planned_pages', '0', false);
  assert ragpg.renew_plans(), 'there was nothing when plans were made';
  assert not ragpg.renew_plans(), 'nothing has come since';
  perform set_config('ragpg.planned_pages', '1000000000', false);
  assert ragpg.renew_plans(), 'most is gone';
  assert not ragpg.renew_plans();
end $$;
rollback;
