"""Rerankers: models and services that order hits anew, and how several of them run in turn."""
