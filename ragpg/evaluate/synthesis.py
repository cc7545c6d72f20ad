"""Questions whose answer is known, made from a corpus: no judgements and no model are needed.

Each sampled chunk gives one question of each kind:

keywords   its six most telling words (tf * idf)
vague      of its twelve most telling words the six that most other chunks have too
question   a phrase of its key sentence in the frame of a question
excerpt    its key sentence with two fifths of the content words left out
reworded   its key sentence with synonyms, other word forms, turned halves, without its rarest word
follow-up  an elliptic question with one of its words, after a question that named the subject

All of them take their words from the chunk, which favours keyword search; `keywords` most of all,
`reworded` and `vague` least. Read them by kind, and prefer judged questions where there are some.
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

from ragpg.errors import ConfigError
from ragpg.evaluate.gold import COVERAGE, Gold, GoldDocuments, GoldSpans, Question, Span
from ragpg.evaluate.paraphrase import key_phrase, key_sentence, reworded, with_words_left_out
from ragpg.queries import KNOWN_ITEMS
from ragpg.steps import Flow, fetch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.client import Client
    from ragpg.queries import KnownItem

KINDS = ("keywords", "vague", "question", "excerpt", "reworded", "follow-up")
#: Words in a query of keywords.
_LENGTH = 6
_FRAMES = (
    "what is known about {}?",
    "how does {} work?",
    "why does {} matter?",
    "where is {} described?",
    "what should I know about {}?",
)
_FOLLOW_UPS = (
    "and what about the {}?",
    "how is that related to {}?",
    "what does it say about {}?",
    "and {}?",
)


def known_items(namespace: str, *, items: int, seed: int = 1) -> Flow[list[KnownItem]]:
    """Sampled chunks of a namespace with their most telling words; see ragpg.known_items()."""
    rows: list[KnownItem] = yield from fetch(
        KNOWN_ITEMS, {"namespace": namespace, "items": items, "seed": seed}
    )
    return rows


def questions_from(
    rag: Client,
    namespaces: Sequence[str],
    *,
    items: int = 50,
    kinds: Sequence[str] = KINDS,
    seed: int = 1,
    coverage: float = COVERAGE,
) -> list[Question]:
    """The questions of `items` chunks, sampled evenly from the namespaces.

    Raises ConfigError where no chunk gives one, NamespaceNotFound for an unknown namespace.
    """
    share = -(-items // len(namespaces))
    sample = [
        item for name in namespaces for item in rag.run(known_items(name, items=share, seed=seed))
    ]
    found = questions_of(sample, kinds=kinds, seed=seed, coverage=coverage)
    if not found:
        raise ConfigError(
            f"no chunk of {', '.join(namespaces)} is fit to be asked for",
            hint="A chunk needs 120 bytes or more, and a text that no other chunk has.",
        )
    return found


def questions_of(
    items: Sequence[KnownItem],
    *,
    kinds: Sequence[str] = KINDS,
    seed: int = 1,
    coverage: float = COVERAGE,
) -> list[Question]:
    """The questions of some chunks: for each chunk one of each kind that its text can give.

    The same items and seed give the same questions. Questions of one chunk share their `group`.
    """
    found = []
    for item in items:
        # Not the chunk's id: the next ingest may give it another.
        group = f"{item.source}@{item.chunk_id if item.start_char is None else item.start_char}"
        span = key_sentence(item.content, _weights(item))
        sentence = item.content[slice(*span)] if span else None
        gold = gold_of(item, span, coverage)
        for kind in kinds:
            # A generator for each question: leaving a kind out does not change the others.
            chance = random.Random(f"{seed}/{kind}/{item.content}")
            made = _make(kind, item, sentence, chance)
            if made is not None:
                text, history = made
                found.append(Question(f"{kind}:{group}", text, gold, kind, group, history))
    return found


def gold_of(
    item: KnownItem, sentence: tuple[int, int] | None = None, coverage: float = COVERAGE
) -> Gold:
    """The characters of the chunk, or its document where it has no place in one. A context is to
    show the sentence, given by characters of the chunk."""
    start = item.start_char
    if start is None or item.end_char is None or item.end_char <= start:
        return GoldDocuments({item.source: 1.0})
    shown = [Span(item.source, start + sentence[0], start + sentence[1])] if sentence else []
    return GoldSpans([Span(item.source, start, item.end_char)], coverage, shown)


def _make(
    kind: str, item: KnownItem, sentence: str | None, chance: random.Random
) -> tuple[str, tuple[str, ...]] | None:
    terms = item.terms
    if kind == "keywords":
        return (" ".join(terms[:_LENGTH]), ()) if len(terms) >= 3 else None
    if kind == "vague":
        common = _by_frequency(item)[::-1][:_LENGTH]
        return (" ".join(chance.sample(common, len(common))), ()) if len(terms) >= 8 else None
    if sentence is None:
        return None
    if kind == "excerpt":
        return with_words_left_out(sentence, chance), ()
    if kind == "reworded":
        return reworded(sentence, _by_frequency(item), chance), ()
    phrase = key_phrase(sentence, _weights(item))
    if kind == "question":
        return chance.choice(_FRAMES).format(phrase), ()
    if kind == "follow-up":
        # The subject is in the question before; the word of the follow-up says little alone.
        rest = [term for term in terms[2:] if term not in phrase.lower()]
        if not rest:
            return None
        return chance.choice(_FOLLOW_UPS).format(rest[0]), (f"tell me about {phrase}",)
    raise ConfigError(f"there is no kind {kind!r}", hint=f"Kinds are {', '.join(KINDS)}.")


def _weights(item: KnownItem) -> dict[str, float]:
    return {term: 1 / math.sqrt(place) for place, term in enumerate(item.terms, start=1)}


def _by_frequency(item: KnownItem) -> list[str]:
    """The telling words of the chunk from the rarest in the corpus on."""
    order = sorted(zip(item.documents, item.terms, strict=True))
    return [term for _, term in order]
