"""The SQL of what use leaves behind: memories, feedback, costs; see `ragpg.queries`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from ragpg.steps import Query, all_columns, one_column


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """What the database knows of a memory beside its text. Times have a time zone."""

    namespace: str
    document_id: int
    remembered_at: datetime
    last_seen_at: datetime
    seen: int
    superseded_by: str | None
    superseded_at: datetime | None


@dataclass(frozen=True, slots=True)
class PassageFeedback:
    """What was learned of a passage. `expected` is how often anything shown at the same ranks would
    have been followed; `prior` is what its score is multiplied with, where `enabled`."""

    namespace: str
    source: str
    chunk_index: int
    shown: float
    followed: float
    expected: float
    rate: float
    expected_rate: float
    prior: float
    enabled: bool
    last_at: datetime
    content: str
    chunk_id: int


@dataclass(frozen=True, slots=True)
class UsageRow:
    """What models cost a namespace on a day (UTC). `item` is rag:<namespace>. `unpriced` requests
    have no known price: `cost_usd` is without them, and None where there are no others."""

    day: date
    namespace: str
    item: str
    category: str
    model: str
    requests: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    unpriced: int


NOTE_MEMORY = Query(
    "select ragpg.note_memory(%(namespace)s, %(source)s, %(key)s, %(supersedes)s)", one_column
)

SUPERSEDE_MEMORIES: Query[Any] = Query(
    "select * from ragpg.supersede_memories(%(namespace)s, %(source)s, %(others)s::text[])",
    one_column,
)

#: Current memories that tell of the same states, whatever words they use.
MEMORIES_WITH_STATE: Query[Any] = Query(
    """
select source, content
  from ragpg.memories
 where namespace = %(namespace)s and superseded_by is null and source <> %(source)s
   and exists (select 1 from unnest(%(states)s::text[]) as state
                where metadata @> jsonb_build_object('@states', jsonb_build_array(state)))
 order by last_seen_at desc, source
 limit 100
""",
    all_columns,
    reads=True,
)

MEMORIES_OF: Query[Any] = Query(
    """
select namespace, document_id, remembered_at, last_seen_at, seen, superseded_by, superseded_at
  from ragpg.memories
 where namespace = any(%(namespaces)s::text[]) and document_id = any(%(documents)s::bigint[])
    """,
    MemoryRow,
    reads=True,
)

RECORD_FEEDBACK = Query("select ragpg.record_feedback(%(events)s)", one_column)

RECORD_USAGE = Query("select ragpg.record_usage(%(events)s)", one_column)

RESET_USAGE = Query("select ragpg.reset_usage(%(namespace)s, %(before)s)", one_column)

USAGE_SUMMARY: Query[Any] = Query(
    """
select day, namespace, item, category, model, requests, input_tokens, output_tokens,
       cost_usd::float8, unpriced
  from ragpg.usage_summary
 where (%(namespace)s::text is null or namespace = %(namespace)s)
   and (%(since)s::date is null or day >= %(since)s)
 order by day desc, namespace collate "C", category, model
""",
    UsageRow,
    reads=True,
)

RESET_FEEDBACK = Query("select ragpg.reset_feedback(%(namespace)s, %(sources)s)", one_column)

SET_FEEDBACK = Query("select ragpg.set_feedback(%(namespace)s, %(enabled)s)", one_column)

FEEDBACK_SUMMARY: Query[Any] = Query(
    """
select namespace, source, chunk_index, shown::float8, followed::float8, expected::float8,
       rate::float8, expected_rate::float8, prior::float8, enabled, last_at, content, chunk_id
  from ragpg.feedback_summary
 where namespace = %(namespace)s
 order by abs(prior - 1) desc, source, chunk_index
 limit %(k)s
""",
    PassageFeedback,
    reads=True,
)
