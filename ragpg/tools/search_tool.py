"""One search tool: what the model is told of it, what it may ask for, what it is answered.

The allow-list is the tool's: a model that asks for another namespace gets what it may see, and is
told what was left out. A Toolbox and the MCP server have the database refuse everything else too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ragpg.errors import ConfigError
from ragpg.tools.calls import (
    Risk,
    ToolError,
    definition_of,
    read_call,
    read_count,
    read_names,
    read_text,
    schema_of,
)

if TYPE_CHECKING:
    from ragpg.steps import Flow
    from ragpg.tools.learning import Learning
    from ragpg.types import Hit, Json, SearchResult

#: More passages than this in one answer help no model.
MOST = 50

_DESCRIPTION = (
    "Search the knowledge base. Returns passages with their source, best first. Use it before "
    "answering a question of fact, and cite the source of what you use."
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A call, checked. `refused` are namespaces that were asked for and are not allowed."""

    query: str
    namespaces: Sequence[str]
    k: int
    filter: Json = None
    refused: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class SearchTool:
    """A search of certain namespaces, for a model.

    namespaces          the allow-list, in full; what is not in it is never searched
    default_namespaces  searched when the model names none; None: all that are allowed
    top_k               how many passages when the model does not say
    filter              conditions that every call is put under; the model's own narrow them further
    include_metadata    whether passages come with their metadata
    """

    namespaces: Sequence[str]
    name: str = "knowledge_search"
    description: str = _DESCRIPTION
    default_namespaces: Sequence[str] | None = None
    top_k: int = 5
    filter: Json = None
    include_metadata: bool = True

    #: Nothing is changed by a call.
    risk: ClassVar[Risk] = "read"

    def __post_init__(self) -> None:
        if isinstance(self.namespaces, str) or not self.namespaces:
            raise ConfigError(
                f"tool {self.name}: namespaces must be a list of the namespaces it may search"
            )
        if not 1 <= self.top_k <= MOST:
            raise ConfigError(f"tool {self.name}: top_k must be from 1 to {MOST}")
        strange = [one for one in self.default_namespaces or () if one not in self.namespaces]
        if strange:
            raise ConfigError(
                f"tool {self.name}: the default namespace {strange[0]!r} is not allowed"
            )

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments of a call as a JSON schema."""
        return schema_of(
            {
                "query": {
                    "type": "string",
                    "description": "What to look for: a question or a few words.",
                },
                "namespaces": {
                    "type": "array",
                    "items": {"type": "string", "enum": list(self.namespaces)},
                    "description": "Which collections to search; leave out to search "
                    + ", ".join(self.default_namespaces or self.namespaces)
                    + ".",
                },
                "top_k": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MOST,
                    "description": f"How many passages to return; {self.top_k} if left out.",
                },
                "filter": {
                    "type": "object",
                    "description": 'Conditions on metadata, as {"year": {"gte": 2023}}.',
                },
            },
            "query",
        )

    def definition(self) -> dict[str, Any]:
        """The tool as OpenAI's chat API takes it."""
        return definition_of(self)

    def read(self, arguments: str | Mapping[str, Any]) -> Wanted:
        """A call from what a model wrote. Raises ToolError with what a model can mend."""
        given = read_call(self, arguments)
        query = read_text(self.name, "query", given.get("query"), "what to look for")
        asked = read_names(self.name, "namespaces", given.get("namespaces"))
        # A model that fills every argument in writes an empty list for "no choice".
        wanted = list(dict.fromkeys(asked or self.default_namespaces or self.namespaces))
        allowed = [one for one in wanted if one in self.namespaces]
        if not allowed:
            raise ToolError(
                f"{self.name}: none of {', '.join(map(repr, wanted))} may be searched; "
                f"allowed are {', '.join(map(repr, self.namespaces))}"
            )
        return Wanted(
            query=query,
            namespaces=allowed,
            k=read_count(self.name, "top_k", given.get("top_k"), MOST) or self.top_k,
            filter=self._filter(given.get("filter")),
            refused=[one for one in wanted if one not in self.namespaces],
        )

    def answer(self, wanted: Wanted, result: SearchResult) -> dict[str, Any]:
        """What the model reads: passages by rank, and what it should know of the search."""
        notes = [*result.notes]
        if wanted.refused:
            notes.append(f"not searched, because not allowed: {', '.join(wanted.refused)}")
        found: dict[str, Any] = {
            "query": wanted.query,
            "results": [self._passage(hit) for hit in result.hits],
        }
        return found | ({"notes": notes} if notes else {})

    def work(
        self, rag: Any, arguments: str | Mapping[str, Any], learning: Learning | None
    ) -> Flow[dict[str, Any]]:
        """Answer a call over a client. Raises ToolError, and what a search raises."""
        wanted = self.read(arguments)
        result: SearchResult = yield from rag.search_flow(
            wanted.query, namespace=list(wanted.namespaces), k=wanted.k, filter=wanted.filter
        )
        found = self.answer(wanted, result)
        return found if learning is None else found | {"search_id": learning.show(result)}

    def _filter(self, asked: Any) -> Json:
        if not asked:
            return self.filter
        if not isinstance(asked, Mapping):
            raise ToolError(f"{self.name}: filter must be an object of conditions")
        return {"and": [self.filter, asked]} if self.filter else asked

    def _passage(self, hit: Hit) -> dict[str, Any]:
        vector = hit.arms.get("vector")
        passage = {
            "rank": hit.rank,
            "namespace": hit.namespace,
            # How near the meaning is; null where only words found the passage.
            "similarity": None if vector is None else round(vector.score, 4),
            "score": round(hit.score, 6),
            "source": hit.source,
            "chunk_idx": hit.chunk_index,
            "lines": None if hit.lines is None else list(hit.lines),
            "page": hit.page,
            "heading": hit.breadcrumb,
            "content": hit.content,
        }
        return passage | ({"metadata": dict(hit.metadata)} if self.include_metadata else {})
