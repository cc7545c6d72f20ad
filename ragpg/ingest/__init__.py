"""load -> chunk -> embed -> store: one transaction a document."""
