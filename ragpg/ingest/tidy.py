"""What an ingest does when its documents are in: statistics, average length, index, sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragpg.errors import ProviderError
from ragpg.ingest.sentences import fill_sentences, keeps_sentences
from ragpg.queries_store import FOLD, REBUILD
from ragpg.steps import Flow, fetch

if TYPE_CHECKING:
    from ragpg.ingest.embedding import Space
    from ragpg.ingest.indexing import Indexing
    from ragpg.ingest.order import Order


def tidy(
    order: Order, space: Space | None, indexing: Indexing | None, *, has_written: bool
) -> Flow[list[str]]:
    """Fold keyword statistics, build the vector index where it is due; returns notes."""
    notes: list[str] = []
    while (yield from fetch(FOLD, timeout=0))[0] > 0:
        pass
    if has_written:
        yield from fetch(REBUILD, {"namespace": order.namespace}, timeout=0)
        while (yield from fetch(FOLD, timeout=0))[0] > 0:
            pass
    if indexing is not None:
        yield from indexing.after()
        notes += indexing.notes
        if indexing.wanted and order.on_index_due is not None:
            order.on_index_due(indexing.space_id)
    notes += yield from _split(order, space, has_written=has_written)
    return notes


def _split(order: Order, space: Space | None, *, has_written: bool) -> Flow[list[str]]:
    """Sentence vectors of new chunks: where they are asked for, or where the namespace
    keeps them. A failing service costs them and nothing else; the next ingest completes them."""
    name, wanted = order.namespace, order.sentences
    if space is None or space.id is None or wanted is False:
        return []
    if wanted is None and not (has_written and (yield from keeps_sentences(name))):
        return []
    try:
        yield from fill_sentences(name, space.embedder)
    except ProviderError as error:
        return [f"sentence vectors are incomplete: {error.message}"]
    return []
