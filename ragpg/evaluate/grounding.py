"""How well judges tell supported claims from others, on labelled claims and on changed sentences.

A folder has corpus.jsonl (id, title, text; may end in .gz) and claims.jsonl, as SciFact: id, split,
claim, label (SUPPORT, CONTRADICT or NOINFO) and cited_doc_ids. Thresholds are learned on the split
"train" and measured on the other ones.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragpg.errors import LoadError
from ragpg.evaluate.separation import best_threshold, separation
from ragpg.query.ground import ground
from ragpg.types import Hit
from ragpg.words import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ragpg.evaluate.corruptions import ClaimPair
    from ragpg.evaluate.separation import Separation
    from ragpg.protocols import Judge


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A claim, its label, and the documents that it was labelled against."""

    id: str
    split: str
    claim: str
    label: str
    hits: Sequence[Hit]


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """What a judge did: separations by question, and verdicts by label.

    Scores are the support of a claim. `by_verdict` is measured at the judge's own verdict
    "supported", without any learned threshold; its area is that of the verdicts alone.
    """

    judge: str
    separations: Mapping[str, Separation]
    by_verdict: Separation
    verdicts: Mapping[str, Mapping[str, int]]
    notes: Sequence[str] = field(default=())


def read_claims(folder: Path, most: int | None = None) -> list[LabelledClaim]:
    """The labelled claims of a folder, of each split the first `most`. Raises LoadError where a
    file is missing."""
    documents = {one["id"]: one for one in _lines(folder, "corpus.jsonl")}
    found = []
    seen: Counter[str] = Counter()
    for one in _lines(folder, "claims.jsonl"):
        split = one.get("split", "")
        seen[split] += 1
        if most is not None and seen[split] > most:
            continue
        cited = [documents[source] for source in one["cited_doc_ids"] if source in documents]
        hits = [
            Hit(rank, 1.0, folder.name, each["id"], each["text"], title=each.get("title", ""))
            for rank, each in enumerate(cited, start=1)
        ]
        found.append(LabelledClaim(str(one["id"]), split, one["claim"], one["label"], hits))
    return found


def read_texts(folder: Path) -> list[tuple[str, str]]:
    """Id and text of the documents of a folder. Raises LoadError where there is no corpus."""
    return [(str(one["id"]), one["text"]) for one in _lines(folder, "corpus.jsonl")]


def _lines(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    plain, packed = folder / name, folder / f"{name}.gz"
    if not plain.is_file() and not packed.is_file():
        raise LoadError(f"{folder} has no {name}", hint=f"Name a folder with {name} in it.")
    with plain.open() if plain.is_file() else gzip.open(packed, "rt") as lines:
        for line in lines:
            yield json.loads(line)


def evaluate_judge(
    claims: Sequence[LabelledClaim],
    judge: Judge | None = None,
    *,
    evidence: Callable[[str], Sequence[Hit]] | None = None,
) -> JudgeReport:
    """A judge on labelled claims, against their cited documents or what `evidence` finds."""
    rows: list[tuple[LabelledClaim, float]] = []
    said: list[tuple[float, bool]] = []
    verdicts: dict[str, Counter[str]] = {}
    notes: Counter[str] = Counter()
    for one in claims:
        hits = one.hits if evidence is None else evidence(one.claim)
        grounding = ground(one.claim, hits, judge)
        notes.update(grounding.notes)
        verdict, support = "unsupported", 0.0
        if grounding.claims:
            verdict, support = grounding.claims[0].verdict, grounding.claims[0].support
        rows.append((one, support))
        if _held_out(one):
            said.append((float(verdict == "supported"), one.label == "SUPPORT"))
        verdicts.setdefault(one.label, Counter())[verdict] += 1
    name = "lexical" if judge is None else judge.name
    return JudgeReport(
        name,
        _separations(rows),
        separation(said, 1.0),
        # As plain tables: dataclasses.asdict makes nonsense of a Counter.
        {label: dict(counts) for label, counts in verdicts.items()},
        [f"{text} ({count} times)" for text, count in notes.most_common(3)],
    )


def evaluate_score(
    claims: Sequence[LabelledClaim],
    name: str,
    score: Callable[[str, Sequence[Hit]], float],
    *,
    evidence: Callable[[str], Sequence[Hit]] | None = None,
) -> JudgeReport:
    """A plain score on labelled claims, as a baseline."""
    rows = [
        (one, score(one.claim, one.hits if evidence is None else evidence(one.claim)))
        for one in claims
    ]
    held = [(value, one.label == "SUPPORT") for one, value in rows if _held_out(one)]
    return JudgeReport(name, _separations(rows), separation(held, 0.5), {})


def rouge_1(claim: str, hits: Sequence[Hit]) -> float:
    """Share of the claim's words, as they are written, in the hits: ROUGE-1 recall, no stems."""
    asked = fold(claim).split()
    given = {word for hit in hits for word in fold(f"{hit.title} {hit.content}").split()}
    return sum(word in given for word in asked) / len(asked) if asked else 0.0


def _held_out(claim: LabelledClaim) -> bool:
    return claim.split != "train"


def _separations(rows: Sequence[tuple[LabelledClaim, float]]) -> dict[str, Separation]:
    """Supported against all others, against those without information, and contradicted."""
    others = {
        "all others": ("CONTRADICT", "NOINFO"),
        "no information": ("NOINFO",),
        "contradicted": ("CONTRADICT",),
    }
    found = {}
    for name, labels in others.items():
        chosen = [row for row in rows if row[0].label in ("SUPPORT", *labels)]
        train = [(score, one.label == "SUPPORT") for one, score in chosen if not _held_out(one)]
        test = [(score, one.label == "SUPPORT") for one, score in chosen if _held_out(one)]
        found[name] = separation(test, best_threshold(train or test))
    return found


@dataclass(frozen=True, slots=True)
class Detection:
    """False claims that a judge caught, by what was changed, and alarms on true ones."""

    judge: str
    caught: Mapping[str, tuple[int, int]]
    alarms: Mapping[str, tuple[int, int]]

    @property
    def caught_share(self) -> float:
        """Of all false claims."""
        return _share(self.caught)

    @property
    def alarm_share(self) -> float:
        """Of all true claims."""
        return _share(self.alarms)


def _share(counts: Mapping[str, tuple[int, int]]) -> float:
    total = sum(whole for _, whole in counts.values())
    return sum(part for part, _ in counts.values()) / total if total else 0.0


def detect(pairs: Sequence[ClaimPair], judge: Judge | None = None) -> Detection:
    """A judge on claims of ragpg.evaluate.corruptions: one that is unsupported or contradicted is
    caught where it is false, an alarm where it is true."""
    caught: dict[str, tuple[int, int]] = {}
    alarms: dict[str, tuple[int, int]] = {}
    for pair in pairs:
        hit = Hit(1, 1.0, "", pair.source, pair.passage)
        claims = ground(pair.claim, [hit], judge).claims
        flagged = any(one.verdict in ("unsupported", "contradicted") for one in claims)
        table = alarms if pair.true else caught
        part, whole = table.get(pair.kind, (0, 0))
        table[pair.kind] = (part + flagged, whole + 1)
    return Detection("lexical" if judge is None else judge.name, caught, alarms)
