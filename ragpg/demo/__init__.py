"""`python -m ragpg.demo`: from nothing to cited passages, on 343 sections of a real manual."""
