"""The MCP server, driven by the official client."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.testing import HashEmbedder, ScriptedGenerator
from ragpg.tools.search_tool import SearchTool

pytest.importorskip("mcp")

from mcp import Client as McpClient
from mcp import StdioServerParameters, stdio_client

from ragpg.tools.mcp_server import build_server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ragpg import Client

REFUND = "Refunds take 5 working days."


@pytest.fixture
def filled(rag: Client) -> Client:
    rag.ingest(texts=[("refunds.md", REFUND)], namespace="handbook")
    rag.ingest(texts=[("secret.md", "Refunds of the board are secret.")], namespace="board")
    return rag


def talk(database: str, use: Callable[[Any], Awaitable[Any]], generator: Any = None) -> Any:
    """What a client that talks to the server in this process gets."""

    async def run() -> Any:
        embedder = HashEmbedder(32)
        async with ragpg.aconnect(database, embedder=embedder, generator=generator) as rag:
            server = build_server(rag, SearchTool(["handbook"]))
            async with McpClient(server) as client:
                return await use(client)

    return asyncio.run(run())


@pytest.mark.usefixtures("filled")
def test_tools_are_listed_with_their_risks(database: str) -> None:
    async def use(client: Any) -> Any:
        return (await client.list_tools()).tools

    tools = talk(database, use)
    assert [tool.name for tool in tools] == ["knowledge_search", "ground", "list_namespaces"]
    assert all(tool.annotations.read_only_hint for tool in tools)
    with_model = talk(database, use, ScriptedGenerator(["x"]))
    assert [tool.name for tool in with_model][-1] == "ask"


@pytest.mark.usefixtures("filled")
def test_search_ground_and_namespaces_see_only_what_is_allowed(database: str) -> None:
    async def use(client: Any) -> Any:
        search = await client.call_tool("knowledge_search", {"query": "refunds"})
        refused = await client.call_tool(
            "knowledge_search", {"query": "refunds", "namespaces": ["board"]}
        )
        ground = await client.call_tool("ground", {"answer": "Refunds take 9 working days."})
        names = await client.call_tool("list_namespaces", {})
        return search, refused, ground, names

    search, refused, ground, names = talk(database, use)
    assert [one["source"] for one in search.structured_content["results"]] == ["refunds.md"]
    assert refused.is_error
    assert "'handbook'" in refused.content[0].text
    assert ground.structured_content["claims"][0]["verdict"] == "contradicted"
    assert [one["name"] for one in names.structured_content["namespaces"]] == ["handbook"]


@pytest.mark.usefixtures("filled")
def test_ask_answers_with_citations_and_a_failing_model_is_told(database: str) -> None:
    async def use(client: Any) -> Any:
        return await client.call_tool("ask", {"question": "How long do refunds take?"})

    answer = talk(database, use, ScriptedGenerator(["Refunds take 5 working days [1]."]))
    assert answer.structured_content["citations"][0]["source"] == "refunds.md"
    grounding = answer.structured_content["grounding"]
    assert (grounding["state"], grounding["judge"], grounding["notes"]) == (
        "grounded",
        "lexical",
        [],
    )
    assert grounding["claims"][0]["chars"] == [0, 32]
    assert grounding["claims"][0]["evidence"][0]["quote"] == "Refunds take 5 working days."


@pytest.mark.usefixtures("filled")
def test_the_command_serves_over_stdio(database: str) -> None:
    async def run() -> Any:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "ragpg.cli.main", "mcp", "-n", "handbook", "--embedder", "hash:32"],
            env={**os.environ, "RAGPG_DSN": database},
        )
        async with McpClient(stdio_client(server)) as client:
            return await client.call_tool("knowledge_search", {"query": "refunds", "top_k": 1})

    found = asyncio.run(run())
    assert json.loads(found.content[0].text)["results"][0]["content"] == REFUND


@pytest.mark.usefixtures("filled")
def test_the_command_serves_over_http(database: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    arguments = ["mcp", "-n", "handbook", "--embedder", "hash:32", "--http", "--port", str(port)]
    with subprocess.Popen(
        [sys.executable, "-m", "ragpg.cli.main", *arguments],
        env={**os.environ, "RAGPG_DSN": database},
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            until = time.monotonic() + 30
            while time.monotonic() < until:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)

            async def run() -> Any:
                async with McpClient(f"http://127.0.0.1:{port}/mcp") as client:
                    return await client.call_tool("knowledge_search", {"query": "refunds"})

            found = asyncio.run(run())
        finally:
            server.terminate()
    assert found.structured_content["results"][0]["source"] == "refunds.md"


@pytest.mark.usefixtures("filled")
def test_an_argument_that_a_tool_has_not_is_refused(database: str) -> None:
    async def use(client: Any) -> Any:
        return await client.call_tool("knowledge_search", {"query": "refunds", "top": 3})

    found = talk(database, use)
    assert found.is_error
    assert "no argument 'top'" in found.content[0].text
    assert "top_k" in found.content[0].text
