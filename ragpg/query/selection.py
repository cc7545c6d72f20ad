"""From ranked candidates to the hits of a result and the passages of its context."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ragpg.query.compress import compress_all, shorten_all
from ragpg.query.context import Context, build_context
from ragpg.query.diversity import Likeness, diversify, likeness
from ragpg.query.parents import expand_within
from ragpg.stages import reason, since
from ragpg.steps import Flow, call
from ragpg.tokens import counter_for_model
from ragpg.types import ArmReport, Hit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ragpg.query.profile import Profile

Report = dict[str, ArmReport]


def choose(profile: Profile, hits: Sequence[Hit], k: int, report: Report) -> Flow[list[Hit]]:
    """The k hits of a result, without near duplicates and spread by MMR where the profile says so.

    What fails is reported, and the best k stay.
    """
    mmr = profile.mmr if profile.mmr < 1 else None
    collapse = profile.collapse if profile.collapse < 1 else None
    if mmr is None and collapse is None:
        return list(hits[:k])

    def chosen() -> Flow[list[Hit]]:
        alike: Likeness = {}
        if mmr is not None:
            alike = yield from likeness(hits)
        result: list[Hit] = yield from call(
            lambda: diversify(hits, alike, mmr=mmr, collapse=collapse, k=k)
        )
        return result

    return (yield from _guarded("diversity", chosen, list(hits[:k]), report))


def write_context(
    profile: Profile,
    query: str,
    hits: Sequence[Hit],
    *,
    budget: int,
    model: str | None,
    report: Report,
) -> Flow[Context]:
    """The numbered passages of a prompt: hits with their neighbours, or with only the sentences
    that matter, as the profile says; passages are shortened before one is left out.

    `model` is the chat model whose tokens count, where it is known.
    """
    passages = list(hits)
    count = counter_for_model(model)
    if profile.parents:
        passages = yield from _guarded(
            "parents",
            lambda: expand_within(passages, profile.parents, budget, count),
            passages,
            report,
        )
    if profile.compress:
        passages = yield from _guarded(
            "compress", lambda: call(compress_all, query, passages), passages, report
        )
    context: Context = yield from call(
        lambda: build_context(
            passages,
            budget=budget,
            count_tokens=count,
            shorten=lambda whole: shorten_all(query, whole),
        )
    )
    return context


def _guarded(
    name: str, stage: Callable[[], Flow[list[Hit]]], otherwise: list[Hit], report: Report
) -> Flow[list[Hit]]:
    began = time.perf_counter()
    try:
        hits = yield from stage()
    except Exception as error:
        report[name] = ArmReport(rows=len(otherwise), ms=since(began), error=reason(error))
        return otherwise
    report[name] = ArmReport(rows=len(hits), ms=since(began))
    return hits
