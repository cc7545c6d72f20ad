"""Profiles: which stages of a search are on, and with which values, as a file that one can read.

    # support.toml
    base = "measured"
    mmr = 0.7
    parents = 1

    rag.search("refunds", profile="support.toml")

Built in are `measured` (the default: what the bench chose), `seed` (everything that a full funnel
has, with customary values) and `fast` (the SQL call alone); their files are in ragpg/profiles.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from ragpg.arguments import share
from ragpg.errors import ConfigError
from ragpg.query.cite import Style
from ragpg.query.probes import MOST_PROBES
from ragpg.query.prompt import LOW_COSINE, SYSTEM, TEMPLATE, Prompt
from ragpg.table_files import read_tables

#: The rerankers that a profile may name; `ragpg.rerankers` makes them.
RERANKERS = ("heuristic", "late")
#: What becomes of the claims of an answer that the sources do not support.
Unsupported = Literal["keep", "mark", "drop", "repair"]
#: Beyond this a context would hold the neighbours of a hit and little else.
MOST_PARENTS = 10


@dataclass(frozen=True, slots=True)
class Profile:
    """The knobs of a search; a caller's own argument wins over them.

    name            what reports call it
    arms            options of the arms over SQL's defaults: {"prf": false, "vector": {"k": 100}}
    fusion          {"method": "adaptive" | "rrf" | "minmax" | "convex", ...}; empty: what the
                    namespace's settings say, else adaptive
    candidates      how many hits the stages after SQL see
    carryover       add a probe from earlier queries to a vague follow-up
    facets          add a probe for each clause of a question with several
    corrective      below this confidence (0 to 1) search again with a wider probe; 0: never
    variants        phrasings that a chat model adds (RAG-Fusion); 0: no model is asked
    hyde            add the probe of a passage that a chat model invents
    prior           multiply scores with what feedback says of passages, 0.85 to 1.15; neutral where
                    none was given
    rerankers       names of rerankers, in the order in which they run: heuristic, late
    mmr             weight of relevance against novelty (Carbonell & Goldstein 1998), 0 to 1; 1: off
    collapse        a hit goes when this share of its word sequences, 0 to 1, stands in a better one
                    that has all its numbers and negations too; 1: off
    parents         how many neighbouring chunks on each side the context shows of a hit
    compress        whether the context shows only the sentences of a hit that answer the query
    context_tokens  size of the context
    citation_style  numeric, source, footnote, markdown or json
    judge           who checks the claims of an answer: lexical, embedding, llm, or the folder of an
                    entailment model
    low_cosine      no model is asked where no hit shares a word with the question and the best
                    cosine, -1 to 1, is below this; unrelated texts have more with some models
    gate            an answer of lower confidence (0 to 1) is not given; 0: any is
    unsupported     what becomes of claims without support: keep, mark, drop, or repair (one round
                    back to the chat model)
    system          rules for the chat model; blank: ragpg's own
    template        the message with the sources and the question to it; blank: ragpg's own
    """

    name: str = "measured"
    arms: Mapping[str, Any] = field(default_factory=dict)
    fusion: Mapping[str, Any] = field(default_factory=dict)
    candidates: int = 50
    carryover: bool = True
    facets: bool = False
    corrective: float = 0.0
    variants: int = 0
    hyde: bool = False
    prior: bool = True
    rerankers: Sequence[str] = ("heuristic",)
    mmr: float = 1.0
    collapse: float = 1.0
    parents: int = 0
    compress: bool = False
    context_tokens: int = 4096
    citation_style: Style = "numeric"
    judge: str = "lexical"
    low_cosine: float = LOW_COSINE
    gate: float = 0.0
    unsupported: Unsupported = "keep"
    system: str = ""
    template: str = ""

    def __post_init__(self) -> None:
        for name in ("judge", "system", "template"):
            if not isinstance(getattr(self, name), str):
                raise _wrong(self, name, "a text")
        try:
            check_gate(self.gate)
            for name, least in (("corrective", 0), ("mmr", 0), ("collapse", 0), ("low_cosine", -1)):
                share(name, getattr(self, name), least=least)
            check_unsupported(self.unsupported)
            Prompt(template=self.template or TEMPLATE)
        except ConfigError as error:
            raise ConfigError(f"profile {self.name}: {error.message}", hint=error.hint) from error
        for name in ("carryover", "facets", "hyde", "prior", "compress"):
            if not isinstance(getattr(self, name), bool):
                raise _wrong(self, name, "true or false")
        for name, most in (
            ("candidates", 10_000),
            ("variants", MOST_PROBES),
            ("parents", MOST_PARENTS),
            ("context_tokens", 100_000_000),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
                raise _wrong(self, name, f"a whole number from 0 to {most}")
        for name in ("arms", "fusion"):
            if not isinstance(getattr(self, name), Mapping):
                raise _wrong(self, name, "a table of options")
        if not isinstance(self.name, str):
            raise _wrong(self, "name", "a text")
        if self.citation_style not in get_args(Style):
            raise _wrong(self, "citation_style", f"one of {', '.join(get_args(Style))}")
        if isinstance(self.rerankers, str) or not isinstance(self.rerankers, Sequence):
            raise _wrong(self, "rerankers", 'a list of names, as ["heuristic"]')
        for name in self.rerankers:
            if name not in RERANKERS:
                raise ConfigError(
                    f"profile {self.name}: there is no reranker {name!r}",
                    hint=f"Choose from {', '.join(RERANKERS)}; pass one of your own as rerank=...",
                )

    @property
    def prompt(self) -> Prompt:
        """What a chat model is told."""
        return Prompt(self.system or SYSTEM, self.template or TEMPLATE)

    def to_toml(self) -> str:
        """The profile as a file that `read_profile` reads; every knob is written."""
        values = asdict(self)
        tables = {name: values.pop(name) for name in ("arms", "fusion")}
        lines = [f"{name} = {_toml(value)}" for name, value in values.items()]
        for name, table in tables.items():
            lines += ["", f"[{name}]"]
            lines += [f"{_key(key)} = {_toml(value)}" for key, value in table.items()]
        return "\n".join(lines) + "\n"


def check_gate(gate: object) -> None:
    """Raise ConfigError unless it is a number from 0 to 1."""
    share("gate", gate)


def check_unsupported(choice: object) -> None:
    """Raise ConfigError unless it is one of `Unsupported`."""
    if choice not in get_args(Unsupported):
        raise ConfigError(
            f"unsupported must be one of {', '.join(get_args(Unsupported))}, not {choice!r}"
        )


#: A profile, the name of a built-in one, or the path of a file.
ProfileChoice: TypeAlias = "Profile | str | os.PathLike[str]"


def read_profile(choice: ProfileChoice | None = None) -> Profile:
    """The profile that a caller means: an object, a built-in name, or a TOML, YAML or JSON file.

    None is RAGPG_PROFILE of the environment, else `measured`. A file gives what differs from its
    `base` (a built-in name; default measured). Raises ConfigError for an unknown name, key or
    value, with the nearest known one.
    """
    if choice is None:
        choice = os.environ.get("RAGPG_PROFILE", "").strip() or "measured"
    if isinstance(choice, Profile):
        return choice
    if not isinstance(choice, str | os.PathLike):
        raise ConfigError(f"a profile is a Profile, a name or a path, not {choice!r}")
    text = os.fspath(choice)
    if text in built_in():
        return _built_in(text)
    path = Path(text).expanduser()
    # What is too long to be a path makes no file either, but an OSError.
    if not os.path.isfile(path):
        near = difflib.get_close_matches(text, built_in(), n=1)
        raise ConfigError(
            f"there is no profile {text!r}",
            hint=(f"Did you mean {near[0]}? " if near else "")
            + f"Built in are {', '.join(built_in())}; anything else is the path of a file.",
        )
    return profile_of(_parse(path), path.stem)


def built_in() -> list[str]:
    """The names of the profiles that ship with the package."""
    return ["measured", "seed", "fast"]


def profile_of(values: Mapping[str, Any], name: str) -> Profile:
    """A profile from the keys of a file. Raises ConfigError naming a key that is unknown."""
    values = dict(values)
    base = values.pop("base", None)
    if base is not None and base not in built_in():
        raise ConfigError(
            f"profile {name}: base must be one of {', '.join(built_in())}, not {base!r}"
        )
    known = [one.name for one in fields(Profile)]
    for key in values:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            raise ConfigError(
                f"profile {name}: {key!r} is not a knob",
                hint=f"Did you mean {near[0]}?" if near else f"Knobs are {', '.join(known)}.",
            )
    if "rerankers" in values and isinstance(values["rerankers"], list):
        values["rerankers"] = tuple(values["rerankers"])
    start = Profile() if base is None and name == "measured" else _built_in(base or "measured")
    return replace(start, **({"name": name} | values))


@lru_cache(maxsize=8)
def _built_in(name: str) -> Profile:
    path = Path(__file__).parents[1] / "profiles" / f"{name}.toml"
    return profile_of(_parse(path), name)


def _parse(path: Path) -> dict[str, Any]:
    try:
        return read_tables(path)
    except ConfigError as error:
        raise ConfigError(f"profile {error.message}", hint=error.hint) from error


def _wrong(profile: Profile, name: str, wanted: str) -> ConfigError:
    return ConfigError(
        f"profile {profile.name}: {name} must be {wanted}, not {getattr(profile, name)!r}"
    )


def _toml(value: Any) -> str:
    """A value in TOML: strings, numbers, lists and inline tables of JSON are nearly the same."""
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(key)} = {_toml(one)}" for key, one in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return _quoted(value)


def _key(text: str) -> str:
    plain = text.replace("-", "").replace("_", "")
    return text if plain.isalnum() and plain.isascii() else _quoted(text)


def _quoted(value: Any) -> str:
    # DEL is the only character that JSON leaves bare and TOML forbids.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
