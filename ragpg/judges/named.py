"""The judge that a caller or a profile names."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeAlias

from ragpg.errors import ConfigError
from ragpg.judges.options import JudgeOptions
from ragpg.protocols import Judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.protocols import AsyncEmbedder, AsyncGenerator, Embedder, Generator

#: A judge, or the name of one: lexical, embedding, llm, or the folder of an entailment model.
JudgeChoice: TypeAlias = "Judge | str | os.PathLike[str]"
_DEFAULT = JudgeOptions()


def named_judge(
    choice: JudgeChoice,
    embedder: Embedder | AsyncEmbedder | None = None,
    generator: Generator | AsyncGenerator | None = None,
    options: JudgeOptions = _DEFAULT,
) -> Judge | None:
    """The judge that is meant, with its bars by `options`; None for the lexical one.

    lexical    shared words, and facts that disagree
    embedding  cosines of `embedder`, with facts as a veto
    llm        the chat model `generator`
    a folder   with an entailment model (see NLIJudge), with figures as a veto; nli:FOLDER too
    a Judge    itself

    Nothing is loaded before its first use. Raises ConfigError for anything else, and where the
    embedder or the chat model is not there.
    """
    if isinstance(choice, Judge):
        return choice
    if not isinstance(choice, str | os.PathLike):
        raise ConfigError(
            f"a judge is a name, a folder or an object with name and judge, not {choice!r}"
        )
    name = os.fspath(choice).strip()
    if name in ("", "lexical"):
        return None
    if name == "embedding":
        if embedder is None:
            raise ConfigError(
                "the judge 'embedding' needs an embedder",
                hint="Give embedder=... to ragpg.connect, or choose another judge.",
            )
        from ragpg.judges.embedding import EmbeddingJudge

        return _held(EmbeddingJudge(embedder, **_values(options.embedding)), options.embedding.veto)
    if name == "llm":
        if generator is None:
            raise ConfigError(
                "the judge 'llm' needs a chat model",
                hint="Give generator=... to ragpg.connect, or choose another judge.",
            )
        from ragpg.judges.llm import LLMJudge

        said = _values(options.llm)
        return LLMJudge(generator, **said.pop("options"), **said)
    folder = os.path.expanduser(name.removeprefix("nli:"))
    if name.startswith("nli:") or os.path.exists(folder):
        from ragpg.judges.nli import NLIJudge

        said = _values(options.nli)
        labels = said.pop("labels") or None
        return _held(NLIJudge(folder, labels=labels, **said), options.nli.veto)
    raise ConfigError(
        f"there is no judge {name!r}",
        hint="Choose lexical, embedding, llm, or the folder of an entailment model (ONNX).",
    )


def _held(judge: Judge, veto: Sequence[str]) -> Judge:
    """A judge that facts may overrule."""
    from ragpg.judges.veto import VetoJudge

    return VetoJudge(judge, veto) if veto else judge


def _values(options: Any) -> dict[str, Any]:
    """The options of a judge as its arguments; what may overrule it is no business of its own."""
    return {one.name: getattr(options, one.name) for one in fields(options) if one.name != "veto"}
