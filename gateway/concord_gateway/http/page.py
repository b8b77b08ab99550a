"""The page: the files of `concord_gateway/page`, read once, under a strict content policy.

The page is a client like any other: it calls the same methods as the CLI, with a session's key.
"""

import gzip
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources
from importlib.resources.abc import Traversable
from types import MappingProxyType

from concord.rules.v1 import rules_pb2
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as HttpRoute

from concord_gateway.routes import Route

FOLDER = "page"
PREFIX = f"/{FOLDER}/"
TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
"""By ending, the files that are served; licences and the lock file are not."""

POLICY = "; ".join(
    (
        "default-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "object-src 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types lit-html",
    )
)
"""No inline script or style, nothing from elsewhere, and no text becomes markup but lit's own
templates, which hold none of what is stored."""

HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cache-control": "no-cache",  # asked again each time, answered by the etag
    "vary": "accept-encoding",
}


@dataclass(frozen=True)
class File:
    """What one path is answered with, also packed, and its version."""

    media_type: str
    plain: bytes
    packed: bytes
    etag: str


def http_routes(routes: Iterable[Route]) -> list[HttpRoute]:
    """`GET /` with the page, and its parts below `/page/`; `routes` are the methods it calls."""
    files = dict(_files(resources.files("concord_gateway") / FOLDER, PREFIX))
    files["/"] = files[f"{PREFIX}index.html"]
    files[f"{PREFIX}permissions.js"] = file_of(_permissions(routes), TYPES["js"])

    async def answer(request: Request) -> Response:
        return response(files[request.url.path], request)

    return [HttpRoute(path, answer, methods=["GET"]) for path in files]


def _permissions(routes: Iterable[Route]) -> bytes:
    """A module with the permission that each method needs, so that the page offers no other."""
    needed = {
        route.path[1:].removeprefix("concord.").replace(".v1.", ".", 1): route.method.GetOptions()
        .Extensions[rules_pb2.method]
        .permission
        for route in routes
    }
    return f"export default {json.dumps(needed, separators=(',', ':'))};\n".encode()


def _files(folder: Traversable, at: str) -> list[tuple[str, File]]:
    found: list[tuple[str, File]] = []
    for each in folder.iterdir():
        if each.is_dir():
            found.extend(_files(each, f"{at}{each.name}/"))
        elif (ending := each.name.rpartition(".")[2]) in TYPES:
            found.append((at + each.name, file_of(each.read_bytes(), TYPES[ending])))
    return found


def file_of(plain: bytes, media_type: str) -> File:
    """The file of some bytes."""
    etag = f'"{sha256(plain).hexdigest()[:32]}"'
    return File(media_type, plain, gzip.compress(plain, 9, mtime=0), etag)


def response(
    file: File, request: Request, more: Mapping[str, str] = MappingProxyType({})
) -> Response:
    """The answer with a file, or that it did not change. `more` replaces headers of the page."""
    headers = {**HEADERS, **more, "etag": file.etag}
    if request.headers.get("if-none-match") == file.etag:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["content-encoding"] = "gzip"
        return Response(file.packed, headers=headers, media_type=file.media_type)
    return Response(file.plain, headers=headers, media_type=file.media_type)
