"""Several embedders as one: each namespace is met with the model that its vectors were made with.

While a namespace changes its model, a client that has both keeps finding and keeps both complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ragpg.protocols import AsyncEmbedder, Embedder

    AnyEmbedder = Embedder | AsyncEmbedder


class Embedders:
    """An embedder that is one of several, and knows the others.

        rag = ragpg.connect(embedder=Embedders(OpenAIEmbedder("text-embedding-3-small"),
                                               OpenAIEmbedder("text-embedding-3-large")))

    By itself it is the first one. A search uses the one whose model and dimensions are those of its
    namespaces, and the next search tries that one first. An ingest uses the one of the namespace,
    and further ones for the spaces that the namespace keeps beside (see ragpg.reembed). A new
    namespace gets the first one, or what `chosen` has for its name.
    """

    def __init__(
        self, *embedders: AnyEmbedder, chosen: Mapping[str, AnyEmbedder] | None = None
    ) -> None:
        if not embedders:
            raise ConfigError("Embedders needs at least one embedder")
        self._all = embedders
        self._chosen = dict(chosen or {})
        # Shared with bound copies: what one search learned serves the next.
        self._preferred = [0]
        self._bound: int | None = None

    def __repr__(self) -> str:
        return f"Embedders({', '.join(map(repr, self._all))})"

    def __iter__(self) -> Iterator[AnyEmbedder]:
        return iter(self._all)

    @property
    def current(self) -> AnyEmbedder:
        """The one that is used until another is asked for."""
        return self._all[self._preferred[0] if self._bound is None else self._bound]

    def bound(self) -> Embedders:
        """A copy that stays with the current one, for a search whose vectors must not mix."""
        copy = Embedders(*self._all, chosen=self._chosen)
        copy._preferred, copy._bound = self._preferred, self._preferred[0]
        return copy

    def mapped(self, change: Callable[[AnyEmbedder], AnyEmbedder]) -> Embedders:
        """The same with something else for each embedder."""
        made = {id(one): change(one) for one in (*self._all, *self._chosen.values())}
        return Embedders(
            *(made[id(one)] for one in self._all),
            chosen={name: made[id(one)] for name, one in self._chosen.items()},
        )

    def first_for(self, namespace: str) -> AnyEmbedder:
        """The embedder of a namespace that has no vectors yet."""
        return self._chosen.get(namespace, self._all[0])

    def matching(self, model: str, dimensions: int, *, prefer: bool = False) -> AnyEmbedder | None:
        """The embedder of a space, current from now on with `prefer`; None where there is none."""
        for place, one in enumerate(self._all):
            if one.model == model and one.dimensions == dimensions:
                if prefer:
                    self._preferred[0] = place
                return one
        return None

    @property
    def model(self) -> str:
        """The model of the current one."""
        return self.current.model

    @property
    def dimensions(self) -> int:
        """The length of the current one's vectors."""
        return self.current.dimensions

    def __getattr__(self, name: str) -> Any:
        # The methods of the current one, in whichever colours it has them.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.current, name)

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """As the current one."""
        return self.current.embed_documents(texts)  # type: ignore[union-attr]

    def embed_query(self, text: str) -> list[float]:
        """As the current one."""
        return self.current.embed_query(text)  # type: ignore[union-attr]


def bound(embedder: AnyEmbedder | None) -> AnyEmbedder | None:
    """The embedder for one search, throughout which it stays the same."""
    return embedder.bound() if isinstance(embedder, Embedders) else embedder


def first_for(embedder: AnyEmbedder, namespace: str) -> AnyEmbedder:
    """The embedder itself; of several, the one for a namespace without vectors."""
    return embedder.first_for(namespace) if isinstance(embedder, Embedders) else embedder


def embedder_of(
    embedder: AnyEmbedder, model: str, dimensions: int, *, prefer: bool = False
) -> AnyEmbedder | None:
    """The embedder of that model and length among those that `embedder` is; None without one."""
    if isinstance(embedder, Embedders):
        return embedder.matching(model, dimensions, prefer=prefer)
    same = (embedder.model, embedder.dimensions) == (model, dimensions)
    return embedder if same else None
