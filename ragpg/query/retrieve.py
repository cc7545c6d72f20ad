"""The one SQL call of a search: its parameters, and its JSON as hits and reports."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError, FilterError, NamespaceNotFound
from ragpg.queries import SEARCH
from ragpg.steps import Flow, fetch
from ragpg.types import ArmHit, ArmReport, Fusion, Hit
from ragpg.vectors import vector_literal

if TYPE_CHECKING:
    from ragpg.types import Json

#: A choice of arms as a caller writes it: names, or options by name (false switches an arm off).
Arms = Sequence[str] | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What SQL found. `spaces` are (model, dimensions) of the namespaces' embeddings."""

    hits: list[Hit]
    report: dict[str, ArmReport]
    spaces: list[tuple[str, int]]
    fusion: Fusion | None = None


@dataclass(frozen=True, slots=True)
class ArmChoice:
    """A choice of arms, with the part that SQL runs and the part of external retrievers apart."""

    sql: Json
    external: Mapping[str, Mapping[str, Any]]


def retrieve(
    query: str,
    *,
    embedding: Sequence[float] | None,
    namespaces: Sequence[str],
    filter: Json,
    k: int,
    arms: Json,
    budget: float,
    timeout: float,
    rrf_k: int = 10,
    fusion: Json = None,
    probes: Json = None,
    prior: bool = False,
) -> Flow[Retrieved]:
    """Run ragpg.search_run: one round trip. Times are seconds.

    `fusion` and `probes` are what ragpg.fusion_options and ragpg.probe_options take. `prior` asks
    for what feedback says of the hits.
    """
    for name in namespaces:
        if not is_storable(name):
            raise NamespaceNotFound(
                f"namespace {name!r} does not exist: no name holds such a character"
            )
    [(hits, report, spaces, priors)] = yield from fetch(
        SEARCH,
        {
            "query": query,
            "embedding": None if embedding is None else vector_literal(embedding),
            "namespaces": list(namespaces),
            "filter": as_json("filter", filter),
            "k": k,
            "arms": as_json("arms", arms),
            "rrf_k": rrf_k,
            "budget_ms": round(budget * 1000),
            "fusion": as_json("fusion", fusion),
            "probes": as_json("probes", probes),
            "prior": prior,
        },
        timeout=timeout,
    )
    arms_report = json.loads(report)
    fused = arms_report.pop("fusion", None)
    known = json.loads(priors or "{}")
    return Retrieved(
        hits=[read_hit(hit, known.get(str(hit["chunk_id"]))) for hit in json.loads(hits)],
        report=in_order({name: read_report(arm) for name, arm in arms_report.items()}),
        spaces=[(model, dimensions) for model, dimensions in json.loads(spaces or "[]")],
        fusion=None if fused is None else read_fusion(fused),
    )


def split_arms(arms: Arms | None, retrievers: Sequence[str]) -> ArmChoice:
    """Which retrievers run, with their options, and what SQL is told about its own arms.

    Raises ConfigError where an option of a retriever is unknown; SQL checks the others.
    """
    if arms is None:
        return ArmChoice(None, {name: {} for name in retrievers})
    if isinstance(arms, str):
        raise ConfigError(
            f"arms must be a list of names or a mapping of options, not the text {arms!r}",
            hint=f"Write arms=[{arms!r}].",
        )
    if not isinstance(arms, Mapping):
        names = list(arms)
        own = [name for name in names if name not in retrievers]
        return ArmChoice(own, {name: {} for name in retrievers if name in names})
    external: dict[str, Mapping[str, Any]] = {}
    for name in retrievers:
        options = arms.get(name, {})
        if options is False:
            continue
        options = {} if options is True else options
        if not isinstance(options, Mapping):
            raise ConfigError(
                f"arms: options of the retriever {name!r} must be a mapping, not {options!r}"
            )
        unknown = sorted(set(options) - {"weight", "k", "min_score"})
        if unknown:
            raise ConfigError(
                f"arms: option {unknown[0]!r} of the retriever {name!r} is unknown",
                hint="Options are weight, k and min_score.",
            )
        external[name] = options
    return ArmChoice({name: arms[name] for name in arms if name not in retrievers}, external)


def wants(arm: str, arms: Json) -> bool:
    """Whether the vector or the keyword arm is on in what SQL is told."""
    if arms is None:
        return True
    return arm in arms if isinstance(arms, list) else arms.get(arm) is not False


def read_hit(found: Mapping[str, Any], prior: float | None = None) -> Hit:
    """A hit from its JSON; fields of a newer schema are left alone."""
    return Hit(
        rank=found["rank"],
        score=found["score"],
        namespace=found["namespace"],
        source=found["source"],
        content=found["content"],
        chunk_id=found["chunk_id"],
        document_id=found["document_id"],
        chunk_index=found["chunk_index"],
        title=found["title"],
        breadcrumb=found["breadcrumb"],
        metadata=found["metadata"],
        start_line=found["start_line"],
        end_line=found["end_line"],
        start_char=found["start_char"],
        end_char=found["end_char"],
        page=found["page"],
        version=found["version"],
        arms={
            name: ArmHit(arm["rank"], arm["score"], arm.get("mode"))
            for name, arm in found["arms"].items()
        },
        prior=prior,
    )


def in_order(report: Mapping[str, ArmReport]) -> dict[str, ArmReport]:
    """The arms as they run, then probes and those that a caller registered, by name."""
    known = ("vector", "keyword", "metadata", "prf", "graph", "sentence")
    names = [*(name for name in known if name in report), *sorted(set(report) - set(known))]
    return {name: report[name] for name in names}


def read_report(found: Mapping[str, Any]) -> ArmReport:
    """What SQL says of an arm."""
    return ArmReport(
        rows=found["rows"],
        ms=float(found["ms"]),
        error=found.get("error"),
        skipped=found.get("skipped"),
        mode=found.get("mode"),
        signals=found.get("signals", {}),
    )


def read_fusion(found: Mapping[str, Any]) -> Fusion:
    """What SQL says of the fusion."""
    return Fusion(
        method=found["method"],
        weights=found["weights"],
        signals=found.get("signals", {}),
        ms=float(found["ms"]),
        rrf_k=found.get("rrf_k", 10),
        error=found.get("error"),
    )


def as_json(name: str, value: Json) -> str | None:
    """A parameter as JSON text; None stays None. Raises ConfigError naming the parameter."""
    if value is None:
        return None
    try:
        text = json.dumps(value, allow_nan=False, default=_plain)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{name} cannot be written as JSON: {error}") from error
    except RecursionError as error:
        raise ConfigError(f"{name} is nested too deeply") from error
    if "\\u" in text and not all(map(is_storable, _texts(json.loads(text)))):
        kind = FilterError if name == "filter" else ConfigError
        raise kind(
            f"{name} holds a NUL or half of a surrogate pair, which no stored text does: {text}"
        )
    return text


def is_storable(text: str) -> bool:
    """Whether the database can hold a text: it takes neither NUL nor lone surrogates."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _plain(value: Any) -> Any:
    """Dates as ISO 8601, sets and other collections as lists, as documents' metadata are stored."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    if type(value).__name__ in ("Decimal", "UUID"):
        return str(value)
    raise TypeError(f"a {type(value).__name__} has no form in JSON")
