"""Several questions in one: a probe for each clause, because no single chunk answers them all."""

from __future__ import annotations

from ragpg.query.clauses import content_terms, language_of, split_clauses
from ragpg.query.probes import Probe

#: What a clause needs to be asked on its own.
LEAST_TERMS = 2
MOST_FACETS = 4
WEIGHT = 0.1
#: Longer texts are pasted documents, not questions.
_LONGEST = 1000


def facet_probes(query: str, *, weight: float = WEIGHT) -> list[Probe]:
    """The clauses of a compositional question as probes "facet-1", "facet-2", ...

    "how refunds work and how gift cards expire" gives two. There are none unless at least two
    clauses have two content terms each; a clause with fewer stays with its neighbour.
    """
    if len(query) > _LONGEST:
        return []
    language = language_of(query)
    clauses: list[str] = []
    for clause in split_clauses(query, language):
        # "red and blue cars": half a thought is no question.
        thin = len(set(content_terms(clause, language))) < LEAST_TERMS
        if clauses and (thin or len(set(content_terms(clauses[-1], language))) < LEAST_TERMS):
            clauses[-1] = _between(query, clauses[-1], clause)
        else:
            clauses.append(clause)
    if not 2 <= len(clauses) <= MOST_FACETS:
        return []
    if any(len(set(content_terms(clause, language))) < LEAST_TERMS for clause in clauses):
        return []
    return [
        Probe(name=f"facet-{number}", query=clause, weight=weight)
        for number, clause in enumerate(clauses, 1)
    ]


def _between(query: str, first: str, second: str) -> str:
    """The stretch of the query from one clause to the end of a later one."""
    start = query.find(first)
    end = query.find(second, start + len(first)) + len(second)
    return query[start:end]
