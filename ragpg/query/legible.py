"""How far a model can read a query, and what a search makes of it.

An embedding model without the vocabulary of a language still gives vectors, and their cosines look
like those of good ones. Its tokenizer knows better: of words that it never learned it has single
letters, or short pieces, or nothing.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from ragpg.steps import Flow, call
from ragpg.types import ArmReport

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragpg.protocols import AsyncEmbedder, Embedder

#: Below this a search does without the vector of the query: docs/decisions/fusion.md.
LEGIBLE = 0.3
#: How much more the words weigh, as a logarithm, for a query of which the model makes nothing; in
#: between by its share. Measured with 3, 6 and 12 in five languages: docs/decisions/fusion.md.
LEAN = 6.0
_UNREAD = "legibility of the query"
#: What the notes of a result say.
UNREADABLE = "vector arm skipped: the embedding model cannot read the script of this query"


def legibility(query: str, embedder: Embedder | AsyncEmbedder | None) -> Flow[tuple[str, float]]:
    """The query as the embedder reads it best, and what it says of that, 0 to 1, where it can tell
    (`reads`); else 1.

    Letters in another form, as of full width or in ligatures, are read in their plain one (NFKC)
    where the model knows no other.
    """
    reads = getattr(embedder, "reads", None)
    if reads is None:
        return query, 1.0
    share: float = yield from call(reads, query)
    plain = unicodedata.normalize("NFKC", query)
    if share < 1 and plain != query:
        other: float = yield from call(reads, plain)
        if other > share:
            return plain, other
    return query, share


def unread(share: float) -> ArmReport:
    """What a report says of a vector that was left out because of this legibility."""
    return ArmReport(skipped=f"{_UNREAD}: {share:.2f}")


def was_unread(report: Mapping[str, ArmReport]) -> bool:
    """Whether the vector of the query was left out because the model could not read it."""
    embed = report.get("embed")
    return embed is not None and (embed.skipped or "").startswith(_UNREAD)


def leaning(fusion: Mapping[str, Any], share: float) -> Mapping[str, Any]:
    """The options of a fusion that leans to the words as far as the model cannot read the query."""
    return {**fusion, "lean": round(LEAN * (1 - share), 3)}
