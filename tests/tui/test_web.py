"""The app in a browser: for whoever has the token, and on this machine alone."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump

NEEDED = "textual-serve is not installed: pip install 'inspect-compile[web]'"


class Served(NamedTuple):
    """A server that runs."""

    base: str
    """`http://127.0.0.1:PORT`."""
    token: str

    @property
    def address(self) -> str:
        """As it was printed."""
        return f"{self.base}/?token={self.token}"


@pytest.fixture
def served(mixed: Dump) -> Iterator[Served]:
    """`open mixed --web`."""
    pytest.importorskip("textual_serve", reason=NEEDED)
    command = [sys.executable, "-m", "inspect_compile", "open", "mixed", "--web"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            base, _, token = process.stdout.readline().strip().partition("/?token=")
            yield Served(base, token)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)
    assert process.returncode == 0, "Ctrl-C is how it is ended"


async def status(address: str, **headers: str) -> int:
    """The status of a request."""
    from aiohttp import ClientSession, DummyCookieJar

    async with ClientSession(cookie_jar=DummyCookieJar()) as session, session.get(address, headers=headers) as answer:
        return answer.status


async def test_without_the_token_nothing_is_told(served: Served) -> None:
    for path in ("/", "/?token=", "/?token=x", "/ws", "/static/js/textual.js", "/download/x", "/nowhere"):
        assert await status(served.base + path) == 403, path
    assert await status(served.address) == 200
    assert await status(served.address, Host="rebound.example") == 403
    assert await status(served.address, Origin="http://elsewhere.example") == 403
    assert await status(f"{served.base}/ws?token={served.token}", Origin="http://elsewhere.example") == 403
    assert len(served.token) >= 32


async def test_the_page_asks_nothing_of_other_machines(served: Served) -> None:
    from aiohttp import ClientSession

    async with ClientSession() as session, session.get(served.address) as answer:
        policy = answer.headers["Content-Security-Policy"]
        assert answer.headers["Referrer-Policy"] == "no-referrer"
    places = {word for word in policy.replace(";", " ").split() if ":" in word}
    assert places == {"data:", served.base.replace("http:", "ws:")}


async def test_the_app_comes_through(served: Served) -> None:
    from aiohttp import ClientSession

    async with ClientSession() as session:
        async with session.get(served.address) as answer:
            cookie = answer.cookies[f"inspect_compile_{served.base.rpartition(':')[2]}"]
            assert cookie["httponly"]
            assert cookie["samesite"] == "Strict"
        headers = {"Cookie": f"{cookie.key}={cookie.value}", "Origin": served.base}
        async with session.ws_connect(f"{served.base}/ws?width=120&height=40", headers=headers) as socket:
            drawn = b""
            async with asyncio.timeout(60):
                while b"mixed.py" not in drawn or b"Kernels" not in drawn:
                    message = await socket.receive()
                    drawn += message.data if isinstance(message.data, bytes) else str(message.data).encode()


def test_only_this_machine_can_reach_it(served: Served) -> None:
    port = int(served.base.rpartition(":")[2])
    rows = [row.split() for name in ("tcp", "tcp6") for row in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    listening = [row[1] for row in rows if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port]
    assert listening == [f"0100007F:{port:04X}"], "127.0.0.1"


def test_without_textual_serve_one_line_says_what_to_install(
    mixed: Dump, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    monkeypatch.delitem(sys.modules, "inspect_compile.tui.web", raising=False)
    assert main(["open", "mixed", "--web"]) == 2
    said = capsys.readouterr().err
    assert said == "inspect-compile: open --web needs textual-serve: pip install 'inspect-compile[web]'\n"


def test_a_port_that_is_taken_is_one_line(served: Served) -> None:
    port = served.base.rpartition(":")[2]
    command = [sys.executable, "-m", "inspect_compile", "open", "mixed", "--web", "--port", port]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert found.returncode == 2
    assert found.stderr == f"inspect-compile: --port {port}: Address already in use\n"


async def test_in_a_browser(served: Served, tmp_path: Path) -> None:
    from tests import browser

    if not browser.PROGRAM:
        pytest.skip("no Chromium is installed")
    async with browser.page(served.address, tmp_path / "profile") as page:
        await page.is_so("document.body.classList.contains('-first-byte')")
        first = await page.steady_picture()
        focused = await page.says("document.activeElement.className")
        await page.types("9")
        await asyncio.sleep(1)
        second = await page.steady_picture()
    (tmp_path / "web.png").write_bytes(second)
    assert len(first) > 20_000, "a screen full of text: an empty one has a tenth of that"
    assert first != second, f"the key went through to {focused}"
