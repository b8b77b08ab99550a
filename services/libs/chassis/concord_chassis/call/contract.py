"""The error for a contract with which no server can start."""


class ContractError(Exception):
    """A contract is incomplete or contradicts itself, or a servicer does not fit it.

    The message names the service, method or field.
    """
