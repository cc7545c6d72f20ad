"""What a search asks beside the query itself: probes that join the fusion, and a second attempt.

None of them replaces the query. A probe of a chat model that fails leaves the plain query, and the
report says so.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from ragpg.observe.stage import stage
from ragpg.query.carryover import carryover_probe
from ragpg.query.correct import corrective_probe
from ragpg.query.facets import facet_probes
from ragpg.query.hyde import hyde_probe
from ragpg.query.variants import query_variants
from ragpg.stages import reason, since
from ragpg.steps import Flow, call, embed_query
from ragpg.types import ArmReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.protocols import AsyncEmbedder, Embedder
    from ragpg.query.probes import Probe
    from ragpg.query.request import Providers, Request

Report = dict[str, ArmReport]


def probes_of(
    request: Request, query: str, providers: Providers, report: Report, *, vectors: bool
) -> Flow[list[Probe]]:
    """The probes that the profile asks for, with their vectors where `vectors` are wanted."""
    profile = request.profile
    found: list[Probe] = []
    if not query.strip():
        return found
    if profile.carryover and request.history:
        carried = yield from call(carryover_probe, query, request.questions)
        found += [carried] if carried else []
    if profile.facets:
        found += yield from call(facet_probes, query)
    found += yield from _of_a_model(request, query, providers, report)
    if vectors and providers.embedder is not None:
        found = yield from embedded(found, providers.embedder, report)
    return found


def second_attempt(
    query: str, providers: Providers, report: Report, *, vectors: bool
) -> Flow[list[Probe]]:
    """The probe of a weak search, without what is only talk; none where there is nothing to
    leave out."""
    probe = yield from call(corrective_probe, query)
    if probe is None:
        return []
    if vectors and providers.embedder is not None:
        return (yield from embedded([probe], providers.embedder, report))
    return [probe]


def embedded(
    probes: Sequence[Probe], embedder: Embedder | AsyncEmbedder, report: Report
) -> Flow[list[Probe]]:
    """The probes with vectors. One that cannot be embedded keeps its words."""
    done: list[Probe] = []
    for probe in probes:
        if probe.embedding is not None or probe.query is None or "vector" not in probe.arms:
            done.append(probe)
            continue
        began = time.perf_counter()
        try:
            vector = yield from stage("embed", embed_query(embedder, probe.query))
        except Exception as error:  # an embedder of the user's own may raise anything
            report[f"embed:{probe.name}"] = ArmReport(ms=since(began), error=reason(error))
            done.append(probe)
            continue
        done.append(replace(probe, embedding=vector))
    return done


def _of_a_model(
    request: Request, query: str, providers: Providers, report: Report
) -> Flow[list[Probe]]:
    profile = request.profile
    found: list[Probe] = []
    for name, wanted in (("variants", profile.variants > 0), ("hyde", profile.hyde)):
        if not wanted:
            continue
        if providers.generator is None:
            report[name] = ArmReport(skipped="no chat model")
            continue
        began = time.perf_counter()
        try:
            if name == "variants":
                made = yield from query_variants(query, providers.generator, profile.variants)
            else:
                made = [(yield from hyde_probe(query, providers.generator))]
        except Exception as error:  # a model of the user's own may raise anything
            report[name] = ArmReport(ms=since(began), error=reason(error))
            continue
        found += made
        report[name] = ArmReport(rows=len(made), ms=since(began))
    return found
