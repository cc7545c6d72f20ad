"""The values that flow through ragpg: frozen, comparable, printable."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

#: Anything JSON can hold. Metadata, filters and arm options are of this kind.
Json = Any
Metadata = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Link:
    """A link found in a document, already resolved to a source path where it is relative.

    `target` is the source of another document ("guide/install.md") or an absolute URL;
    `anchor` is the part behind '#', or "".
    """

    target: str
    anchor: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a document under one heading path. Offsets are characters of Document.text.

    `metadata` is what only this section has (the sender of one message of many): it goes to the
    section's chunks, over the document's.
    """

    start: int
    end: int
    path: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """A loaded document. `text` is clean (NFC, no NUL, no lone surrogates, \\n line ends); all
    offsets anywhere in ragpg are characters of this text.

    `sections` partition the text by heading; empty means one section without headings.
    `blocks` are spans that a chunker must not cut unless it has to (code fences, tables, lists).
    `pages` are the offsets at which pages start, in order; empty means no pages.
    `notes` tell what the loader had to do ("2 NUL characters removed").
    `line_offset` is how many lines of the file come before `text` (front matter that was cut off):
    line numbers count lines of the file, offsets count characters of the text.
    """

    source: str
    text: str
    title: str = ""
    format: str = "text"
    metadata: Metadata = field(default_factory=dict)
    sections: Sequence[Section] = ()
    blocks: Sequence[tuple[int, int]] = ()
    links: Sequence[Link] = ()
    pages: Sequence[int] = ()
    notes: Sequence[str] = ()
    line_offset: int = 0


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of a document: text[start_char:end_char] == content, always.

    Lines are 1-based and inclusive. `breadcrumb` is title and heading path joined by " > ".
    `prefix` is text that a chunker added in front for indexing (a repeated table header); it is
    never part of `content` and never cited. `page` is where the chunk begins; `end_page` where it
    ends, if that is another one.
    """

    ordinal: int
    content: str
    start_char: int
    end_char: int
    start_line: int
    end_line: int
    breadcrumb: str = ""
    prefix: str = ""
    page: int | None = None
    metadata: Metadata = field(default_factory=dict)
    end_page: int | None = None


@dataclass(frozen=True, slots=True)
class ArmHit:
    """How one arm saw a hit. `rank` is 1-based; `score` is the arm's own, higher is better:
    cosine similarity (vector), BM25 (keyword), seconds since 1970 (metadata), edge weight (graph).
    `mode` says how the vector arm found it: exact, hnsw or hnsw+exact."""

    rank: int
    score: float
    mode: str | None = None


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A hit that was left out because the kept one says the same.

    `similarity` is the share of its word sequences that the kept hit has too, from 0 to 1.
    """

    namespace: str
    source: str
    chunk_id: int | None = None
    start_line: int | None = None
    end_line: int | None = None
    similarity: float = 1.0


@dataclass(frozen=True, slots=True)
class Core:
    """What was found in a hit that has its neighbours around it: characters of the document, and
    the page on which they start."""

    start_char: int
    end_char: int
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One retrieved chunk. `score` is the fused (or reranked) score, higher is better, comparable
    within one result only, and there with scores of the same `score_kind`: the scale it is on, such
    as "fused", "heuristic" or "cohere rerank-v3.5". A threshold means something on one scale only.

    `content` is the document's text from `start_char` to `end_char`: a chunk, or less after
    compression, or more after expansion; then `chunk_ids` are all chunks it was read from, in
    reading order, and `core` is what was found. `duplicates` were
    left out in favour of this hit. `kind` is knowledge, memory or external (a retriever outside
    of the database). `prior` is the factor, from 0.85 to 1.15, that feedback gives it; None without
    history.
    """

    rank: int
    score: float
    namespace: str
    source: str
    content: str
    chunk_id: int | None = None
    document_id: int | None = None
    chunk_index: int = 0
    title: str = ""
    breadcrumb: str = ""
    metadata: Metadata = field(default_factory=dict)
    start_line: int | None = None
    end_line: int | None = None
    start_char: int | None = None
    end_char: int | None = None
    page: int | None = None
    version: int | None = None
    arms: Mapping[str, ArmHit] = field(default_factory=dict)
    score_kind: str = "fused"
    chunk_ids: Sequence[int] = ()
    core: Core | None = None
    duplicates: Sequence[Duplicate] = ()
    kind: str = "knowledge"
    prior: float | None = None

    @property
    def lines(self) -> tuple[int, int] | None:
        """First and last line in the source, 1-based and inclusive."""
        if self.start_line is None or self.end_line is None:
            return None
        return (self.start_line, self.end_line)


@dataclass(frozen=True, slots=True)
class ArmReport:
    """What one arm (or stage: "rerank", "embed") did: rows given, milliseconds, and why not.

    `signals` of the keyword and the vector arm say how good their lists are; see
    ragpg.query.confidence."""

    rows: int = 0
    ms: float = 0.0
    error: str | None = None
    skipped: str | None = None
    mode: str | None = None
    signals: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fusion:
    """How the lists of the arms became one: the method, the weight of each arm that found
    anything, the signals that the weights came from, the milliseconds it took, and why scores could
    not be fused where ranks had to do. `rrf_k` is the constant of reciprocal ranks."""

    method: str
    weights: Mapping[str, float] = field(default_factory=dict)
    signals: Mapping[str, Json] = field(default_factory=dict)
    ms: float = 0.0
    rrf_k: int = 10
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered source: `number` is what the text shows as [number]."""

    number: int
    hit: Hit


@dataclass(frozen=True, slots=True)
class Evidence:
    """A span of a hit that speaks for or against a claim. Offsets are characters of hit.content."""

    number: int
    hit: Hit
    start: int
    end: int
    quote: str
    support: float


Verdict = Literal["supported", "partial", "unsupported", "contradicted"]
CitationState = Literal["right", "missing", "out of range", "wrong source"]


@dataclass(frozen=True, slots=True)
class Pair:
    """What a judge sees: a claim without its citation markers, and a span of evidence.

    `heading` is title, breadcrumb and source of the evidence, `around` the whole text that it was
    taken from. `overlap` is the share of the claim's content words in evidence and heading.
    """

    claim: str
    evidence: str
    heading: str = ""
    around: str = ""
    overlap: float = 0.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge says about a pair: a verdict, its support between 0 and 1, and why."""

    verdict: Verdict
    support: float
    reasons: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """A number cited for a claim, held against what it cites; missing has no number."""

    number: int | None
    state: CitationState


@dataclass(frozen=True, slots=True)
class Claim:
    """An assertive sentence of an answer with its verdict.

    `start`/`end` are characters of the answer. `support` is the highest of any span, between 0 and
    1, on the scale of `judge`. `evidence` is the best span, then one of each other source that says
    the same. `reasons` name what disagreed ("number 41 is not in the evidence"). `cited` are the
    numbers written in the sentence, `citations` what became of each.
    """

    text: str
    start: int
    end: int
    verdict: Verdict
    support: float
    evidence: Sequence[Evidence] = ()
    cited: Sequence[int] = ()
    reasons: Sequence[str] = ()
    citations: Sequence[CitationCheck] = ()
    judge: str = "lexical"


@dataclass(frozen=True, slots=True)
class Grounding:
    """Verdicts on an answer. confidence = (supported + partial / 2) / claims; None without claims.

    `bad_citations` are numbers in the answer that name no source. `judge` gave the verdicts; where
    it failed, `notes` say so and who stood in. `usage` is what the judge's models cost; of
    Client.ground what all of its models did.
    """

    answer: str
    claims: Sequence[Claim]
    confidence: float | None
    bad_citations: Sequence[int] = ()
    uncited: bool = False
    judge: str = "lexical"
    notes: Sequence[str] = ()
    usage: Usage = field(default_factory=lambda: Usage())

    def passes(self, gate: float) -> bool:
        """Whether the confidence is at least `gate`; an answer without claims has nothing to
        prove."""
        return self.confidence is None or self.confidence >= gate

    @property
    def state(self) -> str:
        """One of "no claims", "contradicted" (a claim is), "grounded" (>= 0.5) and "weak"."""
        if self.confidence is None:
            return "no claims"
        if any(claim.verdict == "contradicted" for claim in self.claims):
            return "contradicted"
        return "grounded" if self.confidence >= 0.5 else "weak"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, what every arm did, and a numbered context block for a prompt.

    `context` numbers the hits as `citations` does. `grounding` is there when an answer was given.
    `notes` tell what degraded ("vector arm skipped: no embedder"). `context_tokens` is the size of
    the context by the counter in use. `usage` is what its models cost: the vector of the query,
    rewriting, reranking.
    """

    query: str
    hits: Sequence[Hit]
    report: Mapping[str, ArmReport]
    context: str = ""
    citations: Sequence[Citation] = ()
    grounding: Grounding | None = None
    notes: Sequence[str] = ()
    context_tokens: int = 0
    confidence: float | None = None
    fusion: Fusion | None = None
    usage: Usage = field(default_factory=lambda: Usage())

    @property
    def score_kind(self) -> str | None:
        """The scale of the first hit's score; None without hits. Hits that a reranker did not score
        come behind those that it did, and stay on the scale they were on (`Hit.score_kind`)."""
        return self.hits[0].score_kind if self.hits else None


class Embedding(list[float]):
    """The vector of a query, with the `tokens` that the service counted for it."""

    tokens: int = 0


class Embeddings(list[list[float]]):
    """Vectors, one a text, with the `tokens` that the service counted for them. `overlong` are the
    positions of texts that the model takes in parts only: their vectors are means over these."""

    tokens: int = 0
    overlong: Collection[int] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them, and cost in USD where the price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None

    def __add__(self, other: Usage) -> Usage:
        """Both together; the cost is known as far as either is."""
        costs = [one.cost_usd for one in (self, other) if one.cost_usd is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            sum(costs) if costs else None,
        )


#: repaired: written again by the model. marked, dropped: weak claims are marked or left out.
#: gated: the confidence was too low.
Revision = Literal["repaired", "marked", "dropped", "gated"]


@dataclass(frozen=True, slots=True)
class Answer:
    """A generated answer with the sources it was given and the verdicts on it.

    `refused` is True when there is no answer: the evidence was too weak to ask a model, the model
    found nothing in it, or the confidence was below the gate. `revision` says how `text` became
    another one than the model first wrote, which is `draft` then. `notes` tell what was done about
    claims without support, and what failed in doing so. Offsets of `grounding` are those of
    `grounding.answer`: the text before claims were marked or dropped, with numbers for citations.
    `usage` is what all models of the call cost, those of the search included.
    """

    text: str
    result: SearchResult
    grounding: Grounding
    citations: Sequence[Citation] = ()
    usage: Usage = field(default_factory=Usage)
    refused: bool = False
    revision: Revision | None = None
    draft: str | None = None
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Started:
    """First event of a streamed answer: what was found, before the model is asked."""

    result: SearchResult


@dataclass(frozen=True, slots=True)
class Delta:
    """A further piece of the text, as the model wrote it: numbers mean `result.citations`."""

    text: str


@dataclass(frozen=True, slots=True)
class Repairing:
    """The model writes the answer again, because these claims did not hold: the text so far is
    withdrawn, and the deltas that follow are the new one from its beginning."""

    claims: Sequence[Claim] = ()


@dataclass(frozen=True, slots=True)
class Revised:
    """The text that takes the place of all deltas, because checking it changed it. `revision` says
    how; None: a text written again was no better, and this is the first. `notes` say why."""

    text: str
    revision: Revision | None
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """Last event: the whole answer, with citations numbered by appearance, and verdicts."""

    answer: Answer


#: What a streamed answer consists of: one Started, any number of Delta, perhaps one Repairing with
#: further Deltas, perhaps one Revised, one Done. The text to show is that of the deltas since
#: Started or Repairing, then Revised's, then Done's.
AnswerEvent = Started | Delta | Repairing | Revised | Done


#: stored: new or changed. unchanged: skipped by fingerprint. empty: no text. skipped: on purpose
#: (binary, symlink out of the folder). failed: see error. removed: pruned.
IngestStatus = Literal["stored", "unchanged", "empty", "skipped", "failed", "removed"]


@dataclass(frozen=True, slots=True)
class FileReport:
    """What happened to one source."""

    source: str
    status: IngestStatus
    chunks: int = 0
    new_chunks: int = 0
    embedded: int = 0
    cached: int = 0
    reason: str | None = None
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Totals and one line per source, in source order."""

    namespace: str
    files: Sequence[FileReport]
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    notes: Sequence[str] = ()

    def count(self, status: IngestStatus) -> int:
        """How many sources ended in this status."""
        return sum(file.status == status for file in self.files)

    @property
    def chunks(self) -> int:
        """Chunks of all stored or unchanged sources together."""
        return sum(file.chunks for file in self.files)

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return not any(file.status == "failed" for file in self.files)
