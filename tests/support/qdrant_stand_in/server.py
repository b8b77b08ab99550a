"""The server: who may call, how a refusal is told, and one call at a time."""

import hmac
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import yaml
from qdrant_client import grpc as wire

from tests.support.qdrant_stand_in.refusal import Refusal, of_engine, unimplemented
from tests.support.qdrant_stand_in.servicers import Collections, Points, Qdrant
from tests.support.qdrant_stand_in.storage import Storage

KEY = "QDRANT_API_KEY"
_LARGEST = 64 << 20
"""Bytes of a message, more than any that Concord sends."""

Behaviour = Callable[[Any, grpc.ServicerContext], Any]
_wire: Any = wire  # what registers servicers has no types


class Guard(grpc.ServerInterceptor):
    """Demands the key, if there is one, of every call, and tells refusals."""

    def __init__(self, key: str) -> None:
        self._key = key

    def intercept_service(self, continuation: Any, details: Any) -> Any:
        """A call's handler within the guard; None for a service that is not there."""
        handler = continuation(details)
        if handler is None:
            return None
        presented = dict(details.invocation_metadata).get("api-key", "")
        allowed = not self._key or hmac.compare_digest(presented.encode(), self._key.encode())
        name = details.method.strip("/").replace("/", ".")
        return grpc.unary_unary_rpc_method_handler(
            _told(handler.unary_unary, name) if allowed else _closed,
            request_deserializer=handler.request_deserializer,
            response_serializer=handler.response_serializer,
        )


def _told(behaviour: Behaviour, name: str) -> Behaviour:
    def answer(request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return behaviour(request, context)
        except Refusal as error:
            refusal = error
        except NotImplementedError:
            refusal = unimplemented(name)
        except Exception as error:  # noqa: BLE001 - the engine raises nothing narrower
            refusal = of_engine(error)
        return context.abort(refusal.code, refusal.text)

    return answer


def _closed(_: Any, context: grpc.ServicerContext) -> Any:
    return context.abort(grpc.StatusCode.UNAUTHENTICATED, "Must provide a valid API key")


def key_of(folder: Path, environ: Mapping[str, str]) -> str:
    """The key to demand: QDRANT_API_KEY, else that of a server's file of settings; "" for none."""
    if key := environ.get(KEY, ""):
        return key
    settings = folder / "config" / "local.yaml"
    if not settings.exists():
        return ""
    told = yaml.safe_load(settings.read_text("utf-8"))
    return str(told["service"]["api_key"])


def start(folder: Path, address: str) -> grpc.Server:
    """A server over a folder's `storage`, at an address; it serves."""
    # One worker: the engine's Python binding holds the global lock through every call.
    server = grpc.server(
        ThreadPoolExecutor(max_workers=1),
        interceptors=[Guard(key_of(folder, os.environ))],
        options=[("grpc.max_receive_message_length", _LARGEST), ("grpc.so_reuseport", 0)],
    )
    storage = Storage(folder / "storage")
    _wire.add_QdrantServicer_to_server(Qdrant(), server)
    _wire.add_CollectionsServicer_to_server(Collections(storage), server)
    _wire.add_PointsServicer_to_server(Points(storage), server)
    server.add_insecure_port(address)
    server.start()
    return server
