"""Chunks that are stored and have no vector in a space get theirs by way of the cache."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ragpg.ingest.embed import embedding_hash
from ragpg.ingest.embedding import Space, embed_hashes
from ragpg.queries_spaces import CHUNKS_WITHOUT_VECTORS, STORE_VECTORS, Unembedded
from ragpg.steps import Flow, call, fetch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.queries_store import Written

#: Chunks that are looked for, embedded and stored together.
PAGE = 512


def has_lost(written: Written, keys: Sequence[bytes], vectors: set[bytes]) -> bool:
    """Whether a document was stored with fewer vectors than its chunks had in the cache: somebody
    pruned it between."""
    return written.outcome == "stored" and written.embedded < sum(key in vectors for key in keys)


def next_page(namespace: str, space: Space, after: int, k: int = PAGE) -> Flow[list[Unembedded]]:
    """The next `k` chunks without a vector, by id."""
    return (
        yield from fetch(
            CHUNKS_WITHOUT_VECTORS,
            {"namespace": namespace, "space_id": space.id, "after": after, "k": k},
            timeout=0,
        )
    )


def keys_of(page: list[Unembedded]) -> Flow[tuple[list[bytes], dict[bytes, str]]]:
    """The key of each chunk, and the texts by key."""
    return (yield from call(partial(_texts, page)))


def store_page(
    namespace: str, space: Space, page: list[Unembedded], keys: list[bytes], vectors: set[bytes]
) -> Flow[int]:
    """Give the chunks whose keys are in `vectors` theirs from the cache; how many got one."""
    ready = [(one.chunk_id, key) for one, key in zip(page, keys, strict=True) if key in vectors]
    if not ready:
        return 0
    [stored] = yield from fetch(
        STORE_VECTORS,
        {
            "namespace": namespace,
            "space_id": space.id,
            "chunk_ids": [chunk_id for chunk_id, _ in ready],
            "hashes": [key for _, key in ready],
        },
        timeout=0,
    )
    return int(stored)


def restore_vectors(namespace: str, space: Space, ttl: float) -> Flow[None]:
    """Embed again what was pruned from the cache between its embedding and its storing.

    Goes on while it gets anywhere: the cache may be pruned meanwhile once more. Where the service
    fails, `space.down` says why.
    """
    stored = True
    while stored:
        stored, after = False, 0
        while page := (yield from next_page(namespace, space, after)):
            after = page[-1].chunk_id
            keys, texts = yield from keys_of(page)
            done = yield from embed_hashes(texts, space, ttl)
            if (yield from store_page(namespace, space, page, keys, done.vectors)):
                stored = True
            if space.down is not None:
                return


def restore_beside(
    namespace: str, space: Space, texts: Mapping[bytes, str], ttl: float
) -> Flow[None]:
    """As restore_vectors, for a space that is filled beside, if one of these texts was pruned.

    The store counts the vectors of the searched space alone. So the cache is asked once more for
    `texts`, by hash, whose vectors it had before they were stored: now that chunks have them nobody
    prunes them, so one that is missing was missing for the store too.
    """
    if texts:
        done = yield from embed_hashes(texts, space, ttl)
        if done.computed:
            yield from restore_vectors(namespace, space, ttl)


def _texts(page: list[Unembedded]) -> tuple[list[bytes], dict[bytes, str]]:
    """As ragpg.ingest.embed.embedding_text says what is embedded of a chunk."""
    keys: list[bytes] = []
    texts: dict[bytes, str] = {}
    for one in page:
        text = f"{one.breadcrumb}\n{one.content}" if one.breadcrumb.strip() else one.content
        keys.append(embedding_hash(text))
        texts.setdefault(keys[-1], text)
    return keys, texts
