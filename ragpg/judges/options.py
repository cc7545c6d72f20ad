"""The bars of the judges that are chosen by name, one dataclass each: tables of a configuration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragpg.arguments import share, whole
from ragpg.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: What words can tell better than a model: figures. Negation and names are the model's own work.
FIGURES = ("number", "unit", "bound", "date")
#: All that is compared.
FACTS = (*FIGURES, "negation", "opposite", "quantifier", "name", "role")
#: Beyond this a judge would read whole documents.
_MOST_CANDIDATES = 1000


@dataclass(frozen=True, slots=True)
class LexicalOptions:
    """The default judge, which also stands in where another one fails.

    supported  share of a claim's content words, 0 to 1, from which evidence supports it
    partial    share from which it does so in part; at most `supported`
    """

    supported: float = 0.5
    partial: float = 0.25

    def __post_init__(self) -> None:
        check_thresholds(self.supported, self.partial)


@dataclass(frozen=True, slots=True)
class EmbeddingOptions:
    """The judge `embedding`; its bars depend on the model, `ragpg eval-grounding` learns them.

    supported   cosine, -1 to 1, from which evidence supports a claim
    partial     cosine from which it does so in part; at most `supported`
    candidates  spans that are compared with a claim
    veto        facts that overrule a cosine: number, unit, bound, date, negation, opposite,
                quantifier, name, role
    """

    supported: float = 0.63
    partial: float = 0.5
    candidates: int = 24
    veto: Sequence[str] = FACTS

    def __post_init__(self) -> None:
        check_thresholds(self.supported, self.partial, least=-1)
        whole("candidates", self.candidates, least=1, most=_MOST_CANDIDATES)
        check_topics(self.veto)


@dataclass(frozen=True, slots=True)
class NLIOptions:
    """The judge that is the folder of an entailment model.

    supported     probability of entailment, 0 to 1, from which evidence supports a claim
    partial       probability from which it does so in part; at most `supported`
    contradicted  probability of contradiction from which it contradicts it
    candidates    spans that are read for a claim
    max_tokens    of claim and evidence together; the rest is cut off
    batch_size    pairs of one run of the model
    heading       whether the heading is read before the evidence
    labels        classes of the output in order; none: as config.json of the model says
    threads       none: the processors of the machine, at most four
    veto          facts that overrule the model, as for the judge `embedding`
    """

    supported: float = 0.5
    partial: float = 0.25
    contradicted: float = 0.5
    candidates: int = 5
    max_tokens: int = 512
    batch_size: int = 16
    heading: bool = True
    labels: Sequence[str] = ()
    threads: int | None = None
    veto: Sequence[str] = FIGURES

    def __post_init__(self) -> None:
        check_thresholds(self.supported, self.partial)
        share("contradicted", self.contradicted)
        whole("candidates", self.candidates, least=1, most=_MOST_CANDIDATES)
        whole("batch_size", self.batch_size, least=1)
        if self.threads is not None:
            whole("threads", self.threads, least=1)
        whole("max_tokens", self.max_tokens, least=16)
        check_topics(self.veto)


@dataclass(frozen=True, slots=True)
class LLMOptions:
    """The judge `llm`, which says verdicts in words; it has no bars.

    candidates  spans that are read for a claim
    batch       claims with a span each, of one request
    characters  of one span; the rest is cut off
    options     what is sent with the request, as {"temperature": 0}
    """

    candidates: int = 3
    batch: int = 12
    characters: int = 1200
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        whole("candidates", self.candidates, least=1, most=_MOST_CANDIDATES)
        whole("batch", self.batch, least=1)
        whole("characters", self.characters, least=1)


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """What is configured of each judge that may be named."""

    lexical: LexicalOptions = field(default_factory=LexicalOptions)
    embedding: EmbeddingOptions = field(default_factory=EmbeddingOptions)
    nli: NLIOptions = field(default_factory=NLIOptions)
    llm: LLMOptions = field(default_factory=LLMOptions)


def check_thresholds(supported: object, partial: object, *, least: int = 0) -> None:
    """Raise ConfigError unless both are numbers from `least` to 1, and partial <= supported."""
    high, low = share("supported", supported, least=least), share("partial", partial, least=least)
    if low > high:
        raise ConfigError(f"the threshold of partial, {low}, is above supported, {high}")


def check_topics(topics: Sequence[str]) -> None:
    """Raise ConfigError for a fact that no comparison knows: it would never overrule anything."""
    given = [topics] if isinstance(topics, str) else list(topics)
    unknown = [one for one in given if one not in FACTS]
    if unknown or isinstance(topics, str):
        said = f"has no fact {unknown[0]!r}" if unknown else f"must be a list, not {topics!r}"
        raise ConfigError(f"veto {said}", hint=f"Known: {', '.join(FACTS)}.")
