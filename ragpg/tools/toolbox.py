"""Tools and the client that answers them: what an agent loop needs.

tools = Toolbox(rag, [SearchTool(["handbook"]), *memory_tools("helper")])
reply = client.chat.completions.create(..., tools=tools.definitions())
for call in reply.choices[0].message.tool_calls:
    text = tools.call(call.function.name, call.function.arguments)
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ragpg.arguments import text
from ragpg.errors import ConfigError, RagpgError
from ragpg.tools.calls import definition_of, failure
from ragpg.tools.learning import Learning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.client import Client
    from ragpg.client_async import AsyncClient
    from ragpg.steps import Flow
    from ragpg.tools.calls import Risk, Tool


class Toolbox:
    """Several tools over one client. An answer is JSON text; so is an error, because the model is
    the one who can mend it. The database refuses a tool whatever is not in its namespaces.

    learn  whether later searches learn from what answers were written from: see `answered`
    """

    def __init__(
        self, rag: Client | AsyncClient, tools: Sequence[Tool], *, learn: bool = False
    ) -> None:
        self._rag: Any = rag
        self._tools = {tool.name: tool for tool in tools}
        if len(self._tools) < len(tools):
            raise ConfigError("two tools have the same name")
        self._clients: dict[str, Any] = {
            tool.name: rag.limited_to(tool.namespaces) for tool in tools
        }
        self.learning = Learning() if learn else None

    def definitions(self) -> list[dict[str, Any]]:
        """The tools as OpenAI's chat API takes them."""
        return [definition_of(tool) for tool in self._tools.values()]

    def risks(self) -> dict[str, Risk]:
        """What a call may do, by name of the tool: "read" changes nothing, "write" adds, "delete"
        takes away."""
        return {name: tool.risk for name, tool in self._tools.items()}

    def call(self, name: str, arguments: str | Mapping[str, Any]) -> str:
        """Answer a call with a sync client."""
        try:
            tool = self._tool(name)
            said = self._clients[name].run(tool.work(self._clients[name], arguments, self.learning))
        except RagpgError as error:
            return failure(error)
        self._learn()
        return _json(said)

    async def acall(self, name: str, arguments: str | Mapping[str, Any]) -> str:
        """Answer a call with an async client."""
        try:
            tool = self._tool(name)
            work = tool.work(self._clients[name], arguments, self.learning)
            said = await self._clients[name].run(work)
        except RagpgError as error:
            return failure(error)
        await self._alearn()
        return _json(said)

    def answered(self, answer: str, *, searches: Sequence[str] | None = None) -> int:
        """Learn from the answer that was written after some calls; how many passages were followed.

        searches  the search_id of each call; None: all that wait, where a Toolbox serves a single
                  conversation

        Followed are the passages that carry a supported claim of the answer, by the judge of the
        client's profile, at most three of them. The others were shown, and not followed. A search
        counts once. Raises ConfigError without `learn`.
        """
        found: int = self._rag.run(self._settled(answer, searches))
        self._learn()
        return found

    async def aanswered(self, answer: str, *, searches: Sequence[str] | None = None) -> int:
        """As answered, with an async client."""
        found: int = await self._rag.run(self._settled(answer, searches))
        await self._alearn()
        return found

    def _settled(self, answer: str, searches: Sequence[str] | None) -> Flow[int]:
        if self.learning is None:
            raise ConfigError("this Toolbox learns nothing", hint="Make it with learn=True.")
        text("answer", answer)
        keys = self.learning.waiting() if searches is None else list(searches)
        shown = self.learning.shown(keys)
        if shown is None:
            return 0
        grounding = yield from self._rag.ground_flow(answer, result=shown, namespace="default")
        return self.learning.settle(keys, grounding)

    def _learn(self) -> None:
        for result, used in self.learning.take() if self.learning else ():
            self._rag.feedback(result, used)

    async def _alearn(self) -> None:
        for result, used in self.learning.take() if self.learning else ():
            await self._rag.feedback(result, used)

    def _tool(self, name: str) -> Tool:
        tool = self._tools.get(name)
        if tool is None:
            raise ConfigError(
                f"there is no tool {name!r}", hint=f"There are {', '.join(self._tools)}."
            )
        return tool


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
