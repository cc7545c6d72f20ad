"""A web application over ragpg: search, streamed answers, sources at the line. See README.md."""
