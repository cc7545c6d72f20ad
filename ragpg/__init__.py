"""Retrieval-augmented generation where Postgres is the engine."""

__version__ = "0.1.0"
