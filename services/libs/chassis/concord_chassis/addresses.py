"""Addresses of a service: one, or those of its replicas, which calls go to in turn."""

import re
from typing import Annotated

from pydantic import AfterValidator

REPLICAS = "|"
"""Parts the addresses of replicas in one setting."""

_IP_AND_PORT = re.compile(r"[0-9.]+:[0-9]{1,5}")


def replicated(addresses: str) -> str:
    """The addresses as they are. Raises `ValueError` for several that gRPC could not take."""
    each = addresses.split(REPLICAS)
    if len(each) > 1 and not all(map(_IP_AND_PORT.fullmatch, each)):
        raise ValueError("replicas are IPv4 addresses with ports")
    return addresses


ServiceAddress = Annotated[str, AfterValidator(replicated)]
"""A setting: `unix:/path`, `host:port`, or several IPv4 addresses with ports, parted by `|`."""


def target(addresses: str) -> str:
    """What gRPC calls that."""
    return f"ipv4:{addresses.replace(REPLICAS, ',')}" if REPLICAS in addresses else addresses


IN_TURN = ("grpc.lb_policy_name", "round_robin")
"""A channel's option: calls go in turn to all addresses of a list, or of a DNS name."""
