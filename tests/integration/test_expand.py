"""Parent expansion and diversity on stored documents."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ragpg.errors import ConfigError
from ragpg.ingest.chunk import HeadingChunker
from ragpg.query.compress import compress, shorten_all
from ragpg.query.context import build_context
from ragpg.query.diversity import diversify, likeness
from ragpg.query.parents import expand_parents, expand_within
from ragpg.query.shorten import narrow
from ragpg.steps import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg

    import ragpg
    from ragpg.steps import Flow
    from ragpg.types import Hit

WORDS = [
    "refund",
    "parcel",
    "desk",
    "card",
    "year",
    "猫が好き",
    "40",
    "EUR",
    "a\tform",
    "👩‍💻",
    "the",
]


def document(seed: int) -> str:
    """Paragraphs, headings, a list and code, with odd white space between."""
    dice = random.Random(seed)
    parts = [f"# Part {seed}"]
    for number in range(12):
        sentence = " ".join(dice.choices(WORDS, k=dice.randrange(4, 30)))
        parts.append(
            dice.choice(["## Head {n}\n\n{s}.", "{s}. {s}!", "- {s}\n- {s}", "    {s}\n    end"])
            .replace("{n}", str(number))
            .replace("{s}", sentence)
        )
    return "".join(part + dice.choice(["\n\n", "\n \n", "\n", "\n\n\n"]) for part in parts)


def play(rag: ragpg.Client, flow: Flow[Any]) -> Any:
    return run(flow, rag._perform)


@pytest.fixture
def texts(rag: ragpg.Client) -> dict[str, str]:
    """Documents cut small, with overlap."""
    written = {f"{seed}.md": document(seed) for seed in range(6)}
    report = rag.ingest(
        texts=list(written.items()), namespace="shop", chunker=HeadingChunker(120, 40)
    )
    assert report.ok
    return written


def check_spans(hits: Sequence[Hit], texts: dict[str, str]) -> None:
    """Every hit is its document from start to end, as long as white space is white space."""
    for hit in hits:
        text = texts[hit.source]
        assert hit.start_char is not None
        assert hit.end_char is not None
        shown, there = hit.content, text[hit.start_char : hit.end_char]
        assert len(shown) == len(there)
        assert shown.split() == there.split()
        assert [mark.isspace() for mark in shown] == [mark.isspace() for mark in there]
        assert hit.start_line == text.count("\n", 0, hit.start_char) + 1
        assert hit.end_line == text.count("\n", 0, hit.end_char - 1) + 1


@pytest.mark.parametrize("radius", [0, 1, 3])
def test_every_stage_keeps_spans_and_repeats_nothing(
    rag: ragpg.Client, texts: dict[str, str], radius: int
) -> None:
    found = rag.search("refund of a parcel card", namespace="shop", k=12, rerank=False).hits
    check_spans(found, texts)
    wide = play(rag, expand_parents(found, radius))
    check_spans(wide, texts)
    assert [hit.rank for hit in wide] == list(range(1, len(wide) + 1))
    assert wide[0].chunk_id == found[0].chunk_id
    assert sum(len(hit.content) for hit in wide) >= len(wide)
    taken: dict[str, list[tuple[int, int]]] = {}
    for hit in wide:
        for start, end in taken.setdefault(hit.source, []):
            assert hit.end_char <= start or hit.start_char >= end
        taken[hit.source].append((hit.start_char, hit.end_char))
    for hit in found:
        assert any(hit.chunk_id in one.chunk_ids for one in wide)
    short = [compress("refund of a parcel card", hit) for hit in wide]
    check_spans(short, texts)
    context = build_context(wide, budget=600, shorten=lambda hits: shorten_all("parcel card", hits))
    check_spans([one.hit for one in context.citations], texts)


def test_a_radius_reaches_the_whole_document(rag: ragpg.Client, texts: dict[str, str]) -> None:
    found = rag.search("refund parcel", namespace="shop", k=1).hits
    [wide] = play(rag, expand_parents(found, 1000))
    check_spans([wide], texts)
    assert wide.content.split() == texts[wide.source].split()
    assert wide.score == found[0].score
    core = narrow(wide)
    assert (core.content, core.lines) == (found[0].content, found[0].lines)
    assert (core.start_char, core.end_char) == (found[0].start_char, found[0].end_char)


def test_pages_are_those_of_the_text_that_is_shown(
    rag: ragpg.Client, texts: dict[str, str], db: psycopg.Connection[Any]
) -> None:
    db.execute("update ragpg.chunk set page = ordinal + 1")
    [hit] = rag.search("refund parcel", namespace="shop", k=1).hits
    assert hit.page == hit.chunk_index + 1
    [wide] = play(rag, expand_parents([hit], 2))
    assert wide.page == max(1, hit.page - 2)
    assert narrow(wide).page == hit.page
    assert compress("zebra", wide).page == wide.page


def test_neighbours_give_way_where_the_budget_is_small(
    rag: ragpg.Client, texts: dict[str, str]
) -> None:
    found = rag.search("refund parcel", namespace="shop", k=3).hits
    widths = {
        budget: sum(len(hit.content) for hit in play(rag, expand_within(found, 3, budget, len)))
        for budget in (1, 300, 100_000)
    }
    bare, wide = play(rag, expand_parents(found, 0)), play(rag, expand_parents(found, 3))
    assert widths[1] == sum(len(hit.content) for hit in bare)
    assert widths[100_000] == sum(len(hit.content) for hit in wide)
    assert widths[1] <= widths[300] <= 450


def test_a_document_that_changed_leaves_the_hit_alone(
    rag: ragpg.Client, texts: dict[str, str]
) -> None:
    found = rag.search("refund parcel", namespace="shop", k=4).hits
    source = found[0].source
    rag.ingest(
        texts=[(source, "Another text. " + texts[source])],
        namespace="shop",
        chunker=HeadingChunker(120, 40),
    )
    wide = play(rag, expand_parents(found, 1))
    assert wide[0].content == found[0].content
    assert wide[0].version == found[0].version
    rag.drop_namespace("shop")
    assert play(rag, expand_parents(found, 1)) == found


def test_hits_from_elsewhere_and_parts_of_chunks_stay(
    rag: ragpg.Client, texts: dict[str, str]
) -> None:
    [hit] = rag.search("refund parcel", namespace="shop", k=1).hits
    part = replace(hit, content=hit.content[:20])
    outside = replace(hit, chunk_id=None)
    assert [one.content for one in play(rag, expand_parents([outside, part], 1))] == [
        outside.content,
        part.content,
    ]
    assert play(rag, expand_parents([], 1)) == []
    with pytest.raises(ConfigError, match="negative"):
        play(rag, expand_parents([hit], -1))


def test_likeness_is_the_cosine_of_stored_vectors(
    rag: ragpg.Client, db: psycopg.Connection[Any]
) -> None:
    text = "Refunds are paid within 14 days to the card that paid."
    rag.ingest(
        texts=[("a.md", text), ("b.md", text), ("c.md", "Parcels leave on the day of the order.")],
        namespace="shop",
    )
    # The profile that leaves copies in.
    found = rag.search("refunds paid to the card", namespace="shop", k=3, profile="fast").hits
    alike = play(rag, likeness(found))
    assert set(alike) == {(0, 1), (0, 2), (1, 2)}
    assert alike[0, 1] == pytest.approx(1.0, abs=0.01)
    assert alike[0, 2] < 0.9
    kept = diversify(found, alike, collapse=0.9)
    assert [hit.source for hit in kept] == ["a.md", "c.md"]
    assert [one.source for one in kept[0].duplicates] == ["b.md"]
    assert diversify(found, alike, mmr=0.3)[1].source == "c.md"
    assert play(rag, likeness(found[:1])) == {}
