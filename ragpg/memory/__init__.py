"""Semantic memory of agents, apart from knowledge: remember, recall, forget."""
