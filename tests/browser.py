"""A headless Chromium, driven by its DevTools protocol."""

import asyncio
import base64
import contextlib
import itertools
import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""
PATIENCE = 60.0


class Page:
    """One page that is shown."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.said: list[dict[str, Any]] = []
        """What the browser told on its own: events of the domains that were enabled, such as Log."""

    async def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        async for message in self._socket:
            answer = json.loads(message.data)
            if answer.get("id") == number:
                assert "error" not in answer, answer
                found: dict[str, Any] = answer["result"]
                return found
            self.said.append(answer)
        raise AssertionError("the browser is gone")

    async def says(self, code: str) -> Any:
        """The value of an expression in the page."""
        return (await self.ask("Runtime.evaluate", expression=code))["result"].get("value")

    async def is_so(self, code: str) -> None:
        """Wait until an expression in the page is true."""
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while not await self.says(code):
            assert asyncio.get_running_loop().time() < deadline, f"it never came to be so: {code}"
            await asyncio.sleep(0.1)

    async def opens(
        self, file: Path, *, script: bool = True, width: int = 1400, dark: bool = False, lacks: str = ""
    ) -> None:
        """Show a file once the browser is ready to tell what it thinks of it; without `script` none of it runs.

        `lacks`: a name of the browser that an older one does not have.
        """
        for domain in ("Page", "Runtime", "Log", "Network"):
            await self.ask(f"{domain}.enable")
        if lacks:
            await self.ask("Page.addScriptToEvaluateOnNewDocument", source=f"delete window.{lacks}")
        await self.ask("Emulation.setScriptExecutionDisabled", value=not script)
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        await self.ask("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.ask("Emulation.setEmulatedMedia", features=[scheme])
        await self.ask("Page.navigate", url=file.as_uri())
        await self.is_so("document.readyState === 'complete' && location.protocol === 'file:'")

    async def types(self, key: str) -> None:
        """Press a digit or a letter, where the page has its focus."""
        kind = "Digit" if key.isdigit() else "Key"
        code = {"code": f"{kind}{key.upper()}", "windowsVirtualKeyCode": ord(key.upper())}
        await self.ask("Input.dispatchKeyEvent", type="keyDown", text=key, key=key, **code)
        await self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, **code)

    async def picture(self) -> bytes:
        """What is seen, as PNG."""
        return base64.b64decode((await self.ask("Page.captureScreenshot"))["data"])

    async def steady_picture(self) -> bytes:
        """The same, once it has not changed for a while."""
        before, same = b"", 0
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while same < 4 and asyncio.get_running_loop().time() < deadline:
            found = await self.picture()
            same = same + 1 if found == before else 0
            before = found
            await asyncio.sleep(0.4)
        return before


@contextlib.asynccontextmanager
async def page(address: str, profile: Path, *, width: int = 1400, height: int = 900) -> AsyncIterator[Page]:
    """`address` in a browser of its own."""
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0",
               f"--user-data-dir={profile}", f"--window-size={width},{height}", "--no-first-run")  # fmt: skip
    quiet = subprocess.DEVNULL
    own = os.environ | {"XDG_CACHE_HOME": str(profile)}  # else it writes where the tests have no cache
    browser = subprocess.Popen([PROGRAM, *options, address], stdout=quiet, stderr=quiet, env=own)
    try:
        said = profile / "DevToolsActivePort"
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while not (said.is_file() and "\n" in said.read_text()):
            assert asyncio.get_running_loop().time() < deadline, "the browser did not start"
            await asyncio.sleep(0.1)
        async with ClientSession() as session:
            tabs: list[dict[str, str]] = []
            while not any(tab["type"] == "page" for tab in tabs):
                async with session.get(f"http://127.0.0.1:{said.read_text().split()[0]}/json") as answer:
                    tabs = await answer.json()
            where = next(tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page")
            async with session.ws_connect(where, max_msg_size=0) as socket:
                yield Page(socket)
    finally:
        browser.terminate()
        browser.wait(PATIENCE)
