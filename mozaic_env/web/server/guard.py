"""The checks in front of every request: its host name, its origin, and what browsers may do with the answer.

A page somewhere else can make a visitor's browser send requests here, and by DNS rebinding even read the answers: its
name then points to this machine. So only names that are known to be this server's are answered, and what carries
another page's origin is not.
"""

import ipaddress
import json
import re
from collections.abc import Iterable
from typing import Any

_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
EVERYWHERE = ("0.0.0.0", "::")  # addresses that stand for all of the machine's

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}

Scope = Any  # as ASGI has them
Receive = Any
Send = Any


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: Any, bound: str, names: Iterable[str] = ()) -> None:
        """Guards an application.

        Args:
            app: what answers requests that pass.
            bound: the address or name that the server listens at. One that stands for all addresses lets requests
                pass that name any address; a name cannot be rebound to by an address.
            names: more host names that are this server's.
        """
        self._app = app
        self._any_address = bound in EVERYWHERE
        self._names = {name.lower() for name in (*LOOPBACK, bound, *names)} - set(EVERYWHERE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection, as ASGI has it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # nothing here speaks anything else
        refusal = self._refusal(scope["headers"])

        async def send_guarded(event: Any) -> None:
            if event["type"] == "http.response.start":
                given = {name.lower() for name, _ in event.get("headers", ())}
                more = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                event = event | {"headers": [*event.get("headers", ()), *(h for h in more if h[0] not in given)]}
            await send(event)

        if refusal is None:
            await self._app(scope, receive, send_guarded)
        else:
            await _refuse(send_guarded, *refusal)

    def _refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        hosts = [value for name, value in headers if name == b"host"]
        host = hosts[0].decode("latin-1") if len(hosts) == 1 else ""
        if not self._is_ours(host):
            return 421, "this server does not answer to that host name; see --allow-host"
        ours = {f"{scheme}://{host}".lower() for scheme in ("http", "https")}
        for name, value in headers:
            if name == b"origin" and value.decode("latin-1").lower() not in ours:
                return 403, "this server answers its own pages alone"
        return None

    def _is_ours(self, host: str) -> bool:
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        name = match[1].strip("[]").lower()
        if name in self._names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return self._any_address


async def _refuse(send: Send, status: int, why: str) -> None:
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"error": why}).encode()})
