"""Judged retrieval sets in the folder layout of BEIR.

corpus.jsonl or corpus.jsonl.gz   one object a line: id, title, text
queries.jsonl (or .gz)            one object a line: id, text
qrels.tsv                         header, then query-id, corpus-id, score by tabs

The `_id` of the original BEIR files is accepted for `id`, and qrels/test.tsv for qrels.tsv. A query
with `doc` and `spans` ([start, end) in characters of that document) asks for these spans instead of
whole documents. `gold_sentences` of a query (document -> numbers) and `sents` of a document (spans)
tell which sentences a context must show. Other fields are kept as extras.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragpg.errors import LoadError
from ragpg.evaluate.gold import COVERAGE, GoldDocuments, GoldSpans, Question, Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True)
class JudgedDocument:
    """A document of a judged set."""

    id: str
    title: str
    text: str
    extras: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """A corpus, queries by id, and for each query the gain of its relevant documents."""

    name: str
    corpus: Mapping[str, JudgedDocument]
    queries: Mapping[str, str]
    relevance: Mapping[str, Mapping[str, float]]
    extras: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def judged_queries(self) -> list[str]:
        """Ids of the queries with at least one relevant document, in file order."""
        return [
            query
            for query in self.queries
            if any(gain > 0 for gain in self.relevance.get(query, {}).values())
        ]

    @property
    def has_spans(self) -> bool:
        """Whether queries ask for spans of characters, which takes chunks."""
        return any("spans" in extras for extras in self.extras.values())

    def questions(
        self, *, sample: int | None = None, limit: int | None = None, coverage: float = COVERAGE
    ) -> list[Question]:
        """The judged queries with their gold.

        `limit` takes the first ones, `sample` those with the lowest hash of their id: always the
        same ones, and a smaller sample is part of a larger one.
        """
        names = self.judged_queries[:limit]
        if sample is not None and sample < len(names):
            chosen = set(sorted(names, key=lambda name: (_hash(name), name))[:sample])
            names = [name for name in names if name in chosen]
        return [self._question(name, coverage) for name in names]

    def _question(self, name: str, coverage: float) -> Question:
        extras = self.extras.get(name, {})
        if "spans" not in extras:
            gold = GoldDocuments(self.relevance[name], self._evidence(extras))
            return Question(name, self.queries[name], gold)
        spans = [Span(str(extras["doc"]), int(start), int(end)) for start, end in extras["spans"]]
        return Question(name, self.queries[name], GoldSpans(spans, coverage))

    def _evidence(self, extras: Mapping[str, Any]) -> tuple[Span, ...]:
        """The sentences that matter, where both sides name them."""
        spans: list[Span] = []
        for source, numbers in extras.get("gold_sentences", {}).items():
            bounds = self.corpus[source].extras.get("sents", []) if source in self.corpus else []
            spans += [Span(source, *bounds[at]) for at in numbers if at < len(bounds)]
        return tuple(spans)

    def split(self, key: str) -> list[JudgedSet]:
        """One set for each value of a field, as `lang`, that documents and queries have in common;
        in the order of the documents."""
        values = dict.fromkeys(
            str(one.extras[key]) for one in self.corpus.values() if key in one.extras
        )
        if not values:
            raise LoadError(f"no document of {self.name} has a field {key!r}")
        sets = []
        for value in values:
            corpus = {
                name: one for name, one in self.corpus.items() if str(one.extras.get(key)) == value
            }
            queries = {
                name: text
                for name, text in self.queries.items()
                if str(self.extras.get(name, {}).get(key)) == value
            }
            relevance = {
                name: {one: gain for one, gain in self.relevance[name].items() if one in corpus}
                for name in queries
                if name in self.relevance
            }
            sets.append(
                replace(self, name=f"{self.name}-{value}", corpus=corpus, queries=queries,
                        relevance=relevance)
            )  # fmt: skip
        return sets


def _hash(name: str) -> bytes:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()


def read_judged_set(folder: Path | str, *, qrels: str | None = None) -> JudgedSet:
    """Read a judged set from a folder; `qrels` names another judgement file in it.

    Raises LoadError naming file and line when a file is missing, a line cannot be read, an id is
    repeated, or a judgement names an unknown query or document.
    """
    root = Path(folder)
    if not root.is_dir():
        raise LoadError(f"{root} is not a folder", hint="Give the folder that holds corpus.jsonl.")
    corpus: dict[str, JudgedDocument] = {}
    for place, row in _rows(_one_of(root, "corpus.jsonl", "corpus.jsonl.gz")):
        doc = JudgedDocument(
            _id(place, row), _text(place, row, "title", ""), _text(place, row), _extras(row)
        )
        if doc.id in corpus:
            raise LoadError(f"{place}: document {doc.id!r} appears twice")
        corpus[doc.id] = doc
    queries: dict[str, str] = {}
    extras: dict[str, dict[str, Any]] = {}
    for place, row in _rows(_one_of(root, "queries.jsonl", "queries.jsonl.gz")):
        name = _id(place, row)
        if name in queries:
            raise LoadError(f"{place}: query {name!r} appears twice")
        queries[name] = _text(place, row)
        extras[name] = _extras(row)
        _check_spans(place, extras[name], corpus)
    names = (qrels,) if qrels else ("qrels.tsv", "qrels/test.tsv")
    relevance = _judgements(_one_of(root, *names), corpus, queries)
    return JudgedSet(root.resolve().name, corpus, queries, relevance, extras)


def _one_of(root: Path, *names: str) -> Path:
    for name in names:
        if (root / name).is_file():
            return root / name
    raise LoadError(
        f"{root} has no {' or '.join(names)}",
        hint="A judged set is a folder with corpus.jsonl, queries.jsonl and qrels.tsv.",
    )


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    number = 0
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                yield f"{path}, line {number}", line.decode("utf-8-sig" if number == 1 else "utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise LoadError(f"{path}, line {number + 1}: cannot be read: {error}") from error


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for place, line in _lines(path):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise LoadError(f"{place}: not JSON: {error}") from error
        if not isinstance(row, dict):
            raise LoadError(f"{place}: a JSON object is needed, not {type(row).__name__}")
        yield place, row


def _id(place: str, row: Mapping[str, Any]) -> str:
    value = row.get("id", row.get("_id"))
    if not isinstance(value, str | int) or value == "":
        raise LoadError(f"{place}: 'id' is missing")
    return str(value)


def _text(place: str, row: Mapping[str, Any], key: str = "text", default: str | None = None) -> str:
    value = row.get(key, default)
    if not isinstance(value, str):
        raise LoadError(f"{place}: {key!r} is missing or not a text")
    return value


def _extras(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in ("id", "_id", "title", "text")}


def _check_spans(
    place: str, extras: Mapping[str, Any], corpus: Mapping[str, JudgedDocument]
) -> None:
    if "spans" not in extras:
        return
    if str(extras.get("doc")) not in corpus:
        raise LoadError(f"{place}: spans need a 'doc' that is in the corpus")
    length = len(corpus[str(extras["doc"])].text)
    for span in extras["spans"]:
        whole = isinstance(span, list) and len(span) == 2 and all(type(at) is int for at in span)
        if not whole or not 0 <= span[0] < span[1] <= length:
            raise LoadError(f"{place}: {span!r} is no span of a text of {length} characters")


def _judgements(
    path: Path, corpus: Mapping[str, JudgedDocument], queries: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    relevance: dict[str, dict[str, float]] = {}
    for index, (place, line) in enumerate(_lines(path)):
        cells = line.rstrip("\r\n").split("\t")
        if cells == [""]:
            continue
        if len(cells) != 3:
            raise LoadError(
                f"{place}: three columns separated by tabs are needed, found {len(cells)}",
                hint="The columns are query-id, corpus-id, score; the first line is a header.",
            )
        query, doc, gain = cells
        try:
            value = float(gain)
        except ValueError as error:
            if index == 0:
                continue  # the header
            raise LoadError(f"{place}: the score {gain!r} is not a number") from error
        if query not in queries:
            raise LoadError(f"{place}: query {query!r} is not in the queries file")
        if doc not in corpus:
            raise LoadError(f"{place}: document {doc!r} is not in the corpus")
        relevance.setdefault(query, {})[doc] = value
    return relevance
