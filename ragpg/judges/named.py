"""The judge that a caller or a profile names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeAlias

from ragpg.errors import ConfigError
from ragpg.protocols import Judge

if TYPE_CHECKING:
    from ragpg.protocols import AsyncEmbedder, AsyncGenerator, Embedder, Generator

#: A judge, or the name of one: lexical, embedding, llm, or the folder of an entailment model.
JudgeChoice: TypeAlias = "Judge | str | os.PathLike[str]"


def named_judge(
    choice: JudgeChoice,
    embedder: Embedder | AsyncEmbedder | None = None,
    generator: Generator | AsyncGenerator | None = None,
) -> Judge | None:
    """The judge that is meant; None for the lexical one, which needs nothing.

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
        from ragpg.judges.veto import FACTS, VetoJudge

        return VetoJudge(EmbeddingJudge(embedder), FACTS)
    if name == "llm":
        if generator is None:
            raise ConfigError(
                "the judge 'llm' needs a chat model",
                hint="Give generator=... to ragpg.connect, or choose another judge.",
            )
        from ragpg.judges.llm import LLMJudge

        return LLMJudge(generator)
    folder = os.path.expanduser(name.removeprefix("nli:"))
    if name.startswith("nli:") or os.path.exists(folder):
        from ragpg.judges.nli import NLIJudge
        from ragpg.judges.veto import VetoJudge

        return VetoJudge(NLIJudge(folder))
    raise ConfigError(
        f"there is no judge {name!r}",
        hint="Choose lexical, embedding, llm, or the folder of an entailment model (ONNX).",
    )
