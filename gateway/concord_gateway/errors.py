"""Errors of the gateway's start, and of asking governance about keys.

├── IssuerKeyError    the issuer's key file cannot be used
├── NoUpstreamError   a service of the contracts has no address
├── PortInUse         another program listens on an address of the gateway
├── TlsRefused        the settings of TLS contradict each other or name unusable files
└── GovernanceSilent  governance does not answer whose a key is; never leaves the gateway
"""

from concord_chassis.server.server import BindError


class IssuerKeyError(Exception):
    """The issuer's key file cannot be used; the text says what to do."""


class NoUpstreamError(Exception):
    """A service of the contracts has no address; the text names it."""


class PortInUse(BindError):
    """Another program listens on the address already; the text says what to do."""


class TlsRefused(Exception):
    """The settings of TLS cannot be used; the text says which, why and what to set."""


class GovernanceSilent(Exception):
    """Governance does not answer whose a key is."""
