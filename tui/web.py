"""The app in a browser: textual-serve on 127.0.0.1, for whoever has the token of the address.

Needs the extra `inspect-compile[web]`. May not know what the app shows: each page runs `open` in a process of its own.
"""

import contextlib
import hmac
import logging
import secrets
import shlex
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from aiohttp import web
from textual_serve.server import Server

if TYPE_CHECKING:
    from aiohttp.typedefs import Handler, Middleware

HOST: Final = "127.0.0.1"
PAGE_POLICY: Final = (
    "default-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self' ws://{at}"
)
"""The page loads nothing from elsewhere: textual-serve's own asks a font of Google's."""

FOCUS: Final = """\
<script>
const waiting = setInterval(() => {
  const keys = document.querySelector(".xterm-helper-textarea");
  if (keys && document.body.classList.contains("-first-byte")) { clearInterval(waiting); keys.focus(); }
}, 50);
</script>
"""
"""Gives the terminal the keys as soon as it is drawn, which otherwise takes a click."""


class TokenServer(Server):
    """Serves the app to those who know the token: by the address first, then by a cookie."""

    def __init__(self, command: str, title: str, port: int) -> None:
        super().__init__(command, host=HOST, port=port, title=title)
        self.token = secrets.token_urlsafe(24)
        self._cookie = f"inspect_compile_{port}"
        self._at = f"{HOST}:{port}"

    @property
    def address(self) -> str:
        """The address with the token."""
        return f"http://{self._at}/?token={self.token}"

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.middlewares.append(self._guard())
        return app

    def initialize_logging(self) -> None:
        """Errors alone: requests have the token in them."""
        logging.getLogger("textual-serve").setLevel(logging.ERROR)

    async def handle_index(self, request: web.Request) -> web.Response:
        """The page."""
        response = cast("web.Response", await super().handle_index(request))
        response.text = (response.text or "").replace("</body>", f"{FOCUS}</body>")
        return response

    async def on_startup(self, app: web.Application) -> None:
        """Say nothing: the command says where it is."""

    def _guard(self) -> "Middleware":
        @web.middleware
        async def guard(request: web.Request, handler: "Handler") -> web.StreamResponse:
            if not self._is_allowed(request):
                raise web.HTTPForbidden(text="403: open the address that inspect-compile printed, with its token\n")
            response = await handler(request)
            if not response.prepared:
                response.headers["Content-Security-Policy"] = PAGE_POLICY.format(at=self._at)
                response.headers["Referrer-Policy"] = "no-referrer"
                response.headers["Cache-Control"] = "no-store"
                response.set_cookie(self._cookie, self.token, httponly=True, samesite="Strict")
            return response

        return guard

    def _is_allowed(self, request: web.Request) -> bool:
        """True for a request to this address, from no other page, with the token. Another name for 127.0.0.1 would let
        any page on the web ask through the user's browser (DNS rebinding).
        """
        if request.headers.get("Host") != self._at:
            return False
        if request.headers.get("Origin", f"http://{self._at}") != f"http://{self._at}":
            return False
        given = request.query.get("token") or request.cookies.get(self._cookie) or ""
        return hmac.compare_digest(given.encode(), self.token.encode())


def serve(root: Path, port: int, said: Callable[[str], None]) -> None:
    """Serve `open ROOT` until Ctrl-C; `said` gets the address. Port 0 is any that is free. Raises OSError."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        command = shlex.join([sys.executable, "-P", "-m", "inspect_compile", "open", str(root.absolute())])
        server = TokenServer(command, f"inspect-compile open {root}", listening.getsockname()[1])
        server.initialize_logging()
        listening.listen()  # a request may come as soon as the address is known
        with contextlib.suppress(KeyboardInterrupt):  # before the server has taken over the signal
            said(server.address)
            web.run_app(server._make_app(), sock=listening, print=None, access_log=None, handle_signals=True)
