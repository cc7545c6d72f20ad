"""The ladder: a search that grows by one stage from rung to rung, so that a drop names its stage.

keyword -> vector -> fused (rrf) -> fused -> +prf -> +probes -> +corrective -> +sentences
        -> +rerank -> +collapse -> +mmr -> +compress -> +parents -> +graph

and then the default profile, without and with stored sentences.

A rung is a profile (ragpg.query.profile), nothing more: what is measured is what `search` does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError
from ragpg.query.profile import Profile, read_profile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Every arm that a rung switches on by name.
ARMS = ("vector", "keyword", "metadata", "prf", "graph", "sentence")
#: Stands for the better of the arms alone, which is known only after they have run.
BETTER_ARM = "the better arm"
#: What one has after an ingest. Sentence vectors are stored on request, so they have a rung apart.
DEFAULT = "default"
WITH_SENTENCES = "default +sentences"


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of the ladder. `changes` are knobs of a profile; those of `arms` are added to the
    arms below. `fresh` starts anew instead of adding. `vectors` says that it needs an embedder.
    `context` marks a stage that changes the context and not the order. `report` is its key in the
    report of a search, where a stage that never ran is to be noticed."""

    name: str
    changes: Mapping[str, Any]
    against: str | None = None
    fresh: bool = False
    vectors: bool = False
    context: bool = False
    report: str | None = None


STAGES = (
    Stage("keyword", {"arms": {"keyword": True}}, fresh=True),
    Stage("vector", {"arms": {"vector": True}}, fresh=True, vectors=True),
    Stage(
        "fused (rrf)",
        {"arms": {"vector": True, "keyword": True}, "fusion": {"method": "rrf"}},
        against=BETTER_ARM,
        fresh=True,
        vectors=True,
    ),
    Stage(
        "fused",
        {"arms": {"vector": True, "keyword": True}, "fusion": {"method": "adaptive"}},
        fresh=True,
        vectors=True,
        against="fused (rrf)",
    ),
    Stage("+prf", {"arms": {"prf": True}}, report="prf"),
    Stage("+probes", {"carryover": True, "facets": True}),
    Stage("+corrective", {"corrective": 0.35}),
    Stage("+sentences", {"arms": {"sentence": True}}, vectors=True, report="sentence"),
    Stage("+rerank", {"rerankers": ("heuristic",)}),
    Stage("+collapse", {"collapse": 0.97}),
    Stage("+mmr", {"mmr": 0.7}),
    Stage("+compress", {"compress": True}, context=True),
    Stage("+parents", {"parents": 1}, context=True),
    Stage("+graph", {"arms": {"graph": True}}, report="graph"),
)


@dataclass(frozen=True, slots=True)
class Rung:
    """A named profile. `against` names the rung it is compared with, None for no comparison."""

    name: str
    profile: Profile
    against: str | None = None
    vectors: bool = False
    context: bool = False
    report: str | None = None


def bare() -> Profile:
    """A profile with every stage off and no arm on but metadata."""
    return Profile(
        name="bare",
        # Without a filter the metadata arm does nothing, and with one a profile needs it.
        arms={name: name == "metadata" for name in ARMS},
        carryover=False,
        facets=False,
        corrective=0.0,
        variants=0,
        hyde=False,
        rerankers=(),
        mmr=1.0,
        collapse=1.0,
        parents=0,
        compress=False,
    )


def add(profile: Profile, stage: Stage) -> Profile:
    """The profile with a stage added to it, or the stage alone where it starts anew."""
    base = bare() if stage.fresh else profile
    changes = dict(stage.changes)
    changes["arms"] = {**base.arms, **changes.get("arms", {})}
    return replace(base, **changes, name=stage.name)


def rung_of(stage: Stage, profile: Profile, against: str | None) -> Rung:
    """A stage as a rung, with the profile that it is part of."""
    return Rung(stage.name, profile, against, stage.vectors, stage.context, stage.report)


def ladder(
    names: Sequence[str] | None = None, *, vectors: bool = True, profiles: Sequence[str] = ()
) -> list[Rung]:
    """The rungs from the first stage up, then the default profile and others that are named.

    `names` chooses among the stages and keeps their order; what is left out is not added above
    either. Without vectors the ladder stands on the keyword arm alone. Raises ConfigError for an
    unknown name.
    """
    known = [stage.name for stage in STAGES]
    for name in names or ():
        if name not in [*known, DEFAULT]:
            raise ConfigError(
                f"there is no rung {name!r}", hint=f"Rungs are {', '.join([*known, DEFAULT])}."
            )
    rungs: list[Rung] = []
    below = bare()
    for stage in STAGES:
        if names is not None and stage.name not in names:
            continue
        profile = add(below, stage)
        rungs.append(rung_of(stage, profile, _against(stage, rungs, vectors)))
        if vectors or not stage.vectors:
            below = profile
    wanted = [DEFAULT] if names is None or DEFAULT in names else []
    fused = "fused" if vectors else "keyword"
    against = fused if fused in [one.name for one in rungs] else None
    if wanted:
        rungs.append(Rung(DEFAULT, _default(sentence=False), against))
    if wanted and names is None and vectors:
        rungs.append(
            Rung(WITH_SENTENCES, _default(sentence=True), DEFAULT, True, False, "sentence")
        )
    return rungs + [Rung(name, read_profile(name), against) for name in profiles]


def _default(*, sentence: bool) -> Profile:
    measured = read_profile("measured")
    return replace(measured, arms={**measured.arms, "sentence": sentence})


def arm_rungs(arms: Sequence[str], profiles: Sequence[str] = ()) -> list[Rung]:
    """Each arm alone, these arms fused, the default profile, and profiles that are named."""

    def only(*names: str) -> Mapping[str, bool]:
        return {name: name in names for name in ARMS}

    rungs = [
        Rung(arm, replace(bare(), name=arm, arms=only(arm)), vectors=arm == "vector")
        for arm in arms
    ]
    if len(arms) > 1:
        rungs.append(Rung("fused", replace(bare(), name="fused", arms=only(*arms)), BETTER_ARM))
    below = rungs[-1].name
    rungs.append(Rung(DEFAULT, read_profile("measured"), below))
    rungs += [Rung(name, read_profile(name), below) for name in profiles]
    return rungs


def _against(stage: Stage, rungs: Sequence[Rung], vectors: bool) -> str | None:
    """The rung that a stage is compared with: its own choice, else the last one that can run."""
    below = [rung.name for rung in rungs if vectors or not rung.vectors]
    if stage.against in below or stage.against == BETTER_ARM:
        return stage.against
    if stage.against:
        return BETTER_ARM
    return below[-1] if below and not stage.fresh else None
