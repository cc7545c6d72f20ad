"""Weighted reciprocal rank fusion, for the lists that do not come from Postgres.

`ragpg.search` fuses its own arms in SQL, by whatever method, and scores them so that a first place
counts weight / (rrf_k + 1). A list from elsewhere joins by adding its reciprocal ranks to those
scores; with method "rrf" the result is what SQL would have computed, to the last bit, where the
lists' names come after its arms'.

Formula: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual
rank learning methods", SIGIR 2009, with a weight per list: score = sum of weight / (rrf_k + rank).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragpg.errors import ConfigError
from ragpg.types import ArmHit, Hit

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

#: The weight of an arm that the caller did not name.
DEFAULT_WEIGHT = 1.0


def fuse(
    lists: Mapping[str, Sequence[Hit]],
    weights: Mapping[str, float] | None = None,
    *,
    rrf_k: int = 10,
    k: int = 10,
) -> list[Hit]:
    """Merge ranked lists (arm name to hits, best first) into the best `k` hits.

    A hit found by several arms appears once, with the sum of their credits. Hits are the same when
    they share namespace and chunk id, or, where one has no id, namespace, source and content.
    Equal scores are ordered by number of arms (more first), then namespace, source and place.
    """
    return fuse_with_external((), lists, weights, rrf_k=rrf_k, k=k)


def fuse_with_external(
    sql_hits: Sequence[Hit],
    external: Mapping[str, Sequence[Hit]],
    weights: Mapping[str, float] | None = None,
    *,
    rrf_k: int = 10,
    k: int = 10,
) -> list[Hit]:
    """Join the lists of external retrievers to hits that SQL has fused already.

    A hit keeps its score from SQL and gains weight / (rrf_k + rank) from each list that has it, so
    ask SQL for its whole candidate pool and cut here, not before. `rrf_k` is that of SQL
    (`Fusion.rrf_k`). Raises ConfigError when a retriever has the name of an SQL arm.
    """
    given = weights or {}
    found: dict[Hashable, Hit] = {}
    arms: dict[Hashable, dict[str, ArmHit]] = {}
    chunk_of: dict[Hashable, Hashable] = {}
    in_sql: dict[Hashable, float] = {}

    def enter(hit: Hit) -> Hashable:
        text_key = (hit.namespace, hit.source, hit.content)
        if hit.chunk_id is None:
            key = chunk_of.get(text_key, text_key)
        else:
            key = (hit.namespace, hit.chunk_id)
            chunk_of.setdefault(text_key, key)
        if key not in found:
            found[key] = hit
            arms[key] = {}
        return key

    for hit in sql_hits:
        key = enter(hit)
        arms[key].update(hit.arms)
        in_sql[key] = hit.score
    taken = {name for ranked in arms.values() for name in ranked}
    # Hits with an id go first, so that a retriever without ids is matched to them by content.
    by_id_first = sorted(
        external, key=lambda name: (any(hit.chunk_id is None for hit in external[name]), name)
    )
    for name in by_id_first:
        if name in taken:
            raise ConfigError(
                f"the retriever {name!r} has the name of a search arm",
                hint="Give the retriever another name.",
            )
        rank = 0
        for hit in external[name]:
            key = enter(hit)
            if name in arms[key]:
                continue
            rank += 1
            arms[key][name] = ArmHit(rank, hit.score)

    def score(key: Hashable) -> float:
        # Addition of floats depends on the order; SQL adds in the order of the arms' names too.
        ranked = arms[key]
        return sum(
            (
                given.get(name, DEFAULT_WEIGHT) / (rrf_k + ranked[name].rank)
                for name in sorted(ranked)
                if name in external
            ),
            start=in_sql.get(key, 0.0),
        )

    fused = [replace(hit, score=score(key), arms=arms[key]) for key, hit in found.items()]
    fused.sort(key=_order)
    return [replace(hit, rank=rank) for rank, hit in enumerate(fused[: max(k, 0)], start=1)]


def _order(hit: Hit) -> tuple[float, int, str, str, int, int, str]:
    return (
        -hit.score,
        -len(hit.arms),
        hit.namespace,
        hit.source,
        hit.chunk_id if hit.chunk_id is not None else -1,
        hit.start_char if hit.start_char is not None else -1,
        hit.content,
    )
