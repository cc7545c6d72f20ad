"""Queries sampled from the loaded corpus, the same on every run over the same corpus."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psycopg

KINDS = ("kw", "nl", "ident", "hot")
IDENTIFIER = re.compile(r"\b(?:[a-z]+(?:[A-Z][a-z0-9]+)+|[a-z][a-z0-9]*(?:_[a-z0-9]+)+)\b")
SENTENCE = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True)
class Query:
    """kw: 2-4 words of a heading; nl: 8-16 words of a sentence; ident: an identifier of the
    text; hot: three of the corpus's most common words, the worst case of a keyword index."""

    kind: str
    text: str


def sample(
    connection: psycopg.Connection, namespace: str, count: int, seed: int = 7
) -> list[Query]:
    """`count` queries of each kind, in an order that mixes the kinds."""
    chooser = random.Random(seed)
    row = connection.execute(
        "select id from ragpg.namespace where name = %s", (namespace,)
    ).fetchone()
    if row is None:
        raise SystemExit(f"namespace {namespace!r} is not loaded: run benchmarks/load.py first")
    # A multiplicative hash of the id spreads the sample over all packages.
    chunks = connection.execute(
        """select breadcrumb, content from ragpg.chunk where namespace_id = %s
           order by (id * 2654435761) %% 4294967296 limit %s""",
        (row[0], count * 12),
    ).fetchall()
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for breadcrumb, content in chunks:
        words = re.findall(r"[A-Za-z][A-Za-z0-9-]{2,}", breadcrumb.split(" > ")[-1])
        if len(words) >= 2:
            found["kw"].append(" ".join(words[: chooser.randint(2, 4)]))
        for sentence in SENTENCE.split(content.replace("\n", " ")):
            words = re.findall(r"[\w'-]+", sentence)
            if 8 <= len(words) <= 16 and all(word.isascii() for word in words):
                found["nl"].append(" ".join(words))
                break
        if names := IDENTIFIER.findall(content):
            found["ident"].append(chooser.choice(names))
    common = [
        word
        for (word,) in connection.execute(
            """select lexeme from ragpg.lexeme_statistics
                where namespace_id = %s and lexeme ~ '^[a-z]{3,}$'
                order by documents desc, lexeme limit 40""",
            (row[0],),
        )
    ]
    found["hot"] = [" ".join(chooser.sample(common, 3)) for _ in range(count)]
    return [
        Query(kind, found[kind][place])
        for place in range(count)
        for kind in KINDS
        if place < len(found[kind])
    ]
