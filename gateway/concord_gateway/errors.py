"""Why the gateway cannot start, or cannot say who calls.

├── IssuerKeyError    the issuer's key file cannot be used
├── NoUpstreamError   a service of the contracts has no address
├── TlsRefused        the settings of TLS contradict each other or name unusable files
└── GovernanceSilent  governance does not say whom a key stands for; never leaves the gateway
"""


class IssuerKeyError(Exception):
    """The issuer's key file cannot be used; the text says what to do."""


class NoUpstreamError(Exception):
    """A service of the contracts has no address; the text names it."""


class TlsRefused(Exception):
    """The settings of TLS cannot be used; the text says which, why and what to set."""


class GovernanceSilent(Exception):
    """Governance does not say whom a key stands for."""
