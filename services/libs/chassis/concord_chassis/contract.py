"""What the chassis refuses to start with: a contract that does not say enough, or contradicts."""


class ContractError(Exception):
    """A contract, or the servicer written for it, is incomplete; the message names where."""
