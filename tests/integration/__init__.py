"""The client against a real Postgres."""
