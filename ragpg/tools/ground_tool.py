"""The check of an answer as a tool: which of its claims the knowledge base supports, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ragpg.query.grounding_report import grounding_json
from ragpg.tools.calls import Risk, read_call, read_names, read_text, schema_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.steps import Flow
    from ragpg.tools.learning import Learning
    from ragpg.tools.search_tool import SearchTool
    from ragpg.types import Grounding

_DESCRIPTION = (
    "Check the claims of a text against the knowledge base: which are supported, and where. "
    "With the search_id of the searches that it was written from, against their passages."
)
#: Every claim is compared with every passage.
_MOST = 20_000


@dataclass(frozen=True, slots=True)
class GroundTool:
    """Checks texts against what a search tool may search."""

    search: SearchTool
    name: str = "ground"
    description: str = _DESCRIPTION

    #: Nothing is changed by a call; what a learning Toolbox counts is no business of the model's.
    risk: ClassVar[Risk] = "read"

    @property
    def namespaces(self) -> Sequence[str]:
        """Those of the search tool."""
        return self.search.namespaces

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments of a call as a JSON schema."""
        return schema_of(
            {
                "answer": {"type": "string", "description": "The text whose claims are checked."},
                "question": {
                    "type": "string",
                    "description": "What it answers: finds the passages that it is checked with.",
                },
                "namespaces": self.search.parameters["properties"]["namespaces"],
                "searches": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "The search_id of each search that the text was written from.",
                },
            },
            "answer",
        )

    def work(
        self, rag: Any, arguments: str | Mapping[str, Any], learning: Learning | None
    ) -> Flow[dict[str, Any]]:
        """Answer a call over a client. Raises ToolError, and what a search raises."""
        given = read_call(self, arguments)
        answer = read_text(self.name, "answer", given.get("answer"), "what to check", most=_MOST)
        searches = read_names(self.name, "searches", given.get("searches")) or []
        question = given.get("question")
        if question is not None:
            question = read_text(self.name, "question", question, "what is answered")
        wanted = self.search.read(
            {"query": question or answer, "namespaces": given.get("namespaces")}
        )
        shown = None if learning is None else learning.shown(searches)
        found: Grounding = yield from rag.ground_flow(
            answer,
            result=shown,
            question=wanted.query,
            namespace=list(wanted.namespaces),
            filter=wanted.filter,
        )
        said = grounding_json(found)
        if shown is not None and learning is not None:
            learning.settle(searches, found)
        elif searches:
            said["notes"].append("no search with such an id waits for an answer")
        return said
