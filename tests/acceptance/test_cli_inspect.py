"""`ragpg inspect`: the page as a file, as JSON, and from a server of its own."""

from __future__ import annotations

import http.client
import json
import signal
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import pytest

import ragpg
from ragpg.cli import failures
from ragpg.inspection.inspect import inspect
from ragpg.inspection.server import InspectServer

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from click.testing import Result

    from ragpg import Client


@pytest.fixture
def filled(rag: Client) -> Client:
    rag.ingest(
        texts=[
            ("refunds.md", "# Refunds\n\nRefunds take 14 days. See [returns](returns.md)."),
            ("returns.md", "# Returns\n\nReturns are free for 30 days."),
        ],
        namespace="handbook",
    )
    return rag


@pytest.mark.usefixtures("filled")
def test_the_page_and_its_data(ragpg_cli: Callable[..., Result], tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    asked = ("inspect", "how long do refunds take?", "-n", "handbook", "-k", "2")
    made = ragpg_cli(*asked, "--out", str(file), "--answer", "Refunds take 15 days.")
    assert made.exit_code == 0, made.output
    page = file.read_text()
    assert page.count('class="column') >= 5
    assert "contradicted" in page
    assert "14 days" in page
    found = json.loads(ragpg_cli(*asked, "--json").stdout)
    names = [column["name"] for column in found["columns"]]
    assert {"vector", "keyword", "graph", "fused", "reranked", "shown"} <= set(names)
    shown = [entry["chunk"] for entry in found["columns"][names.index("shown")]["entries"]]
    plain = json.loads(ragpg_cli("search", *asked[1:], "--json").stdout)
    assert [found["chunks"][str(one)]["where"] for one in shown] == [
        f"{hit['source']}:{hit['lines'][0]}-{hit['lines'][1]}" for hit in plain["hits"]
    ]


def test_wrong_use_is_named(ragpg_cli: Callable[..., Result]) -> None:
    for arguments, said in (
        (("inspect", "x"), "say where to"),
        (("inspect", " ", "--json"), "name a query"),
        (("inspect", "x", "--serve", "--json"), "leave --out and --json"),
    ):
        found = ragpg_cli(*arguments)
        assert (found.exit_code, said in found.stderr) == (failures.USAGE, True), found.output
    ragpg_cli("namespaces", "create", "handbook")
    found = ragpg_cli("inspect", "x", "-n", "nope", "--json")
    assert (found.exit_code, "does not exist" in found.stderr) == (failures.FAILED, True)


@pytest.fixture
def local_page(filled: Client) -> Iterator[InspectServer]:
    def look(fields: Any) -> Any:
        names = [one.strip() for one in fields["n"].split(",")]
        return filled.run(inspect(filled, fields["q"], namespace=names, k=int(fields["k"])))

    with InspectServer(look, {"q": "", "n": "handbook", "k": "5", "answer": ""}) as opened:
        thread = threading.Thread(target=opened.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield opened
        opened.shutdown()
        thread.join()


def get(local_page: InspectServer, path: str, **headers: str) -> tuple[int, str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", local_page.server_port, timeout=30)
    connection.request("GET", path, headers=headers)
    found = connection.getresponse()
    text = found.read().decode()
    connection.close()
    return found.status, text, found.headers


def test_the_server_answers_its_form_and_nobody_else(local_page: InspectServer) -> None:
    status, page, headers = get(local_page, "/")
    assert (status, 'role="search"' in page) == (200, True)
    assert headers["Cache-Control"] == "no-store"
    status, page, _ = get(local_page, "/?" + urlencode({"q": "<b>refunds</b>", "k": "2"}))
    assert status == 200
    assert "&lt;b&gt;refunds&lt;/b&gt;" in page
    assert "<b>refunds" not in page
    assert 'aria-label="result rank 1, ' in page
    status, page, _ = get(local_page, "/?" + urlencode({"q": "x", "n": "<nope>"}))
    assert status == 404
    assert "namespace &quot;&lt;nope&gt;&quot; does not exist" in page
    assert get(local_page, "/etc/passwd")[0] == 404
    # A name of somebody else that was led here, and a page that would have it searched.
    assert get(local_page, "/?q=refunds", Host="evil.example")[0] == 403
    assert get(local_page, "/?q=x", **{"Sec-Fetch-Site": "cross-site"})[0] == 403


def test_the_command_serves_until_it_is_stopped(
    filled: Client, ragpg_process: Callable[..., subprocess.Popen[str]]
) -> None:
    process = ragpg_process("inspect", "--serve", "--port", "0", "-n", "handbook")
    try:
        assert process.stdout is not None
        address = urlsplit(process.stdout.readline().strip())
        connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=30)
        connection.request("GET", "/?q=refunds")
        answer = connection.getresponse()
        assert (answer.status, b"Refunds take 14 days" in answer.read()) == (200, True)
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0, error
    assert "Traceback" not in error


def test_an_async_client_inspects_too(filled: Client, database: str) -> None:
    import asyncio

    async def run() -> Any:
        async with ragpg.aconnect(database, embedder=filled.embedder) as rag:
            return await rag.run(inspect(rag, "refunds", namespace="handbook", k=1))

    found = asyncio.run(run())
    same = filled.run(inspect(filled, "refunds", namespace="handbook", k=1))
    assert [hit.source for hit in found.trace.fused] == [hit.source for hit in same.trace.fused]
    assert found.result.hits == same.result.hits
