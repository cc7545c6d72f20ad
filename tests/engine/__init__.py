"""The SQL engine, tested without the Python client."""
