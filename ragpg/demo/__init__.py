"""`python -m ragpg.demo`: from nothing to cited passages, on 413 sections of a real manual."""
