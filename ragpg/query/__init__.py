"""rewrite -> retrieve -> rerank -> context -> ground -> cite."""
