"""Models that need no service and always answer alike, for tests of this package and of yours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError, ProviderError
from ragpg.providers.hashing import HashEmbedder
from ragpg.types import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["FailingEmbedder", "HashEmbedder", "ScriptedGenerator", "TableEmbedder"]


class TableEmbedder:
    """Vectors from a table of texts. `asked` records every text, in the order of the requests.

    A text that is not in the table gets `default`, or raises ProviderError without one.
    """

    def __init__(
        self,
        table: Mapping[str, Sequence[float]],
        *,
        default: Sequence[float] | None = None,
        model: str = "table",
    ) -> None:
        vectors = [*table.values(), *([] if default is None else [default])]
        if len({len(vector) for vector in vectors}) != 1:
            raise ConfigError("a table of vectors needs at least one, and all of one length")
        self._table = {text: list(vector) for text, vector in table.items()}
        self._default = None if default is None else list(default)
        self._dimensions = len(vectors[0])
        self._model = model
        self.asked: list[str] = []

    @property
    def model(self) -> str:
        """The name given."""
        return self._model

    @property
    def dimensions(self) -> int:
        """Length of the vectors in the table."""
        return self._dimensions

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of the table, in order."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The vector of the table, or the default. Raises ProviderError when there is none."""
        self.asked.append(text)
        vector = self._table.get(text, self._default)
        if vector is None:
            raise ProviderError(f"no vector for {text!r} in the table", scope="input")
        return list(vector)


class FailingEmbedder:
    """An embedder whose every request raises `error`; `calls` counts them."""

    def __init__(
        self, error: Exception | None = None, *, dimensions: int = 384, model: str = "failing"
    ) -> None:
        self._error = error or ProviderError("the embedding service is away", scope="service")
        self._dimensions = dimensions
        self._model = model
        self.calls = 0

    @property
    def model(self) -> str:
        """The name given."""
        return self._model

    @property
    def dimensions(self) -> int:
        """The number given."""
        return self._dimensions

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Raises the error."""
        self.calls += 1
        raise self._error

    def embed_query(self, text: str) -> list[float]:
        """Raises the error."""
        self.calls += 1
        raise self._error


class ScriptedGenerator:
    """A chat model that gives these answers in order, the last one again and again.

    An answer that is an exception is raised. `requests` records the messages it was given. Usage
    counts words as tokens.
    """

    def __init__(
        self, answers: str | Sequence[str | Exception], *, model: str = "scripted"
    ) -> None:
        self._answers = [answers] if isinstance(answers, str) else list(answers)
        if not self._answers:
            raise ConfigError("a scripted generator needs at least one answer")
        self._model = model
        self.requests: list[list[dict[str, str]]] = []

    @property
    def model(self) -> str:
        """The name given."""
        return self._model

    def generate(self, messages: Sequence[Mapping[str, str]], **options: Any) -> tuple[str, Usage]:
        """The next answer of the script."""
        answer = self._answers[min(len(self.requests), len(self._answers) - 1)]
        self.requests.append([dict(message) for message in messages])
        if isinstance(answer, Exception):
            raise answer
        asked = sum(len(message.get("content", "").split()) for message in messages)
        return answer, Usage(input_tokens=asked, output_tokens=len(answer.split()))

    async def agenerate(
        self, messages: Sequence[Mapping[str, str]], **options: Any
    ) -> tuple[str, Usage]:
        """As generate; nothing is awaited."""
        return self.generate(messages, **options)
