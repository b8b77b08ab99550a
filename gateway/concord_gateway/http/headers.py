"""Translates HTTP headers into a call's metadata, timeout and encoding, and metadata back."""

import base64
import binascii
import re
import zlib
from collections.abc import Iterable

import grpc
from concord_chassis.call.failure import Failure, FieldViolation

from concord_gateway.upstream_failure import method_unknown, too_large

MAX_METADATA_BYTES = 4096
"""Limit for a caller's own headers. gRPC peers accept 8 KiB, which the token shares."""

ENCODINGS = ("identity", "gzip")
TIMEOUT_HEADER = "connect-timeout-ms"
VERSION_HEADER = "connect-protocol-version"

_TIMEOUT = re.compile(r"[0-9]{1,10}")
_NAME = re.compile(r"[0-9a-z_.-]+")
_PRINTABLE = re.compile(r"[\x20-\x7e]*")
_BINARY_SUFFIX = "-bin"

# Headers meant for HTTP servers and caches, not for a service.
_NOT_METADATA = frozenset(
    [
        "accept",
        "accept-charset",
        "accept-encoding",
        "accept-language",
        "authorization",
        "cache-control",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "cookie",
        "date",
        "dnt",
        "expect",
        "forwarded",
        "from",
        "host",
        "if-match",
        "if-modified-since",
        "if-none-match",
        "if-range",
        "if-unmodified-since",
        "keep-alive",
        "max-forwards",
        "origin",
        "pragma",
        "priority",
        "range",
        "referer",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "upgrade-insecure-requests",
        "user-agent",
        "via",
    ]
)
_NOT_METADATA_PREFIXES = ("access-control-", "connect-", "grpc-", "proxy-", "sec-", "x-forwarded-")
_NOT_REPLIED_PREFIXES = ("grpc-", "connect-")
_NOT_REPLIED = frozenset(["content-type", "content-length", "content-encoding", "set-cookie"])


def metadata(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str | bytes]]:
    """The headers that a service should see, as gRPC metadata with lower-case names.

    Raises `Failure` if they exceed `MAX_METADATA_BYTES`, or if a `-bin` header is not base64.
    """
    kept: list[tuple[str, str | bytes]] = []
    for name, value in headers:
        if name in _NOT_METADATA or name.startswith(_NOT_METADATA_PREFIXES):
            continue
        if not _NAME.fullmatch(name) or not _PRINTABLE.fullmatch(value):
            continue  # HTTP allows what gRPC cannot carry
        kept.append((name, _decoded(name, value) if name.endswith(_BINARY_SUFFIX) else value))
    if sum(len(name) + len(value) for name, value in kept) > MAX_METADATA_BYTES:
        raise Failure(
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            "ERROR_REASON_MESSAGE_TOO_LARGE",
            f"The headers may have at most {MAX_METADATA_BYTES} bytes.",
        )
    return kept


def reply_headers(
    metadata: Iterable[tuple[str, str | bytes]], prefix: str = ""
) -> list[tuple[str, str]]:
    """Metadata as response headers; trailing metadata takes the prefix "trailer-"."""
    return [
        (prefix + key, _encoded(value))
        for key, value in metadata
        if not key.startswith(_NOT_REPLIED_PREFIXES) and key not in _NOT_REPLIED
    ]


def accepts(value: str | None, media: str) -> bool:
    """Whether an `Accept` names this media type itself."""
    return media in {media_type(each) for each in (value or "").split(",")}


def timeout(value: str | None, default: float) -> float:
    """Seconds from `Connect-Timeout-Ms`; `default` without it. Raises `Failure`."""
    if value is None:
        return default
    if not _TIMEOUT.fullmatch(value) or int(value) == 0:
        raise invalid(TIMEOUT_HEADER, "must be a positive number of milliseconds, up to 10 digits")
    return int(value) / 1000


def check_version(value: str | None) -> None:
    """Raises `Failure` for a version of the Connect protocol that is not 1."""
    if value not in (None, "1"):
        raise invalid(VERSION_HEADER, 'must be "1"')


def check_encoding(value: str | None) -> None:
    """Raises `Failure` for a content encoding that the gateway cannot decode."""
    if value is not None and value.lower() not in ENCODINGS:
        raise method_unknown(f"Supported content encodings: {', '.join(ENCODINGS)}.")


def decompressed(body: bytes, encoding: str | None, limit: int) -> bytes:
    """The body without its encoding; an empty body stays empty.

    Raises `Failure`: MESSAGE_TOO_LARGE if the result exceeds `limit` bytes; decompression stops
    there.
    """
    if encoding is None or encoding.lower() != "gzip" or not body:
        return body
    undo = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        plain = undo.decompress(body, limit + 1)
    except zlib.error:
        raise invalid("", "is not gzip") from None
    if len(plain) > limit:
        raise too_large(limit)
    if not undo.eof or undo.unused_data:
        raise invalid("", "is not one whole gzip stream")
    return plain


def media_type(value: str | None) -> str:
    """The lower-case media type of a `Content-Type`; "" for another charset than UTF-8."""
    kind, *parameters = (value or "").split(";")
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset" and value.strip(' "').lower() not in ("utf-8", "utf8"):
            return ""
    return kind.strip().lower()


def invalid(field: str, description: str) -> Failure:
    """The failure of a header, a field of the body, or the body if `field` is ""."""
    return Failure(
        grpc.StatusCode.INVALID_ARGUMENT,
        "ERROR_REASON_FIELD_INVALID",
        f"{field or 'The body'} {description}.",
        violations=[FieldViolation(field, description)],
    )


def _decoded(name: str, value: str) -> bytes:
    try:
        return base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except binascii.Error:
        raise invalid(name, "must be base64") from None


def _encoded(value: str | bytes) -> str:
    return value if isinstance(value, str) else base64.b64encode(value).rstrip(b"=").decode()
