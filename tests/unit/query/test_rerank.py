"""Reranking moves hits for a reason and never breaks a search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from ragpg.perform import perform_rerank
from ragpg.query.rerank import HeuristicReranker, features
from ragpg.rerankers.chain import Search, rerank_hits
from ragpg.steps import run
from ragpg.types import ArmHit, Hit
from tests.unit.rerankers.hits import reranked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def hits_of(*texts: str, title: str = "") -> list[Hit]:
    return [
        Hit(rank, 1 / (60 + rank), "default", f"doc{rank}.md", text, chunk_id=rank, title=title)
        for rank, text in enumerate(texts, start=1)
    ]


def order(hits: Sequence[Hit]) -> list[int | None]:
    return [hit.chunk_id for hit in hits]


def test_rare_words_of_the_query_lift_a_hit() -> None:
    hits = hits_of("About keys.", "About keys and locks.", "Rotating the signing keys.")
    assert order(HeuristicReranker().rerank("rotate signing keys", hits))[0] == 3


def test_a_heading_that_matches_lifts_a_hit() -> None:
    hits = hits_of("Some text.", "Some text.")
    hits[1] = replace(hits[1], breadcrumb="Manual > Backups")
    assert order(HeuristicReranker().rerank("backups", hits)) == [2, 1]


def test_words_near_each_other_beat_the_same_words_apart() -> None:
    far = "The signing of it is old. " + "Much other text. " * 5 + "The key."
    near = "The signing key is old. " + "Much other text. " * 5 + "The end."
    assert order(HeuristicReranker().rerank("signing key", hits_of(far, near))) == [2, 1]


def test_without_any_sign_the_earlier_order_stays() -> None:
    hits = hits_of("alpha", "beta", "gamma")
    reranked = HeuristicReranker().rerank("unrelated question", hits)
    assert order(reranked) == [1, 2, 3]
    assert [hit.rank for hit in reranked] == [1, 2, 3]
    assert [hit.score for hit in reranked] == sorted((h.score for h in reranked), reverse=True)


def test_a_list_of_the_keyword_arm_alone_is_moved_less() -> None:
    hits = hits_of("The key.", *["Much text."] * 12, "The signing key.")
    query = "signing key"
    assert order(HeuristicReranker().rerank(query, hits))[0] == 14
    ranked = [replace(one, arms={"keyword:facet": ArmHit(one.rank, 1.0)}) for one in hits]
    assert order(HeuristicReranker().rerank(query, ranked))[0] == 1


def test_words_as_they_were_typed_beat_their_stems() -> None:
    hits = hits_of("Rotated keys are kept.", "We rotate keys and keep them.")
    assert [one.exact for one in features("rotate keys", hits)] == pytest.approx(
        [0.21, 1.0], abs=0.1
    )
    assert order(HeuristicReranker().rerank("rotate keys", hits)) == [2, 1]


@pytest.mark.parametrize(
    ("query", "text", "named"),
    [
        ("max_connections", "Set max_connections to 100.", 1.0),
        ("max_connections", "Set superuser_max_connections to 100.", 0.0),
        ("max_connections setting", "The max_connections value.", 0.5),
        ("what does ALTER TABLE do", "Use ALTER TABLE here.", 1.0),
        ("std::move", "call std::move(x) once", 1.0),
        ("the buildImage method", "public void buildImage() {", 0.5),
        ("COPY", "copy the file", 0.0),
        ("copy", "COPY the file", 0.0),
        ("C++ and .NET", "no names", 0.0),
    ],
)
def test_names_count_as_whole_words_case_and_all(query: str, text: str, named: float) -> None:
    [seen] = features(query, hits_of(text))
    assert seen.named == pytest.approx(named)


def test_a_short_query_is_looked_for_as_a_whole() -> None:
    seen = features("Key  Word", hits_of("a key word here", "a keyword", "key and word"))
    assert [one.phrase for one in seen] == [1.0, 0.0, 0.0]
    assert features("word " * 40, hits_of("word " * 60))[0].phrase == 0.0


def test_a_title_that_the_query_names_in_full_counts_most() -> None:
    hits = [replace(one, title=title) for one, title in zip(
        hits_of("text", "text"), ("Mark King and his band of the north", "Mark King"), strict=True)]  # fmt: skip
    seen = features("who is Mark King", hits)
    assert seen[0].heading == seen[1].heading == 1.0
    assert seen[1].title == 1.0
    assert seen[0].title < 0.5


def test_the_second_look_replaces_the_cosine_of_the_vector_arm() -> None:
    hits = hits_of("a", "b")
    hits[0] = replace(hits[0], arms={"vector": ArmHit(1, 0.9), "sentence": ArmHit(2, 0.1)})
    hits[1] = replace(hits[1], arms={"sentence": ArmHit(1, 0.7)})
    assert [one.cosine for one in features("x", hits)] == [0.0, 1.0]


def test_the_cosine_is_calibrated_within_the_list() -> None:
    hits = hits_of("a", "b", "c")
    for at, cosine in enumerate((0.80, 0.81, 0.85)):
        hits[at] = replace(hits[at], arms={"vector": ArmHit(1, cosine)})
    assert [seen.cosine for seen in features("x", hits)] == pytest.approx([0.0, 0.2, 1.0])


def test_accents_case_plurals_and_unspaced_scripts_match() -> None:
    seen = features("écoles", hits_of("L'ECOLE est fermée", "autre"))
    assert [one.coverage for one in seen] == [1.0, 0.0]
    seen = features("京都大学", hits_of("私は京都大学に行く", "東京"))
    assert seen[0].coverage == 1.0
    assert seen[0].proximity == 1.0
    assert seen[1].coverage < 1.0


@pytest.mark.parametrize("query", ["", "?!", "the", "\ud83d", "a" * 5000, "(((", "\\"])
def test_any_query_is_legal(query: str) -> None:
    hits = hits_of("the text", "", "more \ud83d text")
    assert sorted(order(HeuristicReranker().rerank(query, hits)), key=str) == [1, 2, 3]


def test_the_same_input_gives_the_same_list() -> None:
    hits = hits_of(*(f"note {n} about keys" for n in range(20)))
    runs = {tuple(order(HeuristicReranker().rerank("keys note", hits))) for _ in range(5)}
    assert runs == {tuple(range(1, 21))}


@dataclass
class Scripted:
    act: Callable[[Sequence[Hit]], list[Hit]]
    name: str = "scripted"

    def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        return self.act(hits)


def test_an_exception_keeps_the_order_and_is_reported() -> None:
    def fail(hits: Sequence[Hit]) -> list[Hit]:
        raise ValueError("no model")

    hits = hits_of("a", "b")
    after, report = reranked(Scripted(fail), "q", hits)
    assert after == hits
    assert report.error == "ValueError: no model"
    assert report.mode == "scripted"


def test_lost_repeated_and_invented_hits_are_mended() -> None:
    hits = hits_of("a", "b", "c")
    invented = replace(hits[0], chunk_id=99, content="made up")

    def muddle(given: Sequence[Hit]) -> list[Hit]:
        scored = [replace(given[2], score=9.0), replace(given[2], score=8.0), invented]
        return [*scored, replace(given[0], score=7.0, source=given[0].source)]

    after, report = reranked(Scripted(muddle), "q", hits)
    assert order(after) == [3, 1, 2]
    assert [hit.rank for hit in after] == [1, 2, 3]
    assert report.rows == 3
    assert report.error == (
        "2 unknown or repeated hits were taken out; 1 lost hits were put back at the end"
    )


def test_a_reranker_that_returns_nonsense_keeps_the_order() -> None:
    hits = hits_of("a", "b")
    after, report = reranked(Scripted(lambda given: ["x"]), "q", hits)  # type: ignore[list-item]
    assert after == hits
    assert report.error is not None


def test_nothing_to_rerank_is_said() -> None:
    assert reranked(HeuristicReranker(), "q", [])[1].skipped == "nothing to rerank"
    hits = hits_of("a")
    assert reranked(HeuristicReranker(), "  ", hits)[0] == hits


def test_cosines_count_as_far_as_the_model_reads_the_query() -> None:
    hits = [
        replace(hit, arms={"vector": ArmHit(place, cosine)})
        for place, (hit, cosine) in enumerate(zip(hits_of("a", "b"), (0.1, 0.9), strict=True), 1)
    ]

    def texts(legibility: float) -> list[str]:
        reranker = HeuristicReranker().informed(Search(None, legibility))
        return [hit.content for hit in reranker.rerank("unrelated", hits)]

    assert texts(1.0) == ["b", "a"]
    assert texts(0.0) == ["a", "b"]


def test_words_with_affixes_are_not_expected_as_typed() -> None:
    [arabic] = features("المدرسة الكبيرة", hits_of("في المدرسة الكبيرة"))
    assert arabic.exact == 0
    [mixed] = features("المدرسة PostgreSQL", hits_of("قاعدة PostgreSQL"))
    assert mixed.exact == 1


class Backwards(HeuristicReranker):
    """A reranker that somebody made of ours."""

    def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        return super().rerank(query, hits)[::-1]


def test_a_search_runs_what_somebody_made_of_the_reranker() -> None:
    hits = hits_of("The key.", "The signing key.")
    for legibility in (1.0, 0.8, 0.5):
        done = run(
            rerank_hits(Backwards(), "signing key", hits, Search(None, legibility)), perform_rerank
        )
        assert [hit.content for hit in done.hits] == ["The key.", "The signing key."]
