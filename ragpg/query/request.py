"""What a caller asks of a search, checked, and the models and sources that a client was given."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from ragpg.arguments import MOST
from ragpg.errors import ConfigError
from ragpg.judges.lexical import LexicalJudge
from ragpg.query.profile import Profile, check_gate, check_unsupported, read_profile
from ragpg.query.prompt import Prompt, questions

if TYPE_CHECKING:
    from ragpg.protocols import (
        AsyncEmbedder,
        AsyncGenerator,
        AsyncRetriever,
        Embedder,
        Generator,
        Judge,
        Reranker,
        Retriever,
    )
    from ragpg.query.cache import Cache
    from ragpg.query.profile import Unsupported
    from ragpg.query.prompt import Turn
    from ragpg.query.retrieve import Arms
    from ragpg.query.trace import Trace
    from ragpg.types import Json


@dataclass(frozen=True, slots=True)
class Request:
    """What a caller asks of a search; the client documents the fields.

    None stands for what the profile says. `arms` of the profile are the base of the caller's.
    `model` is the chat model that will read the context, whose tokens count. `judge` None is
    `lexical`, which also stands in where another one fails or takes longer than `judge_timeout`
    seconds. `gate`, `unsupported` and `prompt` are for what is asked of a chat model.
    """

    query: str
    namespaces: Sequence[str] = ("default",)
    k: int = 10
    filter: Json = None
    arms: Arms | None = None
    reranker: Reranker | None = None
    embedding: Sequence[float] | None = None
    answer: str | None = None
    context_tokens: int | None = None
    candidates: int | None = None
    profile: Profile = field(default_factory=read_profile)
    history: Sequence[Turn] = ()
    model: str | None = None
    trace: Trace | None = None
    judge: Judge | None = None
    judge_timeout: float | None = None
    lexical: LexicalJudge = field(default_factory=LexicalJudge)
    gate: float | None = None
    unsupported: Unsupported | None = None
    prompt: Prompt | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.query, str):
            raise ConfigError(f"a query must be text, not a {type(self.query).__name__}")
        turns = not isinstance(self.history, str) and isinstance(self.history, Iterable)
        if not turns or not all(map(_is_turn, self.history)):
            raise ConfigError(
                "history must be a list, oldest first, of earlier queries, or of messages with"
                " role (user or assistant) and content"
            )
        if not (self.prompt is None or isinstance(self.prompt, Prompt)):
            raise ConfigError(
                f"prompt must be a ragpg.Prompt, not a {type(self.prompt).__name__}",
                hint="Write prompt=ragpg.Prompt(system=..., template=...).",
            )
        if self.unsupported is not None:
            check_unsupported(self.unsupported)
        if self.gate is not None:
            check_gate(self.gate)
        if not (self.answer is None or isinstance(self.answer, str)):
            raise ConfigError(f"an answer must be text, not a {type(self.answer).__name__}")
        if not (self.arms is None or isinstance(self.arms, str | Mapping | Iterable)):
            raise ConfigError(
                f"arms must be a list of names or a mapping of options, not {self.arms!r}"
            )
        for name in ("k", "candidates", "context_tokens"):
            value: Any = getattr(self, name)
            if value is None and name != "k":
                continue
            if not isinstance(value, Integral) or isinstance(value, bool):
                raise ConfigError(f"{name} must be a whole number, not {value!r}")
            if int(value) < 0:
                raise ConfigError(f"{name} cannot be negative: {value}")
            if int(value) > MOST:
                raise ConfigError(f"{name} is at most {MOST:,}, not {value}")
        if self.embedding is not None:
            _check_vector(self.embedding)

    @property
    def pool(self) -> int:
        """How many hits the stages after SQL see."""
        return self.profile.candidates if self.candidates is None else self.candidates

    @property
    def budget(self) -> int:
        """Tokens of the context."""
        return self.profile.context_tokens if self.context_tokens is None else self.context_tokens

    @property
    def questions(self) -> list[str]:
        """The earlier queries of the conversation."""
        return questions(self.history)

    @property
    def least_confidence(self) -> float | None:
        """The gate, or None where there is none."""
        return (self.profile.gate if self.gate is None else self.gate) or None

    @property
    def about_unsupported(self) -> Unsupported:
        """What is done about claims without support."""
        return self.unsupported or self.profile.unsupported

    @property
    def chosen_prompt(self) -> Prompt:
        """The caller's prompt, else the profile's."""
        return self.prompt or self.profile.prompt

    @property
    def chosen_arms(self) -> Arms | None:
        """The caller's arms over the profile's; a list of names leaves the profile's out."""
        if self.arms is None:
            return dict(self.profile.arms) or None
        if not isinstance(self.arms, Mapping):
            return self.arms
        merged: dict[str, Any] = dict(self.profile.arms)
        for name, options in self.arms.items():
            base = merged.get(name)
            both = isinstance(base, Mapping) and isinstance(options, Mapping)
            merged[name] = {**base, **options} if both else options  # type: ignore[dict-item]
        return merged


@dataclass(frozen=True, slots=True)
class Providers:
    """The models and sources that a client was given, and where it keeps results."""

    embedder: Embedder | AsyncEmbedder | None = None
    retrievers: Sequence[Retriever | AsyncRetriever] = ()
    generator: Generator | AsyncGenerator | None = None
    cache: Cache | None = None


def _is_turn(value: Any) -> bool:
    if isinstance(value, str):
        return True
    return (
        isinstance(value, Mapping)
        and value.get("role") in ("user", "assistant")
        and isinstance(value.get("content"), str)
    )


def names_of(what: str, given: str | Iterable[str] | None) -> list[str]:
    """One name or several as a list. Raises ConfigError, with what they name, for anything else."""
    if given is None or isinstance(given, str):
        return [] if given is None else [given]
    names = list(given) if isinstance(given, Iterable) and not isinstance(given, bytes) else [given]
    wrong = [one for one in names if not isinstance(one, str)]
    if wrong:
        raise ConfigError(f"{what} must be a text, or a list of texts: {wrong[0]!r} is none")
    return list(map(str, names))


def _check_vector(vector: Sequence[float]) -> None:
    if isinstance(vector, str | bytes) or not isinstance(vector, Iterable):
        raise ConfigError(f"an embedding is a list of numbers, not {type(vector).__name__}")
    for place, value in enumerate(vector):
        if not isinstance(value, Real) or not math.isfinite(value):
            raise ConfigError(f"the embedding holds {value!r} at place {place}, no finite number")
