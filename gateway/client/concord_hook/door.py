"""One call after another through Concord's HTTP door, as JSON.

It speaks HTTP/1.0 over a socket: a reply then ends where the connection ends, and is never in
chunks. `http.client` alone takes 25 ms to import, of the 150 that a hook may take.
"""

import json
import socket
import time
from collections.abc import Mapping

from concord_hook.target import Target

MOST_BYTES = 4 << 20
"""Of a reply."""
_PART = 64 << 10


class DoorError(Exception):
    """A call failed; the text is the status and Concord's code, without any content."""


class Door:
    """Calls with a key, until a time of `time.monotonic`."""

    def __init__(self, target: Target, until: float) -> None:
        """`until`: when the last reply must be there."""
        scheme, _, rest = target.url.partition("://")
        authority = rest.split("/", 1)[0]
        if scheme not in ("http", "https") or not authority:
            raise DoorError("the address is none of HTTP")
        host, colon, port = authority.rpartition(":")
        if not colon or not port.isdecimal():
            host, port = authority, "443" if scheme == "https" else "80"
        self._host, self._port = host.strip("[]"), int(port)
        self._authority, self._is_tls, self._target = authority, scheme == "https", target
        self._until = until

    def call(self, method: str, request: object) -> dict[str, object]:
        """The reply of a unary method such as `concord.search.v1.SearchService/Search`.

        Raises `DoorError` for an error's status, OSError, and ValueError for what is no JSON.
        """
        body = json.dumps(request, ensure_ascii=False).encode()
        head = (
            f"POST /{method} HTTP/1.0\r\nHost: {self._authority}\r\n"
            f"Authorization: Bearer {self._target.key}\r\nContent-Type: application/json\r\n"
            f"Connect-Timeout-Ms: {max(int(self._left() * 1000), 1)}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        raw = self._exchange(head.encode("latin-1") + body)
        top, _, content = raw.partition(b"\r\n\r\n")
        status = top.split(b" ", 2)[1:2]
        reply = json.loads(content) if status == [b"200"] else None
        if isinstance(reply, dict):
            return reply
        raise DoorError(f"status {status[0].decode('latin-1') if status else '?'} {_code(content)}")

    def _left(self) -> float:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time is over")
        return left

    def _exchange(self, sent: bytes) -> bytes:
        address = (self._host, self._port)
        with socket.create_connection(address, timeout=self._left()) as plain:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._secured(plain) as line:
                line.sendall(sent)
                parts: list[bytes] = []
                size = 0
                while size <= MOST_BYTES:
                    line.settimeout(self._left())
                    part = line.recv(_PART)
                    if not part:
                        return b"".join(parts)
                    parts.append(part)
                    size += len(part)
        raise DoorError("the reply is too large")

    def _secured(self, plain: socket.socket) -> socket.socket:
        if not self._is_tls:
            return plain
        import ssl

        ca, cert, key = self._target.certificates
        context = ssl.create_default_context(cafile=ca or None)
        if cert:
            context.load_cert_chain(cert, key or None)
        return context.wrap_socket(plain, server_hostname=self._host)


def items(reply: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    """The objects in a list of a reply; none where it has no such list."""
    found = reply.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _code(content: bytes) -> str:
    """Concord's code in an error's body, such as "unauthenticated"."""
    try:
        found = json.loads(content)
        code = found["code"] if isinstance(found, dict) else ""
    except (ValueError, KeyError):
        return ""
    return code[:40] if isinstance(code, str) and code.replace("_", "").isalpha() else ""
