"""Judged sets in, ranking metrics out."""
