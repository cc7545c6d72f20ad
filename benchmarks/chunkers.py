"""Every chunker on texts whose questions are answered by known spans of characters.

    python benchmarks/chunkers.py FOLDER [--chunkers heading:1000/200,fixed:600,...]

FOLDER holds corpus.jsonl.gz (id, text), queries.jsonl (id, text, spans) and qrels.tsv, as Chroma's
chunking evaluation does (Smith and Troynikov 2024). The chunks of all texts are ranked by cosine with
the local embedder, or with vectors of words alone (--static), which take seconds. Recall is the share of the answers' characters that is among the first chunks,
IoU divides what is common by what is in either; `@5` looks at five chunks, `@4000` at the first ones
that make up 4,000 characters. Prints a table; means over the questions.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from first_load import Ready
from measure import table

from ragpg.ingest.chunkers.named import chunker_named
from ragpg.ingest.embed import embedding_text
from ragpg.ingest.load import load_text
from ragpg.providers.onnx import LocalEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from ragpg.types import Chunk

DEFAULT = (
    "auto,heading:1000/200,heading:1000/0,heading:600/120,heading:600/0,heading:400/0,"
    "heading:1500/300,recursive:1000/200,recursive:600/0,fixed:1000/200,fixed:600/0,token:200/40,"
    "token:120/0,separator:\\n\\n,semantic,code:1000,rows:1000,whole"
)
BUDGETS = (2000, 4000, 8000)
Span = tuple[int, int]


def length(spans: Iterable[Span]) -> int:
    """Characters that are in any of the spans."""
    total = end = 0
    for first, last in sorted(spans):
        total += max(0, last - max(first, end))
        end = max(end, last)
    return total


def common(one: Sequence[Span], other: Sequence[Span]) -> int:
    """Characters that are in both."""
    return length(one) + length(other) - length([*one, *other])


class Questions:
    """Questions with the text and the spans that answer them, and the vectors of the questions."""

    def __init__(self, folder: Path, embedder: Ready | LocalEmbedder) -> None:
        rows = [json.loads(line) for line in (folder / "queries.jsonl").open(encoding="utf-8")]
        lines = (folder / "qrels.tsv").read_text().splitlines()[1:]
        self.place = {line.split("\t")[0]: line.split("\t")[1] for line in lines}
        self.ids = [row["id"] for row in rows]
        self.spans = {row["id"]: [(first, last) for first, last in row["spans"]] for row in rows}
        self.vectors = unit([embedder.embed_query(row["text"]) for row in rows])


def unit(vectors: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """The vectors as rows of length 1."""
    rows = np.asarray(vectors, dtype=np.float64)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def judge(
    chunks: Sequence[tuple[str, Chunk]], vectors: NDArray[np.float64], questions: Questions
) -> list[float]:
    """Recall and IoU of five chunks, and recall by characters, as means over the questions."""
    scores = questions.vectors @ vectors.T
    found: list[list[float]] = []
    for row, question in enumerate(questions.ids):
        order = np.argsort(-scores[row], kind="stable")[:200]
        spans, place = questions.spans[question], questions.place[question]
        wanted = length(spans)

        def taken(places: Iterable[int], place: str = place) -> list[Span]:
            picked = [chunks[at] for at in places]
            return [(one.start_char, one.end_char) for text, one in picked if text == place]

        five = order[:5]
        inside = common(taken(five), spans)
        # Characters of other texts count as surplus too.
        read = length(taken(five)) + sum(
            chunks[at][1].end_char - chunks[at][1].start_char
            for at in five
            if chunks[at][0] != place
        )
        figures = [inside / wanted, inside / (read + wanted - inside)]
        sizes = np.cumsum([len(chunks[at][1].content) for at in order])
        for budget in BUDGETS:
            enough = max(1, int(np.searchsorted(sizes, budget, side="right")))
            figures.append(common(taken(order[:enough]), spans) / wanted)
        found.append(figures)
    return [float(value) for value in np.mean(found, axis=0)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chunkers", default=DEFAULT)
    parser.add_argument("--static", type=Path, help="the folder of corpus.py: static vectors, fast")
    options = parser.parse_args()
    embedder = Ready(options.static) if options.static else LocalEmbedder()
    questions = Questions(options.folder, embedder)
    with gzip.open(options.folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line) for line in lines]
    rows: list[list[str | float | int]] = []
    for name in options.chunkers.split(","):
        began = time.process_time()
        chunker = chunker_named(name, embedder)
        chunks: list[tuple[str, Chunk]] = []
        for row in texts:
            document = load_text(row["text"], source=f"{row['id']}.txt", format="text")
            chunks += [(row["id"], chunk) for chunk in chunker(document)]
        cut = time.process_time() - began
        vectors = unit(embedder.embed_documents([embedding_text(chunk) for _, chunk in chunks]))
        mean = sum(len(chunk.content) for _, chunk in chunks) / len(chunks)
        figures = judge(chunks, vectors, questions)
        rows.append([name, len(chunks), round(mean), *(f"{one:.3f}" for one in figures), cut])
        print(rows[-1], flush=True)
    head = ["chunker", "chunks", "mean length", "recall @5", "IoU @5"]
    print(table([*head, *(f"@{budget}" for budget in BUDGETS), "CPU s to cut"], rows))


if __name__ == "__main__":
    main()
