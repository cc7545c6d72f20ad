"""Tools and the client that answers them: what an agent loop needs.

tools = Toolbox(rag, [SearchTool(["handbook"])])
reply = client.chat.completions.create(..., tools=tools.definitions())
for call in reply.choices[0].message.tool_calls:
    text = tools.call(call.function.name, call.function.arguments)
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError, RagpgError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.client import Client
    from ragpg.client_async import AsyncClient
    from ragpg.tools.search_tool import SearchTool, Wanted


class Toolbox:
    """Several tools over one client. An answer is JSON text; so is an error, because the model is
    the one who can mend it."""

    def __init__(self, rag: Client | AsyncClient, tools: Sequence[SearchTool]) -> None:
        self._rag: Any = rag
        self._tools = {tool.name: tool for tool in tools}
        if len(self._tools) < len(tools):
            raise ConfigError("two tools have the same name")

    def definitions(self) -> list[dict[str, Any]]:
        """The tools as OpenAI's chat API takes them."""
        return [tool.definition() for tool in self._tools.values()]

    def risks(self) -> dict[str, str]:
        """What a tool may do, by name: "read" changes nothing."""
        return {name: tool.risk for name, tool in self._tools.items()}

    def call(self, name: str, arguments: str | Mapping[str, Any]) -> str:
        """Answer a call with a sync client."""
        try:
            tool, wanted = self._read(name, arguments)
            return _json(tool.answer(wanted, self._rag.search(**_arguments(wanted))))
        except RagpgError as error:
            return _failure(error)

    async def acall(self, name: str, arguments: str | Mapping[str, Any]) -> str:
        """Answer a call with an async client."""
        try:
            tool, wanted = self._read(name, arguments)
            return _json(tool.answer(wanted, await self._rag.search(**_arguments(wanted))))
        except RagpgError as error:
            return _failure(error)

    def _read(self, name: str, arguments: str | Mapping[str, Any]) -> tuple[SearchTool, Wanted]:
        tool = self._tools.get(name)
        if tool is None:
            raise ConfigError(
                f"there is no tool {name!r}", hint=f"There are {', '.join(self._tools)}."
            )
        return tool, tool.read(arguments)


def _arguments(wanted: Wanted) -> dict[str, Any]:
    return {
        "query": wanted.query,
        "namespace": list(wanted.namespaces),
        "k": wanted.k,
        "filter": wanted.filter,
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _failure(error: RagpgError) -> str:
    said = {"error": error.message}
    return _json(said | ({"hint": error.hint} if error.hint else {}))
