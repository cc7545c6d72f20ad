"""Judges of claims: lexical, embedding, a local entailment model, a chat model; see Judge."""
