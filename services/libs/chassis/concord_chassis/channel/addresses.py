"""The address of a service, or the addresses of its replicas, to which calls go in turn."""

import re
from ipaddress import ip_address
from typing import Annotated

from pydantic import AfterValidator

REPLICA_SEPARATOR = "|"
"""Separates the addresses of replicas in one setting."""

_IP_AND_PORT = re.compile(r"[0-9.]+:[0-9]{1,5}")


def valid_addresses(addresses: str) -> str:
    """Returns `addresses` unchanged.

    Raises `ValueError` for several addresses if one is not IPv4 with a port: gRPC takes no others.
    """
    each = addresses.split(REPLICA_SEPARATOR)
    if len(each) > 1 and not all(map(_IP_AND_PORT.fullmatch, each)):
        raise ValueError("replicas are IPv4 addresses with ports")
    return addresses


ServiceAddress = Annotated[str, AfterValidator(valid_addresses)]
"""A setting: `unix:/path`, `host:port`, or several IPv4 addresses with ports, separated by `|`."""


def target(addresses: str) -> str:
    """Returns the gRPC target of a `ServiceAddress`: `ipv4:A,B` for several addresses."""
    if REPLICA_SEPARATOR not in addresses:
        return addresses
    return f"ipv4:{addresses.replace(REPLICA_SEPARATOR, ',')}"


def is_loopback(host: str) -> bool:
    """Returns whether a host name or address is this machine's own, which no other can reach."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


ROUND_ROBIN = ("grpc.lb_policy_name", "round_robin")
"""The channel option that sends calls in turn to all addresses of a list, or of a DNS name."""
