"""Remember, recall and forget as flows over the search and the store of everything else.

A memory is a document of one chunk in a namespace of kind memory; its source is the hash of its
words, so that the same text is one memory however often, and by however many, it is told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import blake2b
from numbers import Real
from typing import TYPE_CHECKING, Any

from ragpg.arguments import MOST, share, whole
from ragpg.errors import ConfigError, NamespaceNotFound, RagpgError
from ragpg.ingest.chunk import WholeChunker
from ragpg.ingest.clean import clean_text
from ragpg.ingest.order import Order
from ragpg.ingest.pipeline import ingest
from ragpg.memory.conflict import state_keys, takes_the_place
from ragpg.memory.judge import judged
from ragpg.queries import CREATE_NAMESPACE
from ragpg.queries_learned import (
    MEMORIES_OF,
    MEMORIES_WITH_STATE,
    NOTE_MEMORY,
    SUPERSEDE_MEMORIES,
    MemoryRow,
)
from ragpg.query.pipeline import search
from ragpg.steps import Flow, call, fetch, fetch_one
from ragpg.types import Json, Metadata

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.memory.judge import ChatModel
    from ragpg.query.request import Providers, Request
    from ragpg.settings import Settings
    from ragpg.types import Hit

#: How many older memories a new one is compared with, beside those that tell of the same state.
COMPARED = 8
#: Characters of a memory, and of it as a query: longer ones say nothing more of what it is about.
LONGEST, _ASKED = 20_000, 2000


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a text: `new` is false when it was known; `superseded` maps the sources of
    older memories that it contradicts to the reason."""

    source: str
    new: bool
    superseded: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory that fits a query. `similarity` is the cosine, None where only words were compared.
    `score` has the age in it; best first."""

    text: str
    source: str
    namespace: str
    score: float
    similarity: float | None
    remembered_at: datetime
    last_seen_at: datetime
    seen: int
    metadata: Metadata = field(default_factory=dict)
    superseded_by: str | None = None
    superseded_at: datetime | None = None

    @property
    def current(self) -> bool:
        """Whether no newer memory took its place."""
        return self.superseded_by is None


@dataclass(frozen=True, slots=True)
class Recall:
    """How memories are chosen and ranked.

    k               how many
    min_similarity  cosine below which a memory is not recalled, -1 to 1; it needs vectors
    half_life       days after which a memory counts half, down to `floor`; None: age is nothing
    superseded      whether memories that a newer one took the place of are recalled too, last
    filter          conditions on metadata
    """

    k: int = 5
    min_similarity: float = 0.3
    half_life: float | None = 180.0
    floor: float = 0.5
    superseded: bool = False
    filter: Json = None

    def __post_init__(self) -> None:
        # Superseded and dissimilar ones fall out, so several times as many are looked at.
        whole("k", self.k, most=MOST // 5)
        share("min_similarity", self.min_similarity, least=-1)
        share("floor", self.floor)
        if not isinstance(self.superseded, bool):
            raise ConfigError(f"superseded must be true or false, not {self.superseded!r}")
        days = self.half_life
        if days is not None and (not isinstance(days, Real) or not days > 0):
            raise ConfigError(f"half_life must be above 0 days: {days!r}")


def remember(
    text: str,
    namespace: str,
    request: Request,
    providers: Providers,
    settings: Settings,
    *,
    key: str | None,
    metadata: Metadata,
    supersedes: Sequence[str],
    language: str,
    judge: ChatModel | None,
) -> Flow[Remembered]:
    """Store a text, once, and mark what it contradicts. `request` searches for that."""
    words = re.sub(r"\s+", " ", clean_text(text)[0]).strip()
    if not words:
        raise ConfigError("there is nothing to remember: the text is blank")
    if len(words) > LONGEST:
        raise ConfigError(
            f"a memory has at most {LONGEST:,} characters, and this one {len(words):,}",
            hint="Ingest long texts into a namespace of knowledge.",
        )
    if not (key is None or isinstance(key, str)):
        raise ConfigError(f"the key of a memory must be a text, not {key!r}")
    source = blake2b(words.encode(), digest_size=12).hexdigest()
    told: list[str] = yield from call(state_keys, words)
    yield from fetch(
        CREATE_NAMESPACE, {"namespace": namespace, "kind": "memory", "language": language}
    )
    kept = dict(metadata) | ({"@states": told} if told else {})
    report = yield from ingest(
        Order(
            texts=[{"source": source, "text": words, "metadata": kept}],
            namespace=namespace,
            chunker=WholeChunker(),
        ),
        providers.embedder,
        settings,
    )
    if not report.ok:
        raise RagpgError(f"it could not be remembered: {report.files[0].reason}")
    given = {one: "the caller said so" for one in supersedes if one != source}
    is_new = yield from fetch_one(
        NOTE_MEMORY,
        {"namespace": namespace, "source": source, "key": key, "supersedes": list(given)},
    )
    # After the note: of two that are told at once, the later one to come here sees the other.
    found = yield from search(replace(request, query=words[:_ASKED]), providers, settings)
    others = {hit.source: hit.content for hit in found.hits}
    if told:
        values = {"namespace": namespace, "source": source, "states": told}
        others |= dict((yield from fetch(MEMORIES_WITH_STATE, values)))
    others = {one: said for one, said in others.items() if one != source and one not in given}
    conflicts: dict[str, str] = yield from call(_conflicts, words, others)
    if judge is not None and others:
        conflicts = yield from judged(judge, words, others, conflicts, namespace)
    if conflicts:
        values = {"namespace": namespace, "source": source, "others": list(conflicts)}
        gone = yield from fetch(SUPERSEDE_MEMORIES, values)
        conflicts = {one: reason for one, reason in conflicts.items() if one in gone}
    return Remembered(source, bool(is_new), given | conflicts)


def recall(
    request: Request, how: Recall, providers: Providers, settings: Settings, now: datetime
) -> Flow[list[Recalled]]:
    """Memories that fit, current ones first, newer before older. Nothing where there is no memory
    yet."""
    try:
        found = yield from search(request, providers, settings)
    except NamespaceNotFound:
        return []
    rows: list[MemoryRow] = yield from fetch(
        MEMORIES_OF,
        {
            "namespaces": list(request.namespaces),
            "documents": [hit.document_id for hit in found.hits],
        },
    )
    known = {(row.namespace, row.document_id): row for row in rows}
    has_vectors = any("vector" in hit.arms for hit in found.hits)
    recalled = []
    for hit in found.hits:
        row = known.get((hit.namespace, hit.document_id or 0))
        vector = hit.arms.get("vector")
        similarity = None if vector is None else vector.score
        if row is None or (has_vectors and (similarity or -1.0) < how.min_similarity):
            continue
        if row.superseded_by is not None and not how.superseded:
            continue
        recalled.append(_recalled(hit, row, similarity, _age_factor(row.last_seen_at, how, now)))
    recalled.sort(key=lambda one: (not one.current, -one.score, one.source))
    return recalled[: how.k]


def _recalled(hit: Hit, row: MemoryRow, similarity: float | None, factor: float) -> Recalled:
    metadata: dict[str, Any] = {
        name: value for name, value in hit.metadata.items() if not name.startswith("@")
    }
    return Recalled(
        text=hit.content,
        source=hit.source,
        namespace=hit.namespace,
        score=hit.score * factor,
        similarity=similarity,
        remembered_at=row.remembered_at,
        last_seen_at=row.last_seen_at,
        seen=row.seen,
        metadata=metadata,
        superseded_by=row.superseded_by,
        superseded_at=row.superseded_at,
    )


def _age_factor(seen: datetime, how: Recall, now: datetime) -> float:
    if how.half_life is None:
        return 1.0
    days = max(0.0, (now.astimezone(UTC) - seen).total_seconds() / 86_400)
    return how.floor + (1 - how.floor) * float(0.5 ** (days / how.half_life))


def _conflicts(text: str, others: Mapping[str, str]) -> dict[str, str]:
    reasons = ((source, takes_the_place(text, said)) for source, said in others.items())
    return {source: reason for source, reason in reasons if reason}
