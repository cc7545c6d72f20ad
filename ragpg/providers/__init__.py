"""Adapters to models: each imports its library when it is used."""
