"""Retrieval as tools that a chat model calls: definitions, checks, answers."""
