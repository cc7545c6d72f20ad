"""One search, looked into: every arm's list, fusion, reranking, context and grounding."""
