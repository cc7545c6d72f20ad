"""A headless Chromium driven over its debugging pipe: enough to load a page and press keys."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType
    from typing import Self

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")


def program() -> str | None:
    """The path of a Chromium, or None where there is none."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


@contextmanager
def showing(page: str, folder: Path, width: int, height: int) -> Iterator[Browser]:
    """A browser with a page of our own in a window of that size; skips where there is none."""
    path = program()
    if path is None:
        pytest.skip("no Chromium on this machine")
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    with Browser(path) as opened:
        opened.resize(width, height)
        opened.open(file.as_uri())
        yield opened


class Browser:
    """One page of a browser of its own."""

    def __init__(self, path: str) -> None:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read_end, self._write = os.pipe()
        self._read, write_end = os.pipe()

        def hand_over() -> None:
            # The browser reads commands from 3 and writes answers to 4.
            os.dup2(read_end, 103)
            os.dup2(write_end, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)

        self._process = subprocess.Popen(
            [path, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             f"--user-data-dir={self._profile.name}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=hand_over, close_fds=False,
        )  # fmt: skip
        os.close(read_end)
        os.close(write_end)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == self._number:
                assert "error" not in found, found
                result: dict[str, Any] = found["result"]
                return result
            self.events.append(found)

    def open(self, address: str) -> None:
        """Load a page and wait until it is there."""
        self.send("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def value(self, expression: str) -> Any:
        """What an expression in the page is."""
        found = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38,
                 "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35}  # fmt: skip
        for kind in ("rawKeyDown", "keyUp"):
            self.send(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key,
                windowsVirtualKeyCode=codes[key],
            )  # fmt: skip

    def prefer(self, scheme: str) -> None:
        """Light or dark, as the reader's system says."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.send("Emulation.setEmulatedMedia", features=[feature])

    def resize(self, width: int, height: int) -> None:
        """Give the window another size, in CSS pixels."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def screenshot(self, file: Path) -> None:
        """Write a PNG of the window."""
        data = self.send("Page.captureScreenshot", format="png")["data"]
        file.write_bytes(base64.b64decode(data))

    def close(self) -> None:
        """End the browser."""
        self._process.kill()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._profile.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            piece = os.read(self._read, 1 << 20)
            assert piece, "the browser has ended"
            self._buffer += piece
        message, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found
