"""A queue of documents in Postgres: who has something puts it in, workers ingest it."""
