"""The graph of documents, entities and communities."""
