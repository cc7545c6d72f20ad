-- One migration at a time in a database, whatever its schema.
select pg_advisory_xact_lock(hashtext('ragpg migration'));
